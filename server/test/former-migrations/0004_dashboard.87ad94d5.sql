-- The dashboard: people who sign in, their sessions and passkeys, invitations, what was done in a workspace, and
-- what its lists are found by.

-- A person is a mailbox. Members name people by their address; the first sign-in makes the person.
create table people (
  id text collate "C" primary key default new_id('per_'),
  email text not null,
  created_at timestamptz(3) not null default now_ms()
);

create unique index people_email_key on people (lower(email));

-- The token itself is stored nowhere.
create table sessions (
  id text collate "C" primary key default new_id('ses_'),
  person_id text collate "C" not null references people (id),
  token_digest bytea not null check (octet_length(token_digest) = 32),
  method text not null check (method in ('code', 'link', 'passkey', 'oidc')),
  user_agent text,
  address text,
  created_at timestamptz(3) not null default now_ms(),
  last_seen_at timestamptz(3) not null default now_ms(),
  expires_at timestamptz(3) not null
);

create unique index sessions_token_digest_key on sessions (token_digest);
create index sessions_person on sessions (person_id);

-- A code of six digits, or a one-time link. The secret is derived from the nonce, so it can be mailed later.
create table sign_in_secrets (
  id text collate "C" primary key default new_id('sis_'),
  kind text not null check (kind in ('code', 'link')),
  email text not null,
  secret_key_id text not null,
  nonce bytea not null,
  -- By which a link is found. A code has none: six digits are guessed from any digest in no time.
  digest bytea check (octet_length(digest) = 32),
  tries smallint not null default 0 check (tries >= 0),
  created_at timestamptz(3) not null default now_ms(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  constraint sign_in_secrets_link_has_digest check ((kind = 'link') = (digest is not null))
);

create index sign_in_secrets_email on sign_in_secrets (lower(email), created_at);
create unique index sign_in_secrets_link_key on sign_in_secrets (digest) where kind = 'link';
create index sign_in_secrets_expiring on sign_in_secrets (expires_at);

-- A question that a browser or a company's sign-in has still to answer. Each is answered once.
create table sign_in_challenges (
  id text collate "C" primary key default new_id('sic_'),
  kind text not null check (kind in ('passkey_new', 'passkey', 'oidc')),
  person_id text collate "C" references people (id),
  detail jsonb not null,
  created_at timestamptz(3) not null default now_ms(),
  expires_at timestamptz(3) not null
);

create index sign_in_challenges_expiring on sign_in_challenges (expires_at);

create table passkeys (
  id text collate "C" primary key default new_id('psk_'),
  person_id text collate "C" not null references people (id),
  name text not null check (name <> ''),
  credential_id text collate "C" not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}',
  created_at timestamptz(3) not null default now_ms(),
  last_used_at timestamptz(3)
);

create unique index passkeys_credential_key on passkeys (credential_id);
create index passkeys_person on passkeys (person_id);

alter table members
  -- Null while an invitation has not been accepted.
  add column joined_at timestamptz(3) default now_ms(),
  add column invited_by text;

-- Whoever signs in is looked up by their address alone.
create index members_email on members (lower(email));

alter table api_keys
  -- To the minute: calls are counted in the process and written now and then.
  add column last_used_at timestamptz(3);

alter table reviewers
  -- The first time that the page behind the link was shown.
  add column opened_at timestamptz(3);

-- Who changed what, and when. Never changed, never removed.
create table activity (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null default new_id('act_'),
  -- Null is the operator at the command line.
  actor_email text,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}',
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, id)
);

-- Mails that are about a person: a code to sign in with, an invitation.
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
      when kind in ('person.signing_in', 'member.invited')
        then approval_id is null and endpoint_id is null and reviewer_id is null and detail is not null
      else false
    end
  );

-- What became of the requests of a day, once all of them are final: it cannot change any more.
create table daily_figures (
  workspace_id text collate "C" not null references workspaces (id),
  day date not null,
  -- As computed by storage/figures.ts: per agent the counts, and how long decisions took as a histogram.
  figures jsonb not null,
  primary key (workspace_id, day)
);

-- Words of a summary, each with the workspace before it: a word that is common elsewhere costs nobody anything here.
create function search_words(workspace_id text, summary text) returns tsvector
language sql immutable strict parallel safe
return array_to_tsvector(array(
  select distinct workspace_id || ' ' || left(word, 40)
  from unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', summary))) as word
));

create index approvals_search on approvals using gin (search_words(workspace_id, summary));
create index approvals_agent on approvals (agent_name, workspace_id, id);
create index approvals_approver on approvals (lower(approver_email), workspace_id, id);
create index approvals_group on approvals (group_id, workspace_id, id) where group_id is not null;
create index deliveries_of_endpoint on deliveries (endpoint_id, id) where endpoint_id is not null;
