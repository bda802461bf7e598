// Revokes a key, and cancels what it has pending if that is wanted.

import type { Database } from "../../database/database.ts";
import { type ChangeRefusal, isRefusal } from "../../domain/refusal.ts";
import { type Doer, operator } from "../../domain/workspace/activity.ts";
import { awaitCreatesUnderWay, listPendingOfKey } from "../../storage/approvals/pending.ts";
import { announceDue } from "../../storage/deliveries/new-deliveries.ts";
import type * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { cancelIn } from "../approvals/cancel-many.ts";
import { inTransactionBy } from "../transaction-by.ts";
import { revokeKey } from "./issue-key.ts";

/**
 * The key goes first, so that it asks for nothing more meanwhile; then its requests, in batches. If that is cut short, it
 * can be said again: a key that was revoked before only has its requests cancelled.
 */
export async function revokeWithPending(
  db: Database,
  { id, cancelPending }: { id: string; cancelPending: boolean },
  by: Doer = operator,
): Promise<{ key: apiKeys.ApiKey; cancelled: number } | ChangeRefusal> {
  const key = await revokeKey(db, id, by);
  if (isRefusal(key)) return key;
  if (!cancelPending) return { key, cancelled: 0 };
  const cancelled = await cancelPendingOf(db, key, by);
  return isRefusal(cancelled) ? cancelled : { key, cancelled };
}

async function cancelPendingOf(
  db: Database,
  { id: keyId, workspaceId, name }: apiKeys.ApiKey,
  by: Doer,
): Promise<number | ChangeRefusal> {
  await awaitCreatesUnderWay(db);
  let cancelled = 0;
  for (let after: string | null = ""; after !== null; ) {
    const from: string = after;
    const step = await inTransactionBy(db, by, async (tx) => {
      const { ids, last } = await listPendingOfKey(tx, { workspaceId, keyId, after: from });
      const done =
        ids.length === 0
          ? []
          : await cancelIn(tx, { workspaceId, actor: by.actor, ids, why: { key: name } });
      if (done.length > 0) await announceDue(tx);
      return { count: done.length, last };
    });
    if (isRefusal(step)) return step;
    cancelled += step.count;
    after = step.last;
  }
  return cancelled;
}
