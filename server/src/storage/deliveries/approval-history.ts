// The history of one approval: who was asked and has looked, which mails and webhooks went out, and when. It is read
// from the rows that carry the work out, so it can only tell what was done.

import type { Queryable } from "../../database/database.ts";
import type { DeliveryState } from "../../domain/delivery/delivery.ts";
import { historyEntriesMax } from "../../domain/limits.ts";
import { successes } from "../../domain/shown/attempt.ts";
import { type Delivery, listOfApproval } from "./deliveries.ts";

export type HistoryReviewer = { email: string; openedAt: Date | null };

/** A mail or webhook that arrived, or that failed for good. */
export type Sent = { delivery: Delivery; at: Date; isDelivered: boolean };

export type ApprovalHistory = {
  reviewers: HistoryReviewer[];
  deliveries: Delivery[];
  sent: Sent[];
  /** The database's clock. */
  now: Date;
};

export async function readHistory(
  db: Queryable,
  approval: { workspaceId: string; id: string },
): Promise<ApprovalHistory> {
  const { reviewers, now } = await readReviewers(db, approval);
  const deliveries = await listOfApproval(db, approval, historyEntriesMax);
  const arrivals = await listArrivals(db, approval.workspaceId, deliveries);
  const failures = deliveries.filter(hasFailed).map((delivery) => ({
    delivery,
    at: delivery.finishedAt,
    isDelivered: false,
  }));
  return { reviewers, deliveries, sent: [...arrivals, ...failures], now };
}

async function readReviewers(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<{ reviewers: HistoryReviewer[]; now: Date }> {
  const { rows } = await db.query<{ email: string | null; opened_at: Date | null; now: Date }>(
    `select r.email, r.opened_at, now_ms() as now
     from (select $1::text as workspace_id, $2::text as approval_id) as asked
     left join reviewers r on r.workspace_id = asked.workspace_id and r.approval_id = asked.approval_id
     order by lower(r.email)`,
    [workspaceId, id],
  );
  const reviewers = rows.flatMap(({ email, opened_at: openedAt }) =>
    email === null ? [] : [{ email, openedAt }],
  );
  return { reviewers, now: (rows[0] as { now: Date }).now };
}

/** Each arrival of a delivery: one that was sent again may have arrived before. */
async function listArrivals(
  db: Queryable,
  workspaceId: string,
  deliveries: Delivery[],
): Promise<Sent[]> {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const { rows } = await db.query<{ delivery_id: string; finished_at: Date }>(
    `select delivery_id, finished_at
     from attempts
     where workspace_id = $1 and delivery_id = any ($2::text[]) and outcome = any ($3::text[])
     order by finished_at
     limit ${historyEntriesMax}`,
    [workspaceId, [...byId.keys()], successes],
  );
  return rows.flatMap(({ delivery_id: id, finished_at: at }) => {
    const delivery = byId.get(id);
    return delivery === undefined ? [] : [{ delivery, at, isDelivered: true }];
  });
}

function hasFailed(
  delivery: Delivery,
): delivery is Delivery & { state: Extract<DeliveryState, "failed">; finishedAt: Date } {
  return delivery.state === "failed" && delivery.finishedAt !== null;
}
