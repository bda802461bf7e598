-- What the worker needs: reminders, the health of endpoints, notices to a workspace's owners, deliveries that
-- are sent again, and indexes by which due work is claimed fairly.

alter table workspaces
  -- A reminder goes out when this share of the time is left; null is none.
  add column reminder_percent integer default 10 check (reminder_percent between 1 and 50);

alter table approvals
  -- When the reviewers are reminded; null once they were, or when they never will be.
  add column remind_at timestamptz(3);

create index approvals_reminding on approvals (remind_at)
  where status = 'PENDING' and remind_at is not null;

alter table endpoints
  -- The first failed attempt since the last that succeeded, and when the owners were warned about it.
  add column failing_since timestamptz(3),
  add column warned_at timestamptz(3),
  add constraint endpoints_warned_of_failing check (warned_at is null or failing_since is not null);

-- An event is a fact about an approval, about an endpoint, or about a mail that never reached its reviewer.
alter table events
  alter column approval_id drop not null,
  add column endpoint_id text collate "C",
  add column reviewer_id text collate "C",
  -- Facts of the moment that a notice tells and that may have changed by the time it is sent.
  add column detail jsonb,
  drop constraint events_kind_check,
  drop constraint events_once_per_approval,
  add foreign key (workspace_id, endpoint_id) references endpoints (workspace_id, id),
  add foreign key (workspace_id, reviewer_id) references reviewers (workspace_id, id),
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
      else false
    end
  );

-- One event of each kind per approval, however many race to emit it; one per reviewer where it is about them.
create unique index events_once_per_approval
  on events (approval_id, kind, coalesce(reviewer_id, ''), workspace_id)
  where approval_id is not null;

create index events_mail_failed on events (workspace_id, created_at) where kind = 'mail.failed';

alter table deliveries
  -- The mailbox of an owner, for a notice.
  add column recipient text,
  -- Each time somebody asks to send it again a new round begins, with its own retries.
  add column round integer not null default 1 check (round >= 1),
  add column attempts_before integer not null default 0 check (attempts_before >= 0),
  drop constraint deliveries_one_destination,
  add constraint deliveries_one_destination check (num_nonnulls(endpoint_id, reviewer_id, recipient) = 1);

drop index deliveries_destination_key;
create unique index deliveries_destination_key
  on deliveries (event_id, coalesce(endpoint_id, reviewer_id, recipient), workspace_id);
-- By id too: rows that became due in the same millisecond keep one order while they are claimed and changed.
drop index deliveries_due_to_endpoint;
create index deliveries_due_to_endpoint on deliveries (endpoint_id, due_at, id)
  where state = 'due' and endpoint_id is not null;
drop index deliveries_due_to_reviewer;
create index deliveries_due_to_mailbox on deliveries (workspace_id, due_at, id)
  where state = 'due' and endpoint_id is null;
create index deliveries_unsuccessful on deliveries (workspace_id, id) where state in ('failed', 'skipped');

alter table attempts
  add column duration_ms integer check (duration_ms >= 0);

-- A claim and the end of an attempt rewrite rows that were just written: with room on the page that stays cheap.
alter table deliveries set (fillfactor = 70);
alter table attempts set (fillfactor = 70);

-- Only primary keys begin with the workspace. To the planner all indexes of an almost empty table look alike, and it
-- keeps its plan as the table grows: a row looked up by its key through another index that begins with the workspace
-- would be searched among all rows of the workspace.
drop index approvals_status;
create index approvals_status on approvals (status, workspace_id, id);
drop index reviewers_email_key;
create unique index reviewers_email_key on reviewers (approval_id, lower(email), workspace_id);
