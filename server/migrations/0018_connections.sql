-- MCP clients that people connect over OAuth, without pasting a key. Each acts as an API key of its own, whose secret
-- nobody has: it is listed, named in the activity and revoked like every other key.

create table connections (
  workspace_id text collate "C" not null,
  api_key_id text collate "C" not null,
  -- Who allowed it. The tokens work only while this person is an owner or admin here.
  email text not null,
  client_digest bytea not null check (octet_length(client_digest) = 32),
  client_name text not null check (client_name <> ''),
  redirect_host text not null,
  created_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, api_key_id),
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id)
);

-- A code waits a minute for its client. A used one stays that long, so that a second use is noticed.
create table connection_codes (
  workspace_id text collate "C" not null references workspaces (id),
  digest bytea not null check (octet_length(digest) = 32),
  email text not null,
  client_digest bytea not null check (octet_length(client_digest) = 32),
  client_name text not null check (client_name <> ''),
  redirect_uri text not null,
  challenge text not null,
  api_key_id text collate "C",
  expires_at timestamptz(3) not null,
  primary key (workspace_id, digest),
  foreign key (workspace_id, api_key_id) references connections (workspace_id, api_key_id)
);

create unique index connection_codes_digest_key on connection_codes (digest);
create index connection_codes_expire on connection_codes (expires_at);

-- A used refresh token stays until it expires, so that a stolen one is noticed.
create table connection_tokens (
  workspace_id text collate "C" not null,
  api_key_id text collate "C" not null,
  digest bytea not null check (octet_length(digest) = 32),
  kind text not null check (kind in ('access', 'refresh')),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  primary key (workspace_id, api_key_id, digest),
  foreign key (workspace_id, api_key_id) references connections (workspace_id, api_key_id),
  check (used_at is null or kind = 'refresh')
);

create unique index connection_tokens_digest_key on connection_tokens (digest);
