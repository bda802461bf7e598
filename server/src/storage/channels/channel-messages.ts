// Messages in other channels than mail. A row is its own queue: one worker at a time draws it from the state of its
// request and sends it, so that no update overtakes another. A worker that has lost its lease changes nothing.

import type { Queryable, Transaction } from "../../database/database.ts";
import {
  messagesPerWorkspaceMax,
  messageUpdateGapSeconds,
} from "../../domain/channels/message-limits.ts";
import type { MessageChannelName, WantedMessage } from "../../domain/channels/wanted-messages.ts";
import { leaseSeconds } from "../../domain/limits.ts";

export type MessageLease = { workspaceId: string; id: string; leaseToken: string; wanted: number };

export type ClaimedMessage = MessageLease & {
  approvalId: string;
  channel: MessageChannelName;
  /** The address of a person in lower case, or the id of a group. */
  target: string;
  /** The group that it is for; null for a message to a person. */
  groupId: string | null;
  /** Where Slack keeps it; null until it was posted. */
  slack: { channel: string; ts: string } | null;
  /** Of what was drawn last. */
  digest: Buffer | null;
  /** It has arrived before: this is an update. */
  wasSent: boolean;
  /** How often it was claimed since it last arrived, this time included. */
  attempts: number;
  createdAt: Date;
};

/** What a worker might have to do. */
export type ChannelWork = { hasNews: boolean; channels: MessageChannelName[] };

/** Asked at each wake, so it reads two indexes and nothing else. Messages that are held until later count, too. */
export async function findWork(db: Queryable): Promise<ChannelWork> {
  const { rows } = await db.query<{ has_news: boolean; channels: MessageChannelName[] }>({
    name: "channelMessages.findWork",
    text: `
      select exists (select from channel_news) as has_news, array(
        select name from unnest(array['push', 'slack', 'teams']) as name
        cross join lateral (
          select from channel_messages m where m.state = 'due' and m.channel = name limit 1
        ) as due
      ) as channels`,
  });
  const [row] = rows as [{ has_news: boolean; channels: MessageChannelName[] }];
  return { hasNews: row.has_news, channels: row.channels };
}

const updateGap = `interval '${messageUpdateGapSeconds} seconds'`;

/**
 * Makes each of these messages due, new or again. One that waits stays where it is, and one that was given up before it
 * ever arrived stays given up. Then wants all others of the request anew that somebody can see. Answers how many
 * milliseconds each of those waits that aren't due yet. The caller has the request's turn.
 */
export async function want(
  tx: Transaction,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
  messages: readonly WantedMessage[],
): Promise<number[]> {
  const { rows } = await tx.query<{ wait_ms: number }>({
    name: "channelMessages.want",
    text: `
      with wish as (
        select * from unnest($3::text[], $4::text[], $5::text[], $6::timestamptz[])
          as wish (channel, target, group_id, held_until)
      ), asked as (
        insert into channel_messages as m (workspace_id, approval_id, channel, target, group_id, due_at)
        select $1, $2, channel, target, group_id, greatest(held_until, now_ms()) from wish
        on conflict (approval_id, channel, target, workspace_id) do update set
          wanted = m.wanted + 1, state = 'due',
          due_at = case when m.state = 'due' then m.due_at
            when m.channel = 'push' or m.sent_at is null then excluded.due_at
            else greatest(m.sent_at + ${updateGap}, now_ms()) end
        where m.state <> 'failed' or m.sent_at is not null
        returning m.due_at
      ), seen as (
        update channel_messages m
        set wanted = m.wanted + 1, state = 'due',
          due_at = case when m.state = 'due' then m.due_at
            else greatest(m.sent_at + ${updateGap}, now_ms()) end
        where m.approval_id = $2 and m.workspace_id = $1 and m.channel <> 'push'
          and (m.state = 'due' or m.sent_at is not null)
          and not exists (select from wish where wish.channel = m.channel and wish.target = m.target)
        returning m.due_at
      )
      select extract(epoch from due_at - now())::float8 * 1000 as wait_ms
      from (select due_at from asked union all select due_at from seen) as all_wanted
      where due_at > now()`,
    values: [
      workspaceId,
      approvalId,
      messages.map(({ channel }) => channel),
      messages.map(({ target }) => target),
      messages.map(({ groupId }) => groupId),
      messages.map(({ heldUntil }) => heldUntil),
    ],
  });
  return rows.map(({ wait_ms }) => wait_ms);
}

