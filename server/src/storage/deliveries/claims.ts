// SQL that all claims share. A claim takes the lease and writes the row of the attempt in one commit. It closes an attempt
// that a crash left open: its worker can't say how long it lasted, so the duration stays empty, and the lease runs out.

import {
  crashDelaysSeconds,
  crashesInRowMax,
  leaseSeconds,
  retryJitter,
} from "../../domain/limits.ts";
import { interrupted } from "../../domain/shown/attempt.ts";
import type { Channel } from "../../domain/shown/destination.ts";

/** No worker holds `delivery`. */
export function isUnleased(delivery: string): string {
  return `(${delivery}.leased_until is null or ${delivery}.leased_until <= now())`;
}

/** Checked again under the lock, because another worker may have been quicker. */
export const isClaimable = `d.state = 'due' and d.due_at <= now() and ${isUnleased("d")}`;

export const leaseEnd = `now() + interval '${leaseSeconds} seconds'`;

// A lease that has run out belongs to an attempt that was cut short, which doesn't count in its round.
const leaveOutCutShort = "attempts_before = d.attempts_before + (d.lease_token is not null)::int";

/** The columns that a claim sets on each delivery it takes. */
export const takeLease = `attempts = d.attempts + 1, ${leaveOutCutShort},
    lease_token = gen_random_uuid(), leased_until = ${leaseEnd}`;

/** The columns that a claim sets on a delivery that crashes have cut short again and again. */
export function postpone(delaySeconds: string): string {
  return `${leaveOutCutShort}, lease_token = null, leased_until = null,
    due_at = now_ms() + ${delaySeconds} * interval '1 second'`;
}

/** Writes an attempt for each claimed delivery. */
export const beginAttempts = `
  insert into attempts (workspace_id, delivery_id, number)
  select workspace_id, id, number from claimed`;

/** Closes the open attempt of each of these deliveries. Its worker is gone: nobody will ever know how it went. */
export function cutShort(deliveries: string): string {
  return `
  update attempts a
  set finished_at = now_ms(), outcome = '${interrupted}'
  from ${deliveries}
  where a.workspace_id = ${deliveries}.workspace_id and a.delivery_id = ${deliveries}.id
    and a.number = ${deliveries}.attempts and a.finished_at is null`;
}

/**
 * For channels that have no endpoints. The planner doesn't know which channel this is, so it can't take an index of one
 * channel's rows in another order, which seems as good while its figures are of a time with few of them.
 */
function isDueBy(channel: Channel): string {
  return `d.state = 'due' and d.endpoint_id is null and d.channel = (select '${channel}')`;
}

/**
 * Walks from one workspace with due deliveries of a channel to the next, and tells when the first of each is due. `lane`
 * is the name of this walk.
 */
export function workspaceLanes(channel: Channel, lane = "lane"): string {
  const isDue = isDueBy(channel);
  return `
  (select d.workspace_id, d.due_at from deliveries d
   where ${isDue}
   order by d.workspace_id, d.due_at, d.id limit 1)
  union all
  select next.workspace_id, next.due_at
  from ${lane}
  cross join lateral (
    select d.workspace_id, d.due_at from deliveries d
    where ${isDue} and d.workspace_id > ${lane}.workspace_id
    order by d.workspace_id, d.due_at, d.id limit 1
  ) as next`;
}

/** The oldest few of each lane, leased ones included: no more may be under way, from all processes together. */
export function windowOfWorkspaces(channel: Channel, perWorkspaceMax: number): string {
  return `
  select oldest.ctid, oldest.is_leased, oldest.due_at,
    count(*) filter (where oldest.is_leased) over (partition by lane.workspace_id) as leased,
    row_number() over (partition by lane.workspace_id, oldest.is_leased order by oldest.due_at, oldest.id) as turn
  from lane
  cross join lateral (
    select d.ctid, d.id, d.due_at, coalesce(d.leased_until > now(), false) as is_leased
    from deliveries d
    where ${isDueBy(channel)} and d.workspace_id = lane.workspace_id and d.due_at <= now()
    order by d.due_at, d.id
    limit ${perWorkspaceMax}
  ) as oldest`;
}

