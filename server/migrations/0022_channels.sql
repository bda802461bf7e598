-- People are asked where they already are: in an inbox, by push message, in Slack and in Teams (decision 50). Mail stays
-- the default, and where nobody has set up more, there is no row in any of these tables.

-- The inbox finds what somebody was asked, newest first.
create index reviewers_of_person on reviewers (lower(email), id);

alter table workspaces
  -- Slack is connected, or a group has a channel of its own: a create looks for channels only then.
  add column has_channels boolean not null default false;

alter table approvals
  -- The channels that the caller allows; null where none were named. Mail is always among them.
  add column channels text[],
  -- Somebody may have been told of it through another channel than mail, so those messages are kept true.
  add column has_channels boolean not null default false,
  add constraint approvals_channels_known check (
    channels <@ array['mail', 'push', 'slack', 'slack_link', 'teams'] and 'mail' = any (channels)
  ) not valid;

-- Addresses are in lower case in all of these tables: a sign-in proves one mailbox, and no other spelling of it.
create table person_settings (
  email text primary key check (email = lower(email)),
  -- Mail comes so long after the other channels, and only to those who haven't voted by then. Null: at once.
  mail_after_minutes smallint check (mail_after_minutes between 1 and 1440),
  uses_slack boolean not null default true,
  -- During these hours, at that place, mail is the only channel.
  quiet_from time,
  quiet_until time,
  time_zone text,
  updated_at timestamptz(3) not null default now_ms(),
  constraint person_settings_quiet_whole check (num_nonnulls(quiet_from, quiet_until, time_zone) in (0, 3)),
  constraint person_settings_quiet_span check (quiet_from <> quiet_until),
  -- A place that PostgreSQL doesn't know would fail every request to this person.
  constraint person_settings_place_known check (
    time_zone is null or (timestamptz '2000-01-01 00:00Z' at time zone time_zone) is not null
  )
);

-- A browser that shows push messages, until its session ends.
create table push_subscriptions (
  id text collate "C" primary key default new_id('psh_'),
  session_id text collate "C" not null references sessions (id) on delete cascade,
  email text not null check (email = lower(email)),
  endpoint text not null,
  public_key bytea not null check (octet_length(public_key) = 65),
  auth bytea not null check (octet_length(auth) = 16),
  created_at timestamptz(3) not null default now_ms(),
  sent_at timestamptz(3)
);
create unique index push_subscriptions_endpoint_key on push_subscriptions (endpoint);
create index push_subscriptions_email on push_subscriptions (email);
create index push_subscriptions_session on push_subscriptions (session_id);

-- Until somebody first subscribes, no create looks for subscriptions: looking in yet another table is what would cost.
create function is_push_used() returns boolean language sql stable return exists (select from push_subscriptions);
alter table workspaces add column looks_for_push boolean not null default false;
alter table workspaces alter column looks_for_push set default is_push_used();

create function look_for_push() returns trigger
language plpgsql as $$
begin
  update workspaces set looks_for_push = true where not looks_for_push;
  return null;
end;
$$;

create trigger push_subscriptions_are_looked_for after insert on push_subscriptions
for each statement execute function look_for_push();

-- The key pair by which push services know this service. Browsers subscribe to its public half, so it never changes.
create table push_identity (
  id boolean primary key default true check (id),
  public_key bytea not null check (octet_length(public_key) = 65),
  secret_key_id text not null,
  sealed bytea not null,
  created_at timestamptz(3) not null default now_ms()
);

create table slack_connections (
  workspace_id text collate "C" primary key references workspaces (id),
  team_id text not null,
  team_name text not null,
  app_id text not null,
  bot_user_id text not null,
  mode text not null check (mode in ('socket', 'http')),
  secret_key_id text not null,
  sealed_bot_token bytea not null,
  -- What proves a click: the token that opens a socket, or the secret that signs calls.
  sealed_app_token bytea,
  sealed_signing_secret bytea,
  -- A Slack profile counts as the person whose confirmed address it has.
  matches_email boolean not null default false,
  -- Otherwise messages lead to the inbox, and the payload never leaves.
  shows_payload boolean not null default true,
  connected_by text,
  connected_at timestamptz(3) not null default now_ms(),
  -- Slack no longer takes the token. Nothing is sent until it is connected again.
  broken_at timestamptz(3),
  broken_reason text,
  constraint slack_connections_proof_of_mode check (
    case mode when 'socket' then sealed_app_token is not null else sealed_signing_secret is not null end
  ),
  constraint slack_connections_broken_with_reason check ((broken_at is null) = (broken_reason is null))
);
create index slack_connections_team on slack_connections (team_id, app_id);

-- Which Slack account is whose. `linked` was proven by a code from the inbox; `email` is what Slack says, and counts only
-- where the workspace allows it.
create table slack_accounts (
  team_id text not null,
  slack_user_id text not null,
  email text not null check (email = lower(email)),
  source text not null check (source in ('linked', 'email')),
  created_at timestamptz(3) not null default now_ms(),
  primary key (team_id, slack_user_id)
);
create unique index slack_accounts_email_key on slack_accounts (email, team_id);

-- Codes that the inbox shows and their owner types in Slack.
create table slack_link_codes (
  digest bytea primary key check (octet_length(digest) = 32),
  person_id text collate "C" not null references people (id),
  email text not null check (email = lower(email)),
  expires_at timestamptz(3) not null
);
create index slack_link_codes_person on slack_link_codes (person_id);
create index slack_link_codes_expiring on slack_link_codes (expires_at);