/** Messages of a request that were given up before they ever arrived, by whom they were for. */
export async function listGivenUp(
  tx: Transaction,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
): Promise<{ target: string; groupId: string | null }[]> {
  const { rows } = await tx.query<{ target: string; group_id: string | null }>({
    name: "channelMessages.listGivenUp",
    text: `
      select target, group_id from channel_messages
      where approval_id = $2 and workspace_id = $1 and state = 'failed' and sent_at is null
      order by id`,
    values: [workspaceId, approvalId],
  });
  return rows.map(({ target, group_id: groupId }) => ({ target, groupId }));
}

type ClaimedRow = {
  workspace_id: string;
  id: string;
  approval_id: string;
  channel: MessageChannelName;
  target: string;
  group_id: string | null;
  wanted: number;
  attempts: number;
  lease_token: string;
  slack_channel: string | null;
  slack_ts: string | null;
  digest: Buffer | null;
  was_sent: boolean;
  created_at: Date;
};

const isDue = "m.state = 'due' and m.channel = $1";

// Workspaces take turns, as they do for mails: of each the oldest few are looked at, leased ones included, so that no more
// are under way from all processes together.
const claimSql = `
with recursive lane as (
  (select m.workspace_id from channel_messages m where ${isDue} order by m.workspace_id, m.due_at, m.id limit 1)
  union all
  select next.workspace_id
  from lane
  cross join lateral (
    select m.workspace_id from channel_messages m
    where ${isDue} and m.workspace_id > lane.workspace_id
    order by m.workspace_id, m.due_at, m.id limit 1
  ) as next
),
window_row as (
  select oldest.ctid, oldest.is_leased, oldest.due_at,
    count(*) filter (where oldest.is_leased) over (partition by lane.workspace_id) as leased,
    row_number() over (partition by lane.workspace_id, oldest.is_leased order by oldest.due_at, oldest.id) as turn
  from lane
  cross join lateral (
    select m.ctid, m.id, m.due_at, coalesce(m.leased_until > now(), false) as is_leased
    from channel_messages m
    where ${isDue} and m.workspace_id = lane.workspace_id and m.due_at <= now()
    order by m.due_at, m.id
    limit ${messagesPerWorkspaceMax}
  ) as oldest
),
picked as materialized (
  select ctid from window_row where not is_leased order by leased + turn, due_at limit $2
),
locked as materialized (
  select m.ctid from channel_messages m
  -- Checked anew under the lock. "Is true" keeps the planner from an index: it would walk all that are due.
  where m.ctid = any (array(select ctid from picked))
    and (${isDue} and m.due_at <= now() and (m.leased_until is null or m.leased_until <= now())) is true
  for update skip locked
)
update channel_messages m
set attempts = m.attempts + 1, lease_token = gen_random_uuid(),
  leased_until = now() + interval '${leaseSeconds} seconds'
where m.ctid = any (array(select ctid from locked))
returning m.workspace_id, m.id, m.approval_id, m.channel, m.target, m.group_id, m.wanted, m.attempts, m.lease_token,
  m.slack_channel, m.slack_ts, m.digest, m.sent_at is not null as was_sent, m.created_at`;

export async function claim(
  tx: Transaction,
  channel: MessageChannelName,
  limit: number,
): Promise<ClaimedMessage[]> {
  const { rows } = await tx.query<ClaimedRow>({
    name: "channelMessages.claim",
    text: claimSql,
    values: [channel, limit],
  });
  return rows.map(toClaimed);
}

function toClaimed(row: ClaimedRow): ClaimedMessage {
  const { slack_channel: channel, slack_ts: ts } = row;
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    approvalId: row.approval_id,
    channel: row.channel,
    target: row.target,
    groupId: row.group_id,
    wanted: row.wanted,
    attempts: row.attempts,
    leaseToken: row.lease_token,
    slack: channel === null || ts === null ? null : { channel, ts },
    digest: row.digest,
    wasSent: row.was_sent,
    createdAt: row.created_at,
  };
}

