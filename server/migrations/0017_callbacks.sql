-- A request may name an address for its own outcome, its callback (decision 39). It is one more channel. The checks aren't
-- validated: rows from before satisfy them, because they satisfied stricter ones, and a scan would hold everybody up.

-- Null for most. A host that is too long for an index would stop the decision, so PostgreSQL refuses it at the create.
alter table approvals
  add column callback_url text,
  add constraint approvals_callback_has_host
    check (callback_url ~ '^https?://' and octet_length(split_part(callback_url, '/', 3)) between 1 and 261) not valid;

-- The recipient of a callback is its host, with the port. The address itself stays with the request: it may be a secret.
alter table deliveries
  drop constraint deliveries_channel_has_destination,
  add constraint deliveries_channel_has_destination check (
    case channel
      when 'webhook' then endpoint_id is not null and reviewer_id is null and recipient is null
      when 'mail' then endpoint_id is null and num_nonnulls(reviewer_id, recipient) = 1
      when 'callback' then endpoint_id is null and reviewer_id is null and recipient is not null
      else false
    end
  ) not valid;

-- Callbacks wait in a lane for each host and workspace: a slow host holds up nobody but itself.
create index deliveries_due_to_host on deliveries (recipient collate "C", workspace_id, due_at, id)
  where state = 'due' and channel = 'callback';

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
      when kind = 'callback.failed'
        then approval_id is not null and endpoint_id is null and reviewer_id is null and detail is not null
      when kind in ('person.signing_in', 'person.passkey_added', 'person.passkey_removed', 'member.invited')
        then approval_id is null and endpoint_id is null and reviewer_id is null and detail is not null
      else false
    end
  ) not valid;

-- The secrets that sign a workspace's callbacks. One has no end; older ones sign beside it until theirs.
create table callback_secrets (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null default new_id('sec_'),
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamptz(3) not null default now_ms(),
  expires_at timestamptz(3),
  primary key (workspace_id, id)
);

create unique index callback_secrets_current on callback_secrets (workspace_id) where expires_at is null;

-- When the owners were last told that callbacks to a host are given up.
create table callback_notices (
  workspace_id text collate "C" not null references workspaces (id),
  host text collate "C" not null,
  told_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, host)
);
