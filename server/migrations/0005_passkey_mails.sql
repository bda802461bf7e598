-- Whoever gets or loses a passkey hears of it by mail, so that a passkey which somebody else added does not stay unseen.

alter table events
  drop constraint events_subject_of_kind,
  add constraint events_subject_of_kind check (
    case
      when kind in (
        'request.created', 'request.approved', 'request.rejected', 'request.expired', 'request.cancelled',
        'request.expiring'
      ) then approval_id is not null and endpoint_id is null and reviewer_id is null
      when kind in ('webhook.test', 'endpoint.failing', 'endpoint.disabled')
        then approval_id is null and endpoint_id is not null and reviewer_id is null
      when kind = 'mail.failed'
        then approval_id is not null and endpoint_id is null and reviewer_id is not null
      when kind in ('person.signing_in', 'person.passkey_added', 'person.passkey_removed', 'member.invited')
        then approval_id is null and endpoint_id is null and reviewer_id is null and detail is not null
      else false
    end
  );
