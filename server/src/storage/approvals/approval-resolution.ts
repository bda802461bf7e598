// The one way out of PENDING: a decision, a cancel, or the end of the time. Each writes the event and its deliveries
// with it, and announces the change to waiting callers.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import { eventOfStatus } from "../../domain/approval/event.ts";
import { claimedReadBytesMax, largeWebhookWeight } from "../../domain/limits.ts";
import type { ShownEvidence } from "../../domain/proof/evidence.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import { isOwnerSince } from "../workspaces/key-owners.ts";
import { largeBytes, pending } from "./approvals.ts";
import { evidenceColumns, evidenceTerms, evidenceValues, voteColumns } from "./evidence-columns.ts";

/** Every change out of PENDING is announced here, so that waiting callers on every node wake. */
export const resolutionChannel = "countersign_resolved";
/** Announced in place of a list of ids that would be too long. */
export const manyResolved = "*";

export type DecidedResolution =
  | { status: "APPROVED"; byEmail: string; note: string | null; edit: JsonText | null }
  | { status: "REJECTED"; byEmail: string; note: string | null };
export type Cancel = { status: "CANCELLED" };

/** Where one person decided. The event tells, unless it was by the link in their mail. */
export type DecidedVia = "link" | "inbox" | "slack";

/** How one person decided: a decision is never recorded without its evidence. */
export type Deciding = { via: DecidedVia; evidence: ShownEvidence };

/** A person's decision, or an agent's cancel. */
export type How = [Cancel] | [DecidedResolution, Deciding];

export type Where = { workspaceId: string; id: string };

/**
 * Resolves a pending approval whose time has not passed, with its event and that event's deliveries. Says when, or null if this call did not do it: of any number of racing calls, one does. Only a member decides for a
 * group that was asked. The membership is locked until the commit, so that nobody decides after their removal. One
 * person alone never decides where people have seats, and the owner of the key never decides.
 */
export async function resolve(tx: Transaction, where: Where, ...how: How): Promise<Date | null> {
  const { rows } = await tx.query<{ resolved_at: Date }>(resolutionQuery(where, ...how));
  return rows[0]?.resolved_at ?? null;
}