const held = "m.workspace_id = $1 and m.id = $2 and m.lease_token = $3";
const release = "lease_token = null, leased_until = null";
const isWantedAnew = "m.wanted > $4";

export type MessageEnd = {
  /** The worker still had its lease. */
  wasHeld: boolean;
  /** It is due again then: put off, or because more has changed meanwhile. */
  dueInMs: number | null;
};

const ending = `
  case when m.state = 'due' then greatest(0, extract(epoch from m.due_at - now()))::float8 * 1000 end as due_in_ms`;

export async function noteSent(
  tx: Transaction,
  lease: MessageLease,
  sent: { slack: { channel: string; ts: string } | null; digest: Buffer | null },
): Promise<MessageEnd> {
  return end(
    await tx.query<EndRow>({
      name: "channelMessages.noteSent",
      text: `
        update channel_messages m
        set state = case when ${isWantedAnew} then 'due' else 'sent' end, drawn = $4, attempts = 0, ${release},
          due_at = case when ${isWantedAnew} then now_ms() + ${updateGap} else m.due_at end,
          arrived_at = coalesce(m.arrived_at, now_ms()), sent_at = now_ms(), failed_at = null, failure = null,
          slack_channel = coalesce($5, m.slack_channel), slack_ts = coalesce($6, m.slack_ts), digest = $7
        where ${held}
        returning ${ending}`,
      values: [
        ...valuesOf(lease),
        sent.slack?.channel ?? null,
        sent.slack?.ts ?? null,
        sent.digest,
      ],
    }),
  );
}

/** There was nothing to send: it says what it should, or nobody needs it any more and it never arrived. */
export async function noteNotSent(tx: Transaction, lease: MessageLease): Promise<MessageEnd> {
  return end(
    await tx.query<EndRow>({
      name: "channelMessages.noteNotSent",
      text: `
        update channel_messages m
        set state = case when ${isWantedAnew} then 'due' when m.sent_at is null then 'skipped' else 'sent' end,
          due_at = case when ${isWantedAnew} then now_ms() else m.due_at end, drawn = $4, attempts = 0, ${release},
          failed_at = null, failure = null
        where ${held}
        returning ${ending}`,
      values: valuesOf(lease),
    }),
  );
}

/** It is tried again later. Without a failure it was only put off, and the try doesn't count. */
export async function postpone(
  tx: Transaction,
  lease: MessageLease,
  { delayMs, failure }: { delayMs: number; failure: string | null },
): Promise<MessageEnd> {
  const { workspaceId, id, leaseToken } = lease;
  return end(
    await tx.query<EndRow>({
      name: "channelMessages.postpone",
      text: `
        update channel_messages m
        set due_at = now_ms() + $4::float8 * interval '1 millisecond', ${release},
          attempts = m.attempts - ($5::text is null)::int,
          failed_at = case when $5::text is null then m.failed_at else now_ms() end, failure = coalesce($5, m.failure)
        where ${held}
        returning ${ending}`,
      values: [workspaceId, id, leaseToken, delayMs, failure],
    }),
  );
}

/** One that has arrived before, and changed meanwhile, is tried with what it should say now. */
export async function noteFailed(
  tx: Transaction,
  lease: MessageLease,
  failure: string,
): Promise<MessageEnd> {
  return end(
    await tx.query<EndRow>({
      name: "channelMessages.noteFailed",
      text: `
        update channel_messages m
        set state = case when ${isWantedAnew} and m.sent_at is not null then 'due' else 'failed' end,
          due_at = case when ${isWantedAnew} then now_ms() + ${updateGap} else m.due_at end,
          attempts = 0, ${release}, failed_at = now_ms(), failure = $5
        where ${held}
        returning ${ending}`,
      values: [...valuesOf(lease), failure],
    }),
  );
}

function valuesOf({ workspaceId, id, leaseToken, wanted }: MessageLease): unknown[] {
  return [workspaceId, id, leaseToken, wanted];
}

type EndRow = { due_in_ms: number | null };

function end({ rows }: { rows: EndRow[] }): MessageEnd {
  return { wasHeld: rows.length === 1, dueInMs: rows[0]?.due_in_ms ?? null };
}
