// Makes deliveries due again: one that somebody wants sent again, or all that failed or were skipped.

import type { Queryable, Transaction } from "../../database/database.ts";
import { askingKinds, outcomeKinds } from "../../domain/approval/event.ts";
import { mailRoundsMax } from "../../domain/limits.ts";
import { isOpen, mayStillDecide } from "../approvals/may-still-decide.ts";
import { cutShort, isUnleased } from "./claims.ts";
import type { Delivery } from "./deliveries.ts";

// A worker that still held it, from before its lease ran out, can't record anything any more. The mail goes out alone; a
// digest in which it left before still lists it.
export const beginRound = `
  state = 'due', due_at = now_ms(), finished_at = null, round = round + 1, attempts_before = attempts,
  lease_token = null, leased_until = null, mailbox = case when state = 'delivered' then mailbox end,
  digest_id = case when state = 'delivered' then digest_id end`;
const isIdle = isUnleased("deliveries");

const outcomes = listOf(outcomeKinds);
/** Reminders say nothing that the mail before them does not say. */
const againKinds = listOf(
  askingKinds.filter((kind) => kind !== "request.reminded" && kind !== "request.expiring"),
);

function listOf(kinds: readonly string[]): string {
  return kinds.map((kind) => `'${kind}'`).join(", ");
}

/** Makes a delivery due again, with a round of retries of its own. False while an attempt is under way. */
export async function resend(
  tx: Transaction,
  delivery: { workspaceId: string; id: string },
): Promise<boolean> {
  const { rows } = await tx.query(
    `with begun as (
       update deliveries set ${beginRound} where workspace_id = $1 and id = $2 and ${isIdle}
       returning workspace_id, id, attempts
     ), cut_short as (${cutShort("begun")}
     )
     select id from begun`,
    [delivery.workspaceId, delivery.id],
  );
  return rows.length === 1;
}

/** Somebody asked for this mail a moment ago, or very often. */
export async function isMailedTooOften(
  db: Queryable,
  { workspaceId, id }: Pick<Delivery, "workspaceId" | "id">,
): Promise<boolean> {
  const { rows } = await db.query<{ is_too_often: boolean }>(
    `select not (${mayMailAgain}) as is_too_often from deliveries where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
  return rows[0]?.is_too_often ?? false;
}

/** Reviewers who were mailed a moment ago, or very often, are left alone. */
const mayMailAgain = `round < ${mailRoundsMax}
  and (state <> 'delivered' or finished_at < now() - interval '1 minute')`;

/**
 * Makes the mails that ask for a decision about a pending approval due again, for everybody who may still decide: of
 * each person the newest that asks them. Answers how many, and how many were left alone because an attempt is under way.
 */
export async function resendReviewMails(
  tx: Transaction,
  approval: { workspaceId: string; approvalId: string },
): Promise<{ sent: number; underWay: number }> {
  const { rows } = await tx.query<{ sent: number; under_way: number }>(
    `with mail as (
       select distinct on (d.reviewer_id) d.workspace_id, d.id
       from approvals a
       join events ev on ev.workspace_id = a.workspace_id and ev.approval_id = a.id
         and (ev.kind = 'request.created' or a.has_seats and ev.kind in (${againKinds}))
       join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id and d.channel = 'mail'
       join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where a.workspace_id = $1 and a.id = $2 and ${mayStillDecide("a", "r")}
       order by d.reviewer_id, d.id desc
     ), begun as (
       update deliveries
       set ${beginRound}
       where workspace_id = $1 and id = any (array(select id from mail)) and ${isIdle}
         and ${mayMailAgain}
       returning workspace_id, id, attempts
     ), cut_short as (${cutShort("begun")}
     )
     select (select count(*)::int from begun) as sent,
       (select count(*)::int from mail) - (select count(*)::int from begun) as under_way`,
    [approval.workspaceId, approval.approvalId],
  );
  const { sent = 0, under_way: underWay = 0 } = rows[0] ?? {};
  return { sent, underWay };
}

/**
 * Makes up to `limit` deliveries of a workspace due again that failed or were skipped since a time: webhooks to enabled
 * endpoints, and failed mails to reviewers, but none that asks about a request that is over. Answers their ids, the oldest first. The next call
 * continues after the last, so that none is taken twice if it fails again in between.
 */
export async function resendUnsuccessful(
  tx: Transaction,
  since: {
    workspaceId: string;
    endpointId: string | null;
    time: Date;
    afterId: string;
    limit: number;
  },
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update deliveries
     set ${beginRound}
     where workspace_id = $1 and id = any (array(
       select d.id
       from deliveries d
       join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
       left join endpoints e on e.workspace_id = d.workspace_id and e.id = d.endpoint_id
       left join approvals a on a.workspace_id = ev.workspace_id and a.id = ev.approval_id
       where d.workspace_id = $1 and d.id > $5 and d.state in ('failed', 'skipped')
         and coalesce(d.finished_at, greatest(d.created_at, d.due_at)) >= $2
         and ($3::text is null or d.endpoint_id = $3)
         and case d.channel
           when 'webhook' then e.disabled_at is null
           when 'mail' then d.state = 'failed' and d.reviewer_id is not null
             and (${isOpen("a")} or ev.kind in (${outcomes}))
           else true end
       order by d.id
       limit $4
       for update of d skip locked
     ))
     returning id`,
    [since.workspaceId, since.time, since.endpointId, since.limit, since.afterId],
  );
  return rows.map(({ id }) => id).sort();
}
