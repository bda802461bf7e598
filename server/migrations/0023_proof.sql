-- Proof (decisions 54 to 58): evidence of each vote, receipts that executors can check, and a log that nobody can
-- quietly change. A request that uses nothing of it stays as it was.

alter table workspaces
  -- Nobody approves here without a passkey.
  add column requires_signature boolean not null default false,
  -- How long receipts are valid.
  add column receipt_hours integer not null default 24 check (receipt_hours between 1 and 8760),
  -- Requests that ended longer ago are deleted. Null keeps them for ever.
  add column retention_days integer check (retention_days between 30 and 3650);

alter table groups
  add column requires_signature boolean not null default false;

alter table approvals
  -- For whom receipts are; null is the workspace.
  add column audience text[],
  -- As the caller wrote it; null where it wasn't given.
  add column require_signature boolean,
  -- The caller, the workspace or a group of its people asks for it: nobody approves without a passkey.
  add column needs_signature boolean not null default false,
  add constraint approvals_audience_named check (cardinality(audience) between 1 and 5) not valid;

-- What is known about each vote: what the voter was shown, how they proved who they are, and from where. One who decides
-- alone votes on revision 1.
create table evidence (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  revision integer not null,
  voter text not null,
  email text not null,
  for_email text,
  verdict text not null,
  voted_at timestamptz(3) not null,
  -- SHA-256 of the text that stands for everything shown, and that text's version.
  shown_version smallint not null,
  shown_digest bytea not null,
  -- When the page that decided was opened, and how long it was open.
  opened_at timestamptz(3),
  open_ms bigint,
  -- The ways in: mail, code, session, passkey, slack, operator.
  amr text[] not null,
  address text,
  user_agent text,
  -- The page's program: a hash of its bundle.
  page text,
  -- Signed by the person: the passkey, the exact text, and what the authenticator made of it.
  credential_id text collate "C",
  statement text,
  authenticator_data bytea,
  client_data bytea,
  signature bytea,
  primary key (workspace_id, approval_id, revision, voter),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id),
  -- One check instead of six, because PostgreSQL reads each anew in every statement that decides.
  constraint evidence_whole check (
    revision >= 1 and verdict = any ('{approve,reject}') and octet_length(shown_digest) = 32 and open_ms >= 0
    and cardinality(amr) > 0
    and num_nonnulls(credential_id, statement, authenticator_data, client_data, signature) = any ('{0,5}')
  )
);

create function refuse_change_of_evidence() returns trigger
language plpgsql as $$
begin
  raise exception 'the evidence of approval % never changes', old.approval_id using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger evidence_never_changes before update on evidence
  for each row execute function refuse_change_of_evidence();

-- The last line of defence: nothing that needs signatures is approved without one for each vote that counts.
create function refuse_approval_without_signatures() returns trigger
language plpgsql as $$
begin
  if exists (
    select from evidence e
    where e.workspace_id = new.workspace_id and e.approval_id = new.id and e.verdict = 'approve'
      and e.signature is not null and person_of(e.email) = person_of(new.resolved_by_email)
  ) and not exists (
    select from votes v
    join votings g on g.workspace_id = v.workspace_id and g.approval_id = v.approval_id and g.revision = v.revision
    where v.workspace_id = new.workspace_id and v.approval_id = new.id and v.verdict = 'approve'
      and not exists (
        select from evidence e
        where e.workspace_id = v.workspace_id and e.approval_id = v.approval_id and e.revision = v.revision
          and e.voter = v.voter and e.signature is not null
      )
  ) then
    return new;
  end if;
  raise exception 'approval % needs signatures', new.id using errcode = 'integrity_constraint_violation';
end;
$$;

-- At the end of the transaction, because one statement writes the decision and its evidence.
create constraint trigger approvals_signed_where_needed after update on approvals
  deferrable initially deferred
  for each row when (new.needs_signature and old.status = 'PENDING' and new.status = 'APPROVED')
  execute function refuse_approval_without_signatures();

-- The keys with which receipts and checkpoints are signed: one is current, the others were.
create table signing_keys (
  -- The RFC 7638 thumbprint.
  id text collate "C" primary key,
  public_key bytea not null check (octet_length(public_key) = 32),
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamptz(3) not null default now_ms(),
  retired_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint signing_keys_revoked_is_retired check (revoked_at is null or retired_at is not null)
);

