-- Owners hear of the first delivery that is given up, and the dashboard asks in one statement what needs attention.

alter table endpoints
  -- The owners know that deliveries to it are given up. The next success ends that.
  add column is_told boolean not null default false,
  -- When they were last mailed about it: one that fails now and then must not fill their mailboxes.
  add column told_at timestamptz(3),
  -- The service disabled it, not a person.
  add column is_given_up boolean not null default false;

update endpoints set is_given_up = true
where disabled_at is not null
  and (disabled_reason = 'it answered 410 Gone' or disabled_reason like 'every attempt failed for % days, %');

alter table events
  drop constraint events_subject_of_kind,
  add constraint events_subject_of_kind check (
    case
      when kind in (
        'request.created', 'request.approved', 'request.rejected', 'request.expired', 'request.cancelled',
        'request.expiring'
      ) then approval_id is not null and endpoint_id is null and reviewer_id is null
      when kind in ('webhook.test', 'endpoint.delivery_failed', 'endpoint.failing', 'endpoint.disabled')
        then approval_id is null and endpoint_id is not null and reviewer_id is null
      when kind = 'mail.failed'
        then approval_id is not null and endpoint_id is null and reviewer_id is not null
      when kind in ('person.signing_in', 'person.passkey_added', 'person.passkey_removed', 'member.invited')
        then approval_id is null and endpoint_id is null and reviewer_id is null and detail is not null
      else false
    end
  );

-- Holds failed mails only, so a workspace with very many failed webhooks finds its mails as fast.
create index deliveries_failed_mails on deliveries (workspace_id, id)
  where state = 'failed' and channel = 'mail' and reviewer_id is not null;
