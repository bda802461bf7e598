// The one way out of PENDING: a decision, a cancel, or the end of the time. Each writes the event and its deliveries
// with it, and announces the change to waiting callers.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import { eventOfStatus } from "../../domain/approval/event.ts";
import { claimedReadBytesMax, largeWebhookWeight } from "../../domain/limits.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import { largeBytes, pending } from "./approvals.ts";

/** Every change out of PENDING is announced here, so that waiting callers on every node wake. */
export const resolutionChannel = "countersign_resolved";
/** Announced in place of a list of ids that would be too long. */
export const manyResolved = "*";

export type Resolution =
  | { status: "APPROVED"; byEmail: string; note: string | null; edit: JsonText | null }
  | { status: "REJECTED"; byEmail: string; note: string | null }
  | { status: "CANCELLED" };

/**
 * Resolves a pending approval whose time has not passed, with its event and that event's deliveries.
 * Says when, or null if this call did not do it: of any number of racing calls, one does. Only a member decides for a
 * group that was asked. The membership is locked until the commit, so that nobody decides after their removal.
 */
export async function resolve(
  tx: Transaction,
  where: { workspaceId: string; id: string },
  resolution: Resolution,
): Promise<Date | null> {
  const { rows } = await tx.query<{ resolved_at: Date }>(resolutionQuery(where, resolution));
  return rows[0]?.resolved_at ?? null;
}

/** The statement with its values; the benchmark runs the very same one. */
export function resolutionQuery(
  where: { workspaceId: string; id: string },
  resolution: Resolution,
) {
  const { status } = resolution;
  return {
    name: "approvals.resolve",
    text: `
      with member as (
        select m.group_id
        from group_members m
        where m.workspace_id = $1 and lower(m.email) = lower($4)
          and m.group_id = (select asked.group_id from approvals asked where asked.workspace_id = $1 and asked.id = $2)
        for key share of m
      ), resolved as (
        update approvals a
        set status = $3, resolved_at = now_ms(), resolved_by_email = $4, resolution_note = $5, edit = $6
        where workspace_id = $1 and id = $2 and status = ${pending} and expires_at > now()
          and (a.group_id is null or $4 is null or exists (select from member))
        returning a.workspace_id, a.id, a.resolved_at, ${forEvent}
      ), ${eventAndDeliveries}
      select resolved_at, pg_notify('${resolutionChannel}', id) from resolved`,
    values: [
      where.workspaceId,
      where.id,
      status,
      status === "CANCELLED" ? null : resolution.byEmail,
      status === "CANCELLED" ? null : resolution.note,
      status === "APPROVED" ? resolution.edit : null,
      eventOfStatus(status),
    ],
  };
}

/** The approvals that one call has cancelled. */
export type CancelledApprovals = { ids: string[]; firstSummary: string };

/**
 * Cancels those of the given approvals that are pending and in time, with their events and deliveries. Null if it was
 * none. They are locked in the order of ids, like expiring ones, so that callers who overlap don't deadlock.
 */
export async function cancelMany(
  tx: Transaction,
  workspaceId: string,
  ids: string[],
): Promise<CancelledApprovals | null> {
  const { rows } = await tx.query<{ ids: string[]; first_summary: string }>({
    name: "approvals.cancelMany",
    text: `
      with open as (
        select id
        from approvals
        where workspace_id = $1 and id = any($2::text[]) and status = ${pending}
          and expires_at > now()
        order by id
        for update
      ), resolved as (
        update approvals a
        set status = 'CANCELLED', resolved_at = now_ms()
        where a.workspace_id = $1 and a.id = any (array(select id from open))
        returning a.workspace_id, a.id, a.resolved_at, a.summary, ${forEvent}
      ), ${eventAndDeliveries.replaceAll("$7", `'${eventOfStatus("CANCELLED")}'`)}
      ${announceResolved("array_agg(id order by id) as ids, min(summary) as first_summary")}`,
    values: [workspaceId, ids],
  });
  const [row] = rows;
  return row === undefined ? null : { ids: row.ids, firstSummary: row.first_summary };
}

/** How many of the given approvals have each final status. One past its end counts as expired. */
export async function countFinal(
  db: Queryable,
  workspaceId: string,
  ids: string[],
): Promise<{ status: ApprovalStatus; count: number }[]> {
  const { rows } = await db.query<{ status: ApprovalStatus; count: number }>(
    `select case when status = 'PENDING' then 'EXPIRED' else status end as status, count(*)::int as count
     from approvals
     where workspace_id = $1 and id = any($2::text[]) and (status <> 'PENDING' or expires_at <= now())
     group by 1
     order by 1`,
    [workspaceId, ids],
  );
  return rows;
}

