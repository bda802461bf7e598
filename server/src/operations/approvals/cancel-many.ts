// Cancels many pending approvals at once. Each ends as if it had been cancelled alone, with its event and webhooks;
// approvals that were resolved in between stay as they are, and are told.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { type Actor, type MemberDoer, operator } from "../../domain/workspace/activity.ts";
import * as approvalResolution from "../../storage/approvals/approval-resolution.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTransactionBy } from "../transaction-by.ts";

export type Cancellation = {
  cancelled: number;
  /** The others, by the status that they had already. Unknown ids count nowhere. */
  resolvedBefore: { status: ApprovalStatus; count: number }[];
};

/** `why` goes into the activity, such as the filter that the member chose. */
export async function cancelMany(
  db: Database,
  { ids, why = {} }: { ids: string[]; why?: Record<string, string> },
  by: MemberDoer,
): Promise<Cancellation | Refusal<"forbidden">> {
  const { workspaceId, actor } = by;
  const cancelled = await inTransactionBy(db, by, (tx) =>
    cancelIn(tx, { workspaceId, actor, ids, why }),
  );
  if (isRefusal(cancelled)) return cancelled;
  const done = new Set(cancelled);
  const others = ids.filter((id) => !done.has(id));
  const resolvedBefore =
    others.length === 0 ? [] : await approvalResolution.countFinal(db, workspaceId, others);
  return { cancelled: done.size, resolvedBefore };
}

/** One at a time, so that each keeps its place in the activity. False if it was resolved before. */
export async function cancelByOperator(
  db: Database,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const { actor } = operator;
  return inTransaction(db, async (tx) => {
    const ids = await cancelIn(tx, { workspaceId, actor, ids: [id] });
    if (ids.length > 0) await newDeliveries.announceDue(tx);
    return ids.length > 0;
  });
}

type CancelledBy = {
  workspaceId: string;
  actor: Actor;
  ids: string[];
  why?: Record<string, string>;
};

/** Part of a larger change. Answers the ids that it has cancelled. */
export async function cancelIn(tx: Transaction, by: CancelledBy): Promise<string[]> {
  const { workspaceId, actor, why = {} } = by;
  const ids = await approvalResolution.cancelMany(tx, workspaceId, by.ids);
  if (ids.length === 0) return [];
  const [request = ""] = ids;
  const count = String(ids.length);
  await activity.insert(
    tx,
    ids.length === 1
      ? {
          ...{ workspaceId, actor, subject: request },
          action: "request.withdrawn",
          detail: { request, ...why },
        }
      : {
          ...{ workspaceId, actor, subject: `${count} requests` },
          action: "requests.cancelled",
          detail: { count, ...why, requests: ids.join(" ") },
        },
  );
  return ids;
}
