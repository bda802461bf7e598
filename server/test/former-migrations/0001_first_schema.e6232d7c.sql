-- The first schema: workspaces and their people, keys, endpoints and groups; approvals with the events and
-- deliveries that follow from them. workspace_id leads every key, so no row can point across workspaces.

-- Ids sort by the database's time of creation: a prefix, 12 hex digits of milliseconds, 20 random ones.
-- now() is the transaction's time, so the id of a row and its created_at tell the same millisecond.
create function new_id(prefix text) returns text
language sql volatile
return prefix
  || lpad(to_hex(floor(extract(epoch from now()) * 1000)::bigint), 12, '0')
  || right(replace(gen_random_uuid()::text, '-', ''), 20);

create function now_ms() returns timestamptz
language sql stable
return date_trunc('milliseconds', now());

create table plans (
  name text primary key,
  -- Requests a month; null is no limit.
  included integer check (included >= 0),
  -- With overage, requests beyond the included ones succeed up to the cap.
  has_overage boolean not null,
  cap integer check (cap >= 0),
  has_groups boolean not null
);

insert into plans (name, included, has_overage, cap, has_groups) values
  ('hobby', 100, false, null, false),
  ('pro', 2000, true, 20000, true),
  ('scale', 20000, true, 200000, true),
  ('unlimited', null, true, null, true);

create table workspaces (
  id text collate "C" primary key default new_id('ws_'),
  name text not null check (name <> ''),
  plan text not null default 'unlimited' references plans (name),
  -- A workspace may carry its own numbers in place of its plan's.
  included integer check (included >= 0),
  cap integer check (cap >= 0),
  expiry_minutes integer not null default 1440 check (expiry_minutes between 5 and 10080),
  created_at timestamptz(3) not null default now_ms()
);

create table members (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null default new_id('mem_'),
  email text not null,
  role text not null check (role in ('owner', 'admin', 'viewer')),
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, id)
);

create unique index members_email_key on members (workspace_id, lower(email));

create table api_keys (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null default new_id('key_'),
  name text not null check (name <> ''),
  digest bytea not null check (octet_length(digest) = 32),
  last_four text not null,
  created_at timestamptz(3) not null default now_ms(),
  revoked_at timestamptz(3),
  primary key (workspace_id, id)
);

-- A call carries a key and nothing else, so this one lookup cannot begin with the workspace.
create unique index api_keys_digest_key on api_keys (digest);

create table groups (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null default new_id('grp_'),
  key text collate "C" not null check (key ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  name text not null check (name <> ''),
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, id),
  constraint groups_key_key unique (workspace_id, key)
);

create table group_members (
  workspace_id text collate "C" not null,
  group_id text collate "C" not null,
  email text not null,
  created_at timestamptz(3) not null default now_ms(),
  foreign key (workspace_id, group_id) references groups (workspace_id, id)
);

create unique index group_members_key on group_members (workspace_id, group_id, lower(email));

create table endpoints (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null default new_id('we_'),
  url text not null,
  -- Null is every kind.
  event_kinds text[] check (cardinality(event_kinds) > 0),
  created_at timestamptz(3) not null default now_ms(),
  disabled_at timestamptz(3),
  disabled_reason text,
  primary key (workspace_id, id),
  constraint endpoints_disabled_with_reason check ((disabled_at is null) = (disabled_reason is null))
);

-- Several secrets are alive while one is being rotated; each is sealed under SECRET_KEY.
create table endpoint_secrets (
  workspace_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null default new_id('sec_'),
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamptz(3) not null default now_ms(),
  expires_at timestamptz(3),
  primary key (workspace_id, endpoint_id, id),
  foreign key (workspace_id, endpoint_id) references endpoints (workspace_id, id)
);

create table monthly_usage (
  workspace_id text collate "C" not null references workspaces (id),
  month date not null check (extract(day from month) = 1),
  requests integer not null check (requests >= 0),
  -- What the latest create statement asked against and was given: how it learns which of its rows may go on.
  monthly_limit integer,
  granted integer not null,
  primary key (workspace_id, month)
) with (fillfactor = 50);