create unique index signing_keys_current on signing_keys ((true)) where retired_at is null;

create function refuse_revived_key() returns trigger
language plpgsql as $$
begin
  raise exception 'signing key % was retired or revoked for good', old.id
    using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger signing_keys_stay_retired before update on signing_keys
  for each row when (
    old.retired_at is not null and new.retired_at is distinct from old.retired_at
    or old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at
    or new.id <> old.id or new.public_key <> old.public_key
  )
  execute function refuse_revived_key();

-- Signed once and kept. A second row exists only where the first one's key was revoked.
create table receipts (
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  signing_key_id text collate "C" not null references signing_keys (id),
  jws text not null,
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, approval_id, signing_key_id),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id)
);

-- Facts on their way into the log. Written by triggers, so that no statement can forget them.
create table log_pending (
  workspace_id text collate "C" not null,
  id bigint generated always as identity (cache 32),
  -- The fact is that row of: e events, a activity, r redemptions, o reviewers (opened), c log_entries (of the log
  -- before), k log_checkpoints (for the installation, whose workspace is ''); d is told by its detail alone.
  source "char" not null,
  subject text collate "C" not null,
  detail jsonb,
  primary key (workspace_id, id)
);

create function log_events() returns trigger
language plpgsql as $$
begin
  insert into log_pending (workspace_id, source, subject)
  select workspace_id, 'e', id from added
  where approval_id is not null and kind not in ('mail.failed', 'callback.failed', 'request.expiring', 'request.reminded');
  return null;
end;
$$;

create trigger events_are_logged after insert on events
  referencing new table as added for each statement execute function log_events();

create function log_activity() returns trigger
language plpgsql as $$
begin
  insert into log_pending (workspace_id, source, subject) values (new.workspace_id, 'a', new.id);
  return null;
end;
$$;

create trigger activity_is_logged after insert on activity
  for each row execute function log_activity();

create function log_redemption() returns trigger
language plpgsql as $$
begin
  insert into log_pending (workspace_id, source, subject) values (new.workspace_id, 'r', new.approval_id);
  return null;
end;
$$;

create trigger redemptions_are_logged after insert on redemptions
  for each row execute function log_redemption();

create function log_opening() returns trigger
language plpgsql as $$
begin
  insert into log_pending (workspace_id, source, subject) values (new.workspace_id, 'o', new.id);
  return null;
end;
$$;

create trigger reviewers_opening_is_logged after update of opened_at on reviewers
  for each row when (old.opened_at is null and new.opened_at is not null)
  execute function log_opening();

-- The database that this is: cluster, oid and timeline. The timeline changes with every restore to a point in time and
-- every promoted replica; a dump is restored into another database. Where a function may not be called, its part is "-".
create function log_home() returns text
language plpgsql as $$
declare
  cluster text;
  timeline text;
begin
  if has_function_privilege('pg_control_system()', 'execute') then
    cluster := (select system_identifier from pg_control_system());
  end if;
  if has_function_privilege('pg_current_wal_lsn()', 'execute')
    and has_function_privilege('pg_walfile_name(pg_lsn)', 'execute') then
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  end if;
  return concat_ws('/', coalesce(cluster, '-'), (
    select oid from pg_database where datname = current_database()
  ), coalesce(timeline, '-'));
end;
$$;

-- A tree of each workspace, and one of the installation over their checkpoints. After a restore from a backup a new one
-- begins, whose first entry names the last known checkpoint.
create table log_trees (
  id integer generated always as identity primary key,
  -- Null is the installation.
  workspace_id text collate "C" references workspaces (id),
  origin text not null unique,
  -- The cluster and database in which it was begun. In another one it was restored.
  home text not null,
  size bigint not null default 0 check (size >= 0),
  root bytea not null check (octet_length(root) = 32),
  created_at timestamptz(3) not null default now_ms(),
  closed_at timestamptz(3)
);

create unique index log_trees_open on log_trees (coalesce(workspace_id, '')) where closed_at is null;

