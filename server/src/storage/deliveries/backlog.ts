// How much waits, and for how long, over all workspaces: figures for metrics. Each part walks an index and is bounded, so
// that they cost about the same however much there is.

import type { Queryable } from "../../database/database.ts";
import {
  backlogFactsMax,
  backlogLanesMax,
  backlogPendingMax,
} from "../../domain/delivery/backlog-limits.ts";
import { workspaceLanes } from "./claims.ts";

export type Backlog = {
  /** Requests that wait for a decision, counted up to a bound. */
  pending: number;
  /** How long the request is overdue that should have expired first; 0 when none is. */
  overdueSeconds: number;
  /** How long what is due first in each channel waits already, under way or not; 0 when nothing is due. */
  dueSeconds: Record<BacklogChannel, number>;
  /** How long the first fact waits for the log; 0 when none does. */
  logLagSeconds: number;
  /** By how much the database's clock is ahead of this process's, for sure; negative when it is behind. */
  clockAheadSeconds: number;
};

export const backlogChannels = ["webhook", "mail", "callback", "message"] as const;
export type BacklogChannel = (typeof backlogChannels)[number];

type Row = {
  pending: number;
  overdue: number;
  webhook: number;
  mail: number;
  callback: number;
  message: number;
  log_lag: number;
  clock: number;
};

/** Endpoints and workspaces are walked as claims walk them, from one with due work to the next. */
export async function readBacklog(db: Queryable): Promise<Backlog> {
  const beforeMs = Date.now();
  const { rows } = await db.query<Row>({ name: "deliveries.readBacklog", text: backlogSql });
  // Ours is cut off to whole milliseconds.
  const afterMs = Date.now() + 1;
  const [row] = rows as [Row];
  const { webhook, mail, callback, message } = row;
  return {
    pending: row.pending,
    overdueSeconds: row.overdue,
    dueSeconds: { webhook, mail, callback, message },
    logLagSeconds: row.log_lag,
    clockAheadSeconds: secondsAhead(1_000 * row.clock, beforeMs, afterMs),
  };
}

/** The database looked at its clock between these two moments of ours. What that explains is no difference. */
function secondsAhead(theirMs: number, beforeMs: number, afterMs: number): number {
  return (theirMs - Math.min(Math.max(theirMs, beforeMs), afterMs)) / 1_000;
}

const secondsSince = (at: string) =>
  `coalesce(greatest(0, extract(epoch from now() - (${at}))), 0)::float8`;

const earliestOf = (lanes: string) =>
  secondsSince(
    `select min(first.due_at) from (select due_at from ${lanes} limit ${backlogLanesMax}) as first`,
  );

/**
 * What waits for a disabled endpoint is skipped soon. Ids begin with their milliseconds; the installation's log waits for
 * checkpoints.
 */
const backlogSql = `
with recursive endpoint_lane as (
  (select d.endpoint_id, d.workspace_id, d.due_at from deliveries d
   where d.state = 'due' and d.endpoint_id is not null
   order by d.endpoint_id, d.due_at, d.id limit 1)
  union all
  select next.endpoint_id, next.workspace_id, next.due_at
  from endpoint_lane
  cross join lateral (
    select d.endpoint_id, d.workspace_id, d.due_at from deliveries d
    where d.state = 'due' and d.endpoint_id is not null and d.endpoint_id > endpoint_lane.endpoint_id
    order by d.endpoint_id, d.due_at, d.id limit 1
  ) as next
),
enabled_lane as (
  select lane.due_at
  from (select * from endpoint_lane limit ${backlogLanesMax}) as lane
  cross join lateral (
    select e.disabled_at from endpoints e
    where e.workspace_id = lane.workspace_id and e.id = lane.endpoint_id
    limit 1
  ) as e
  where e.disabled_at is null
),
mail_lane as (${workspaceLanes("mail", "mail_lane")}
),
callback_lane as (${workspaceLanes("callback", "callback_lane")}
),
message_lane as (
  (select m.channel, m.workspace_id, m.due_at from channel_messages m
   where m.state = 'due'
   order by m.channel, m.workspace_id, m.due_at, m.id limit 1)
  union all
  select next.channel, next.workspace_id, next.due_at
  from message_lane
  cross join lateral (
    select m.channel, m.workspace_id, m.due_at from channel_messages m
    where m.state = 'due' and (m.channel, m.workspace_id) > (message_lane.channel, message_lane.workspace_id)
    order by m.channel, m.workspace_id, m.due_at, m.id limit 1
  ) as next
),
log_lane as (
  (select workspace_id from log_pending order by workspace_id, id limit 1)
  union all
  select next.workspace_id
  from log_lane
  cross join lateral (
    select p.workspace_id from log_pending p where p.workspace_id > log_lane.workspace_id
    order by p.workspace_id, p.id limit 1
  ) as next
),
waiting_fact as (
  select fact.at
  from (select workspace_id from log_lane limit ${backlogLanesMax}) as lane
  cross join lateral (
    select first.at from (
      select case
        when p.source in ('e', 'a') and p.subject ~ '^[a-z]+_[0-9a-f]{12}' then
          to_timestamp(('x' || lpad(substring(p.subject from '_([0-9a-f]{12})'), 16, '0'))::bit(64)::bigint / 1000.0)
        when p.source = 'k' and p.subject ~ '^[0-9]{1,9}:[0-9]{1,15}$' then (
          select c.signed_at from log_checkpoints c
          where c.tree_id = split_part(p.subject, ':', 1)::integer and c.size = split_part(p.subject, ':', 2)::bigint
        )
      end as at
      from log_pending p
      where p.workspace_id = lane.workspace_id
      order by p.id limit ${backlogFactsMax}
    ) as first
    where first.at is not null
    limit 1
  ) as fact
)
select
  (select count(*)::int from (
    select from approvals where status = 'PENDING' order by expires_at limit ${backlogPendingMax}
  ) as counted) as pending,
  ${secondsSince("select expires_at from approvals where status = 'PENDING' order by expires_at limit 1")} as overdue,
  ${earliestOf("enabled_lane")} as webhook,
  ${earliestOf("mail_lane")} as mail,
  ${earliestOf("callback_lane")} as callback,
  ${earliestOf("message_lane")} as message,
  ${secondsSince("select min(at) from waiting_fact")} as log_lag,
  extract(epoch from clock_timestamp())::float8 as clock`;