create table approvals (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null,
  status text not null default 'PENDING'
    check (status in ('PENDING', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELLED')),
  summary text not null,
  -- JSON texts exactly as they were sent. Never json or jsonb: those refuse, round or reorder.
  payload text,
  metadata text,
  agent_state text,
  edit text,
  reasoning text,
  recent_actions text not null default '[]',
  agent_name text,
  approver_email text,
  group_id text collate "C",
  -- The group as it was named when the approval was created.
  group_key text,
  group_name text,
  idempotency_key text collate "C",
  body_digest bytea,
  created_at timestamptz(3) not null default now_ms(),
  expires_at timestamptz(3) not null,
  resolved_at timestamptz(3),
  resolved_by_email text,
  resolution_note text,
  primary key (workspace_id, id),
  foreign key (workspace_id, group_id) references groups (workspace_id, id),
  constraint approvals_one_approver check (
    num_nonnulls(approver_email, group_id) = 1
    and num_nonnulls(group_id, group_key, group_name) in (0, 3)
  ),
  constraint approvals_key_with_digest check ((idempotency_key is null) = (body_digest is null)),
  constraint approvals_final_has_time check ((status = 'PENDING') = (resolved_at is null)),
  constraint approvals_person_decides check (
    (status in ('APPROVED', 'REJECTED')) = (resolved_by_email is not null)
  ),
  constraint approvals_note_of_decision check (
    resolution_note is null or status in ('APPROVED', 'REJECTED')
  ),
  constraint approvals_edit_of_approval check (edit is null or status = 'APPROVED'),
  constraint approvals_expire_on_time check (status <> 'EXPIRED' or resolved_at = expires_at)
);

-- Compression with pglz is slower than the disk for large values; the service reads and writes them whole.
alter table approvals
  alter column payload set storage external,
  alter column metadata set storage external,
  alter column agent_state set storage external,
  alter column edit set storage external;

create unique index approvals_idempotency_key on approvals (workspace_id, idempotency_key)
  where idempotency_key is not null;
create index approvals_pending on approvals (workspace_id, id) where status = 'PENDING';
create index approvals_expiring on approvals (expires_at) where status = 'PENDING';

create function refuse_change_of_final_approval() returns trigger
language plpgsql as $$
begin
  raise exception 'approval % is final (%): nothing about it may change', old.id, old.status
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger approvals_final_is_final before update on approvals
  for each row when (old.status <> 'PENDING')
  execute function refuse_change_of_final_approval();

-- Those who may decide one approval, each with a link of their own. The token itself is stored nowhere.
create table reviewers (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('rev_'),
  approval_id text collate "C" not null,
  email text not null,
  secret_key_id text not null,
  token_nonce bytea not null,
  token_digest bytea not null check (octet_length(token_digest) = 32),
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, id),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id)
);

create unique index reviewers_email_key on reviewers (workspace_id, approval_id, lower(email));
-- A link carries a token and nothing else.
create unique index reviewers_token_digest_key on reviewers (token_digest);

create table events (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('evt_'),
  approval_id text collate "C" not null,
  kind text not null check (kind in (
    'request.created', 'request.approved', 'request.rejected', 'request.expired', 'request.cancelled'
  )),
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, id),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id),
  constraint events_once_per_approval unique (workspace_id, approval_id, kind)
);

-- One event on its way to one destination: a webhook endpoint or a reviewer's mailbox. The row is the job.
create table deliveries (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('dlv_'),
  event_id text collate "C" not null,
  endpoint_id text collate "C",
  reviewer_id text collate "C",
  state text not null default 'due' check (state in ('due', 'delivered', 'failed', 'skipped')),
  due_at timestamptz(3) not null default now_ms(),
  attempts integer not null default 0 check (attempts >= 0),
  -- Who works on it and until when; a lease that ran out may be taken by another, with a new token.
  lease_token uuid,
  leased_until timestamptz(3),
  created_at timestamptz(3) not null default now_ms(),
  finished_at timestamptz(3),
  primary key (workspace_id, id),
  foreign key (workspace_id, event_id) references events (workspace_id, id),
  foreign key (workspace_id, endpoint_id) references endpoints (workspace_id, id),
  foreign key (workspace_id, reviewer_id) references reviewers (workspace_id, id),
  constraint deliveries_one_destination check (num_nonnulls(endpoint_id, reviewer_id) = 1),
  constraint deliveries_lease_whole check ((lease_token is null) = (leased_until is null)),
  constraint deliveries_finished_has_time check (
    (state in ('delivered', 'failed')) = (finished_at is not null)
  )
);

create unique index deliveries_destination_key
  on deliveries (workspace_id, event_id, coalesce(endpoint_id, reviewer_id));
create index deliveries_due_to_endpoint on deliveries (endpoint_id, due_at)
  where state = 'due' and endpoint_id is not null;
create index deliveries_due_to_reviewer on deliveries (due_at)
  where state = 'due' and reviewer_id is not null;

-- One try of one delivery, written before the socket opens and completed afterwards.
create table attempts (
  workspace_id text collate "C" not null,
  delivery_id text collate "C" not null,
  number integer not null check (number >= 1),
  started_at timestamptz(3) not null default now_ms(),
  finished_at timestamptz(3),
  outcome text,
  http_status integer,
  response_start text,
  primary key (workspace_id, delivery_id, number),
  foreign key (workspace_id, delivery_id) references deliveries (workspace_id, id),
  constraint attempts_outcome_with_end check ((outcome is null) = (finished_at is null))
);