create function refuse_shrinking_tree() returns trigger
language plpgsql as $$
begin
  raise exception 'the log % only grows', old.origin using errcode = 'integrity_constraint_violation';
end;
$$;

create trigger log_trees_only_grow before update on log_trees
  for each row when (
    new.size < old.size or new.origin <> old.origin or new.workspace_id is distinct from old.workspace_id
    or old.closed_at is not null or new.size = old.size and new.root <> old.root
  )
  execute function refuse_shrinking_tree();

create table log_entries (
  tree_id integer not null references log_trees (id),
  index bigint not null check (index >= 0),
  entry text not null,
  leaf_hash bytea not null check (octet_length(leaf_hash) = 32),
  primary key (tree_id, index)
);

-- What an entry stands for. Deleted with its request, after which the entry says nothing, and the tree still verifies.
create table log_openings (
  tree_id integer not null,
  index bigint not null,
  -- The event, activity, reviewer or request.
  subject text collate "C" not null,
  approval_id text collate "C",
  salt bytea not null check (octet_length(salt) = 32),
  fact text not null,
  primary key (tree_id, index),
  foreign key (tree_id, index) references log_entries (tree_id, index)
);

create index log_openings_of_approval on log_openings (approval_id, tree_id) where approval_id is not null;
create index log_openings_of_others on log_openings (subject, tree_id, index) where approval_id is null;

-- Hashes of full tiles: a node of level 1 stands for 256 entries, one of level 2 for 256 of level 1.
create table log_nodes (
  tree_id integer not null references log_trees (id),
  level smallint not null check (level between 1 and 7),
  index bigint not null check (index >= 0),
  hash bytea not null check (octet_length(hash) = 32),
  primary key (tree_id, level, index)
);

create table log_checkpoints (
  tree_id integer not null references log_trees (id),
  size bigint not null,
  -- The signed note, without cosignatures.
  note text not null,
  signing_key_id text collate "C" not null references signing_keys (id),
  signed_at timestamptz(3) not null default now_ms(),
  primary key (tree_id, size)
);

create table log_cosignatures (
  tree_id integer not null,
  size bigint not null,
  witness text not null,
  -- The whole line of the note.
  line text not null,
  cosigned_at timestamptz(3) not null default now_ms(),
  primary key (tree_id, size, witness),
  foreign key (tree_id, size) references log_checkpoints (tree_id, size)
);

-- The checkpoint that a workspace's owners were told last. One a day, and only if the log grew.
create table log_tellings (
  tree_id integer primary key references log_trees (id),
  size bigint not null,
  told_at timestamptz(3) not null default now_ms()
);

-- Witnesses that have seen another log under our name than we have: owners are told once.
create table log_contradictions (
  tree_id integer not null references log_trees (id),
  witness text not null,
  -- What it has cosigned, and ours at that time.
  witnessed_size bigint not null,
  size bigint not null,
  told_at timestamptz(3) not null default now_ms(),
  primary key (tree_id, witness)
);

alter table events
  drop constraint events_subject_of_kind,
  add constraint events_subject_of_kind check (
    case
      when kind in (
        'request.created', 'request.approved', 'request.rejected', 'request.expired', 'request.cancelled',
        'request.expiring', 'request.vote_recorded', 'request.stage_entered', 'request.changed', 'request.escalated',
        'request.reassigned', 'request.reminded', 'request.unreachable', 'request.stuck'
      ) then approval_id is not null and endpoint_id is null and reviewer_id is null
      when kind in ('webhook.test', 'endpoint.delivery_failed', 'endpoint.failing', 'endpoint.disabled')
        then approval_id is null and endpoint_id is not null and reviewer_id is null
      when kind = 'mail.failed' then approval_id is not null and endpoint_id is null and reviewer_id is not null
      when kind = 'callback.failed'
        then approval_id is not null and endpoint_id is null and reviewer_id is null and detail is not null
      when kind in (
        'person.signing_in', 'person.passkey_added', 'person.passkey_removed', 'member.invited', 'owner.passkey_added',
        'log.checkpoint', 'log.contradicted'
      ) then approval_id is null and endpoint_id is null and reviewer_id is null and detail is not null
      else false
    end
  ) not valid;
