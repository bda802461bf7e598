// Channels beside mail, under test: a group with places in Slack and Teams, people with accounts, and a channel that keeps
// what it was to send.

import type { Database } from "../src/database/database.ts";
import type { MessageOutcome } from "../src/operations/channels/complete-message.ts";
import type { ClaimedMessage } from "../src/storage/channels/channel-messages.ts";
import type { MessageChannel } from "../src/worker/message-channel.ts";

/** As if Slack were connected. Its tokens open nothing. */
export async function connectSlack(
  db: Database,
  workspaceId: string,
  { teamId = "T1", matchesEmail = false } = {},
): Promise<void> {
  await db.query(
    `with connection as (
       insert into slack_connections (
         workspace_id, team_id, team_name, app_id, bot_user_id, mode, secret_key_id, sealed_bot_token,
         sealed_app_token, matches_email
       ) values ($1, $2, 'Acme', 'A1', 'U0', 'socket', 'k', '', '', $3)
     )
     update workspaces set has_channels = true where id = $1`,
    [workspaceId, teamId, matchesEmail],
  );
}

export async function giveGroupChannels(
  db: Database,
  { workspaceId, groupId }: { workspaceId: string; groupId: string },
  { slack = null, isInTeams = false, mailAfterMinutes = null }: GroupPlaces,
): Promise<void> {
  await db.query(
    `with place as (
       insert into group_channels (
         workspace_id, group_id, slack_channel, slack_channel_name, teams_host, teams_secret_key_id, teams_sealed,
         mail_after_minutes
       ) values (
         $1, $2, $3, $3, case when $4 then 'teams.example' end, case when $4 then 'k' end,
         case when $4 then ''::bytea end, $5
       )
     )
     update workspaces set has_channels = true where id = $1`,
    [workspaceId, groupId, slack, isInTeams, mailAfterMinutes],
  );
}

type GroupPlaces = {
  slack?: string | null;
  isInTeams?: boolean;
  mailAfterMinutes?: number | null;
};

export async function giveSlackAccount(
  db: Database,
  email: string,
  { teamId = "T1", source = "linked" } = {},
): Promise<void> {
  await db.query(
    "insert into slack_accounts (team_id, app_id, slack_user_id, email, source) values ($1, 'A1', $2, $3, $4)",
    [teamId, `U-${email}`, email, source],
  );
}

export type MessageRow = {
  channel: string;
  target: string;
  state: string;
  wanted: number;
  drawn: number;
  attempts: number;
  failure: string | null;
  due_in: number;
};

export async function messagesOf(db: Database, approvalId: string): Promise<MessageRow[]> {
  const { rows } = await db.query<MessageRow>(
    `select channel, target, state, wanted, drawn, attempts, failure,
       extract(epoch from due_at - now())::float8 as due_in
     from channel_messages where approval_id = $1 order by channel, target`,
    [approvalId],
  );
  return rows;
}

/** As the statements that change a request write it. */
export async function tellNews(
  db: Database,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
  asks = false,
): Promise<void> {
  await db.query("insert into channel_news (workspace_id, approval_id, asks) values ($1, $2, $3)", [
    workspaceId,
    approvalId,
    asks,
  ]);
}

/** Keeps what it was to send, and answers as it is told: sent, unless told otherwise. */
export function keepingChannel(
  channel: MessageChannel["channel"],
  answer: (
    message: ClaimedMessage,
    nth: number,
  ) => MessageOutcome | Promise<MessageOutcome> = () => ({
    kind: "sent",
  }),
): MessageChannel & { kept: ClaimedMessage[] } {
  const kept: ClaimedMessage[] = [];
  const send = async (message: ClaimedMessage) => {
    kept.push(message);
    return answer(message, kept.length);
  };
  return { channel, inFlightMax: 4, send, kept };
}

export async function subscribeToPush(db: Database, email: string): Promise<void> {
  await db.query(
    `with person as (
       insert into people (email) values ($1) on conflict (lower(email)) do update set email = excluded.email
       returning id
     ), session as (
       insert into sessions (person_id, token_digest, method, expires_at)
       select id, sha256(gen_random_uuid()::text::bytea), 'code', now() + interval '1 day' from person
       returning id
     )
     insert into push_subscriptions (session_id, email, endpoint, public_key, auth)
     select id, lower($1), 'https://push.example/' || gen_random_uuid(), decode(repeat('04', 65), 'hex'),
       decode(repeat('00', 16), 'hex')
     from session`,
    [email],
  );
}

type Settings = {
  mailAfterMinutes?: number | null;
  usesSlack?: boolean;
  /** Of the clock in UTC. */
  quiet?: { from: string; until: string } | null;
};

export async function setSettings(
  db: Database,
  email: string,
  { mailAfterMinutes = null, usesSlack = true, quiet = null }: Settings,
): Promise<void> {
  await db.query(
    `insert into person_settings (email, mail_after_minutes, uses_slack, quiet_from, quiet_until, time_zone)
     values ($1, $2, $3, $4, $5, case when $4::time is not null then 'UTC' end)`,
    [email, mailAfterMinutes, usesSlack, quiet?.from ?? null, quiet?.until ?? null],
  );
}

/** Quiet hours that began an hour ago and end in an hour. */
export async function quietNow(db: Database): Promise<{ from: string; until: string }> {
  const { rows } = await db.query<{ from: string; until: string }>(
    `select (now() at time zone 'UTC' - interval '1 hour')::time::text as from,
       (now() at time zone 'UTC' + interval '1 hour')::time::text as until`,
  );
  return rows[0] as { from: string; until: string };
}

/** In how many minutes each mail about a kind of event is due, by reader. Zero is now. */
export async function mailWaitsOf(
  db: Database,
  approvalId: string,
  kind = "request.created",
): Promise<Record<string, number>> {
  const { rows } = await db.query<{ email: string; minutes: number }>(
    `select r.email, greatest(0, round(extract(epoch from d.due_at - now()) / 60))::int as minutes
     from events ev
     join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id and d.channel = 'mail'
     join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
     where ev.approval_id = $1 and ev.kind = $2
     order by r.email`,
    [approvalId, kind],
  );
  return Object.fromEntries(rows.map(({ email, minutes }) => [email, minutes]));
}