create table group_channels (
  workspace_id text collate "C" not null,
  group_id text collate "C" not null,
  slack_channel text check (slack_channel <> ''),
  slack_channel_name text,
  -- The address of a Workflows webhook is a secret: who knows it can post.
  teams_host text,
  teams_secret_key_id text,
  teams_sealed bytea,
  mail_after_minutes smallint check (mail_after_minutes between 1 and 1440),
  updated_at timestamptz(3) not null default now_ms(),
  primary key (workspace_id, group_id),
  foreign key (workspace_id, group_id) references groups (workspace_id, id),
  constraint group_channels_slack_named check ((slack_channel is null) = (slack_channel_name is null)),
  constraint group_channels_teams_whole check (num_nonnulls(teams_host, teams_secret_key_id, teams_sealed) in (0, 3))
);

-- Something about a request changed that its messages must tell. Only ever inserted and deleted, so nobody waits for it.
create table channel_news (
  id bigint generated always as identity primary key,
  workspace_id text collate "C" not null,
  approval_id text collate "C" not null,
  -- People were asked by this event, and get a push message.
  asks boolean not null default false
);

-- One message, and its own queue: it is drawn from the state of its request each time, and one worker at a time sends it,
-- so that no update overtakes another.
create table channel_messages (
  workspace_id text collate "C" not null,
  id text collate "C" not null default new_id('msg_'),
  approval_id text collate "C" not null,
  channel text not null check (channel in ('push', 'slack', 'teams')),
  -- The address of a person, or the id of a group.
  target text not null,
  group_id text collate "C",
  state text not null default 'due' check (state in ('due', 'sent', 'failed', 'skipped')),
  -- Counts the changes; sent once `drawn` has reached it.
  wanted integer not null default 1 check (wanted >= 1),
  drawn integer not null default 0,
  due_at timestamptz(3) not null default now_ms(),
  attempts integer not null default 0 check (attempts >= 0),
  lease_token uuid,
  leased_until timestamptz(3),
  -- Where Slack keeps it.
  slack_channel text,
  slack_ts text,
  -- Of what was drawn last: the same again is not sent.
  digest bytea,
  created_at timestamptz(3) not null default now_ms(),
  -- When it first arrived, and when it was last sent or changed.
  arrived_at timestamptz(3),
  sent_at timestamptz(3),
  failed_at timestamptz(3),
  failure text,
  primary key (workspace_id, id),
  foreign key (workspace_id, approval_id) references approvals (workspace_id, id),
  constraint channel_messages_drawn_of_wanted check (drawn between 0 and wanted),
  constraint channel_messages_lease_whole check ((lease_token is null) = (leased_until is null)),
  constraint channel_messages_failed_with_reason check ((failed_at is null) = (failure is null)),
  constraint channel_messages_slack_place check ((slack_channel is null) = (slack_ts is null))
);
create unique index channel_messages_target_key on channel_messages (approval_id, channel, target, workspace_id);
create index channel_messages_due on channel_messages (channel, workspace_id, due_at, id) where state = 'due';

-- Whether somebody has quiet hours just now. They may pass midnight.
create function is_quiet(settings person_settings) returns boolean
language sql stable
return coalesce(
  case when settings.quiet_from < settings.quiet_until
    then (now() at time zone settings.time_zone)::time >= settings.quiet_from
      and (now() at time zone settings.time_zone)::time < settings.quiet_until
    else (now() at time zone settings.time_zone)::time >= settings.quiet_from
      or (now() at time zone settings.time_zone)::time < settings.quiet_until
  end, false);

-- How long the mail to somebody waits, because another channel tells them first. A person's own choice wins over their
-- group's; without a channel that can reach them, mail doesn't wait.
create function mail_wait(workspace text, address text, asked_group text, allowed text[]) returns interval
language sql stable
return make_interval(mins => coalesce(
  case when exists (select from person_settings s where s.email = lower(address)) then (
    select s.mail_after_minutes from person_settings s
    where s.email = lower(address) and not is_quiet(s) and (
      (allowed is null or 'push' = any (allowed)) and exists (
        select from push_subscriptions p where p.email = lower(address)
      ) or s.uses_slack and (allowed is null or allowed && array['slack', 'slack_link']) and exists (
        select from slack_connections c
        join slack_accounts a on a.team_id = c.team_id and a.email = lower(address)
        where c.workspace_id = workspace and c.broken_at is null and (a.source = 'linked' or c.matches_email)
      )
    )
  ) else (
    select g.mail_after_minutes from group_channels g
    where g.workspace_id = workspace and g.group_id = asked_group and (
      g.teams_sealed is not null and (allowed is null or 'teams' = any (allowed))
      or g.slack_channel is not null and (allowed is null or allowed && array['slack', 'slack_link']) and exists (
        select from slack_connections c where c.workspace_id = workspace and c.broken_at is null
      )
    )
  ) end, 0));

-- Whether one of the addresses of the row `row_number` has a browser that shows push messages.
create function is_pushed_to(row_numbers integer[], addresses text[], row_number integer) returns boolean
language sql stable
return exists (
  select from unnest(row_numbers, addresses) as asked (n, address)
  join push_subscriptions p on p.email = lower(asked.address)
  where asked.n = row_number
);

create function queue_channel_news() returns trigger
language plpgsql as $$
begin
  insert into channel_news (workspace_id, approval_id, asks) values (new.workspace_id, new.id, tg_op = 'INSERT');
  return null;
end;
$$;

-- Their conditions are false for every request that only mail tells of, and then they cost nothing.
create trigger approvals_created_are_news after insert on approvals
for each row when (new.has_channels)
execute function queue_channel_news();

create trigger approvals_resolved_are_news after update on approvals
for each row when (new.has_channels and new.status <> old.status)
execute function queue_channel_news();