/** The statement with its values; the benchmark runs the very same one. */
export function resolutionQuery(where: Where, ...[resolution, deciding]: How) {
  const { status } = resolution;
  const via = deciding?.via ?? "link";
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
          and ($4 is null or not a.has_seats and (
            -- Most keys have no owner. A single value is looked up by key; \`exists\` would read all keys of the workspace.
            select ${isOwnerSince("k", "$4", "a.created_at")}
            from api_keys k where k.workspace_id = $1 and k.id = a.key_id
          ) is not true)
        returning a.workspace_id, a.id, a.resolved_at, ${forEvent}
      ), evidence as (
        insert into evidence (${voteColumns}, ${evidenceColumns})
        select workspace_id, id, 1, person_of($4), $4, null, case $3 when 'APPROVED' then 'approve' else 'reject' end,
          resolved_at, ${evidenceTerms(9, "resolved_at")}
        from resolved
        where $3 <> 'CANCELLED'
      ), ${eventAndDeliveries("$8::jsonb")}
      select resolved_at, pg_notify('${resolutionChannel}', id) from resolved`,
    values: [
      where.workspaceId,
      where.id,
      status,
      status === "CANCELLED" ? null : resolution.byEmail,
      status === "CANCELLED" ? null : resolution.note,
      status === "APPROVED" ? resolution.edit : null,
      eventOfStatus(status),
      via === "link" ? null : { via },
      ...evidenceValues(deciding?.evidence ?? null),
    ],
  };
}

/**
 * When the request was resolved in exactly this way, or null. Waits for whoever is about to resolve it: a session whose
 * connection was lost may still be at it.
 */
export async function findDone(
  tx: Transaction,
  { workspaceId, id }: Where,
  resolution: Cancel | DecidedResolution,
): Promise<Date | null> {
  const { status } = resolution;
  const { rows } = await tx.query<{ resolved_at: Date }>({
    name: "approvals.findDone",
    text: `
      with found as (
        select status, resolved_at, resolved_by_email, resolution_note, edit
        from approvals
        where workspace_id = $1 and id = $2
        for share
      )
      select resolved_at from found
      where status = $3 and resolved_by_email is not distinct from $4
        and resolution_note is not distinct from $5 and edit is not distinct from $6`,
    values: [
      ...[workspaceId, id, status],
      status === "CANCELLED" ? null : resolution.byEmail,
      status === "CANCELLED" ? null : resolution.note,
      status === "APPROVED" ? resolution.edit : null,
    ],
  });
  return rows[0]?.resolved_at ?? null;
}

/**
 * Resolves a pending approval by the votes that were cast, under its lock. PostgreSQL refuses it if they are too few.
 * `at` is when the last one was cast.
 */
export async function resolveByVotes(
  tx: Transaction,
  where: { workspaceId: string; id: string },
  resolution: DecidedResolution,
  at: Date,
): Promise<void> {
  const { status, byEmail, note } = resolution;
  const { rowCount } = await tx.query({
    name: "approvals.resolveByVotes",
    text: `
      with resolved as (
        update approvals a
        set status = $3, resolved_at = $8, resolved_by_email = $4, resolution_note = $5, edit = $6
        where workspace_id = $1 and id = $2 and status = ${pending} and has_seats
        returning a.workspace_id, a.id, a.resolved_at, ${forEvent}
      ), ${eventAndDeliveries()}
      select resolved_at, pg_notify('${resolutionChannel}', id) from resolved`,
    values: [
      ...[where.workspaceId, where.id, status, byEmail, note],
      ...[status === "APPROVED" ? resolution.edit : null, eventOfStatus(status), at],
    ],
  });
  if (rowCount !== 1) throw new Error(`approval ${where.id} is not pending under its own lock`);
}

/**
 * Cancels those of the given approvals that are pending and in time, with their events and deliveries. Answers
 * the ids of those. They are locked in the order of ids, like expiring ones, so that callers who overlap don't deadlock.
 */
export async function cancelMany(
  tx: Transaction,
  workspaceId: string,
  ids: string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ ids: string[] }>({
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
        returning a.workspace_id, a.id, a.resolved_at, ${forEvent}
      ), ${eventAndDeliveries().replaceAll("$7", `'${eventOfStatus("CANCELLED")}'`)}
      ${announceResolved("array_agg(id order by id) as ids")}`,
    values: [workspaceId, ids],
  });
  return rows[0]?.ids ?? [];
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
      ), ${eventAndDeliveries().replaceAll("$7", `'${eventOfStatus("EXPIRED")}'`)}
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
      ), ${eventAndDeliveries().replaceAll("$7", `'${eventOfStatus("EXPIRED")}'`)}
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
  new_id('evt_') as event_id, a.callback_url, a.voting is not null as tells_people, a.resolved_by_email as decided_by,
  case when ${largeBytes} > ${claimedReadBytesMax} then ${largeWebhookWeight} else 1 end as weight`;

// A resolution writes its event and deliveries with it. Deliveries to a disabled endpoint are kept as skipped. The host of
// the request's own callback is its recipient. Where several people decide, the others learn the outcome by mail.
const eventAndDeliveries = (detail = "null::jsonb") => `
  event as (
    insert into events (workspace_id, id, approval_id, kind, created_at, detail)
    select workspace_id, event_id, id, $7, resolved_at, ${detail} from resolved
  ), webhook as (
    insert into deliveries (workspace_id, event_id, channel, endpoint_id, reviewer_id, recipient, state, weight)
    select resolved.workspace_id, resolved.event_id, 'webhook', e.id, null, null,
      case when e.disabled_at is null then 'due' else 'skipped' end, resolved.weight
    from resolved
    join endpoints e on e.workspace_id = resolved.workspace_id and e.deleted_at is null
      and (e.event_kinds is null or $7 = any (e.event_kinds))
    union all
    select workspace_id, event_id, 'callback', null, null, split_part(callback_url, '/', 3), 'due', weight
    from resolved
    where callback_url is not null
    union all
    select resolved.workspace_id, resolved.event_id, 'mail', null, r.id, null, 'due', 1
    from resolved
    cross join lateral (
      select min(r.id) as id from reviewers r
      where r.approval_id = resolved.id and r.workspace_id = resolved.workspace_id
        and person_of(r.email) is distinct from person_of(resolved.decided_by)
      group by person_of(r.email)
    ) as r
    where resolved.tells_people
  )`;