/**
 * How many crashes have cut a delivery short since its last attempt that ended by itself. `delivery` is a row whose lease
 * has run out, so its latest attempt, still open, is one of them.
 */
export function crashesInRowOf(delivery: string): string {
  return `(
    select count(*)::int from attempts a
    where a.workspace_id = ${delivery}.workspace_id and a.delivery_id = ${delivery}.id
      and a.duration_ms is null
      and a.number > coalesce((
        select ended.number from attempts ended
        where ended.workspace_id = ${delivery}.workspace_id and ended.delivery_id = ${delivery}.id
          and ended.outcome <> '${interrupted}'
        order by ended.number desc limit 1
      ), 0)
  )`;
}

/**
 * How long the delivery waits after them. Spread, so that deliveries which one of them took down come back without it.
 * After too many it doesn't wait: the worker that claims it gives it up.
 */
export function crashDelaySecondsOf(crashes: string): string {
  return `
    case when ${crashes} between 1 and ${crashesInRowMax - 1}
      then (array[${crashDelaysSeconds.join(", ")}])[least(${crashes}, ${crashDelaysSeconds.length})]
        * (${1 - retryJitter} + ${2 * retryJitter} * random())
      else 0 end`;
}

export type Shares = {
  perWorkspaceMax: number;
  /** The last slots go only to workspaces with no more than this under way. */
  lightShare: number;
  keptFree: number;
  /** What a workspace has under way: what the window shows as leased, unless its rows tell it. */
  underWay?: string;
};

const leasedInWindow =
  "coalesce(sum(weight) filter (where is_leased) over (partition by workspace_id), 0)";

/**
 * Takes deliveries of `window_row`, which holds the oldest few of each lane, leased ones included: at most $1, in fair
 * turns. `moved` has those that were claimed, and those that crashes put off. `to` is the column of their destination.
 */
export function takeInTurns(to: string, shares: Shares): string {
  const { perWorkspaceMax, lightShare, keptFree, underWay = leasedInWindow } = shares;
  return `
ranked as (
  select ctid, is_leased, due_at,
    sum(weight) over (partition by workspace_id, is_leased order by turn, due_at rows unbounded preceding) as place,
    ${underWay} as leased
  from window_row
),
-- Whoever has least under way comes first; by the turn alone, those with the smallest ids would take every slot. And the
-- last slots are for those who have hardly anything under way: a few workspaces whose endpoints hang cannot take them.
ordered as (
  select ctid, leased + place as share, row_number() over (order by leased + place, due_at) as nth
  from ranked
  where not is_leased and place <= ${perWorkspaceMax} - leased
),
picked as (
  select ctid from ordered
  where nth <= $1 and (share <= ${lightShare} or nth <= $1 - ${keptFree})
),
locked as materialized (
  select d.ctid, d.workspace_id, d.id, d.attempts,
    case when d.lease_token is null then 0 else ${crashesInRowOf("d")} end as crashes
  from deliveries d
  where d.ctid = any (array(select ctid from picked))
    and ${isClaimable}
  for update skip locked
),
judged as materialized (
  select ctid, crashes, ${crashDelaySecondsOf("crashes")} as delay_seconds from locked
),
postponed as (
  update deliveries d
  set ${postpone("judged.delay_seconds")}
  from judged
  where d.ctid = judged.ctid and judged.delay_seconds > 0
  returning d.workspace_id, d.id, d.event_id, d.${to}, judged.delay_seconds
),
claimed as (
  update deliveries d
  set ${takeLease}
  from judged
  where d.ctid = judged.ctid and judged.delay_seconds = 0
  returning d.workspace_id, d.id, d.event_id, d.${to}, d.lease_token, d.attempts as number,
    d.attempts - d.attempts_before as number_in_round, judged.crashes
),
cut_short as (${cutShort("locked")}
),
attempt as (${beginAttempts}
),
moved as (
  select workspace_id, id, event_id, ${to}, lease_token, number, number_in_round, crashes,
    null::float8 as postponed_ms
  from claimed
  union all
  select workspace_id, id, event_id, ${to}, null, 0, 0, 0, delay_seconds * 1000 from postponed
)`;
}