/**
 * Expires the given approvals that are pending and past their time, with their events and deliveries. However many
 * callers race, one of them expires each approval.
 */
export async function expire(tx: Transaction, workspaceId: string, ids: string[]): Promise<void> {
  await tx.query({
    name: "approvals.expire",
    text: `
      with due as (
        select id
        from approvals
        where workspace_id = $1 and id = any($2::text[]) and status = ${pending}
          and expires_at <= now()
        order by id
        for update
      ), resolved as (
        update approvals a
        set status = 'EXPIRED', resolved_at = a.expires_at
        where a.workspace_id = $1 and a.id = any (array(select id from due))
        returning a.workspace_id, a.id, a.resolved_at, ${forEvent}
      ), ${eventAndDeliveries.replaceAll("$7", `'${eventOfStatus("EXPIRED")}'`)}
      ${announceResolved("count(*)")}`,
    values: [workspaceId, ids],
  });
}

/**
 * Expires up to `limit` approvals of any workspace whose time has passed, in the order of their ends, from
 * `from` on: a sweep over many need not walk again past those it has just expired. Answers how many, and the
 * last one's end. Approvals that others are about to resolve are skipped.
 */
export async function expireOverdue(
  tx: Transaction,
  { from, limit }: { from: Date | null; limit: number },
): Promise<{ expired: number; until: Date | null }> {
  const { rows } = await tx.query<{ expired: number; until: Date | null }>({
    name: "approvals.expireOverdue",
    text: `
      with due as (
        select ctid
        from approvals
        where status = 'PENDING' and expires_at <= now()
          and expires_at >= coalesce($1::timestamptz, '-infinity')
        order by expires_at
        limit $2
        for update skip locked
      ), resolved as (
        update approvals a
        set status = 'EXPIRED', resolved_at = a.expires_at
        where a.ctid = any (array(select ctid from due))
        returning a.workspace_id, a.id, a.resolved_at, ${forEvent}
      ), ${eventAndDeliveries.replaceAll("$7", `'${eventOfStatus("EXPIRED")}'`)}
      ${announceResolved("count(*)::int as expired, max(resolved_at) as until")}`,
    values: [from, limit],
  });
  return rows[0] ?? { expired: 0, until: null };
}

/** The given approvals that are no longer pending. For waiting callers whose wake-up was lost. */
export async function listResolvedIds(
  db: Queryable,
  waiting: { workspaceId: string; id: string }[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: "approvals.listResolvedIds",
    text: `
      select a.id
      from unnest($1::text[], $2::text[]) as waiting (workspace_id, id)
      cross join lateral (
        select a.id from approvals a
        where a.workspace_id = waiting.workspace_id and a.id = waiting.id and a.status <> 'PENDING'
        limit 1
      ) as a`,
    values: [waiting.map(({ workspaceId }) => workspaceId), waiting.map(({ id }) => id)],
  });
  return rows.map(({ id }) => id);
}

/** Wakes waiting callers. Names the ids while they are few. */
function announceResolved(columns: string): string {
  return `
      select ${columns}, pg_notify(
        '${resolutionChannel}',
        case when count(*) <= 100 then string_agg(id, ',') else '${manyResolved}' end
      )
      from resolved
      having count(*) > 0`;
}

// The event's id is made here, so that its deliveries need not look for it: a worker's sessions would compare each
// event of a large sweep with each approval.
const forEvent = `
  new_id('evt_') as event_id, a.callback_url,
  case when ${largeBytes} > ${claimedReadBytesMax} then ${largeWebhookWeight} else 1 end as weight`;

// A resolution writes its event and deliveries with it. Deliveries to a disabled endpoint are kept as skipped. The host of
// the request's own callback is its recipient.
const eventAndDeliveries = `
  event as (
    insert into events (workspace_id, id, approval_id, kind, created_at)
    select workspace_id, event_id, id, $7, resolved_at from resolved
  ), webhook as (
    insert into deliveries (workspace_id, event_id, channel, endpoint_id, recipient, state, weight)
    select resolved.workspace_id, resolved.event_id, 'webhook', e.id, null,
      case when e.disabled_at is null then 'due' else 'skipped' end, resolved.weight
    from resolved
    join endpoints e on e.workspace_id = resolved.workspace_id and e.deleted_at is null
      and (e.event_kinds is null or $7 = any (e.event_kinds))
    union all
    select workspace_id, event_id, 'callback', null, split_part(callback_url, '/', 3), 'due', weight
    from resolved
    where callback_url is not null
  )`;
