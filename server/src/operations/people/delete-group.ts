// Deletes an approver group. Agents that ask it are refused from then on, and its pending requests are cancelled, because
// nobody could decide them any more. Decided requests keep its name.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { type ChangeRefusal, isRefusal } from "../../domain/refusal.ts";
import { cancelledAtOnceMax } from "../../domain/shown/field-limits.ts";
import { type Actor, type Doer, operator } from "../../domain/workspace/activity.ts";
import { nameOfGroup } from "../../domain/workspace/notify.ts";
import { listIdsAwaiting, listStranded } from "../../storage/approvals/pending.ts";
import { announceDue } from "../../storage/deliveries/new-deliveries.ts";
import * as groups from "../../storage/people/groups.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { cancelIn } from "../approvals/cancel-many.ts";
import { inTransactionBy } from "../transaction-by.ts";
import { refuseWhileDefault } from "./default-approvers.ts";
import { unknownGroup } from "./manage-group.ts";

/**
 * Cancels in batches; the last one deletes the group. A request that is being created at this very moment may be written
 * after that: the worker cancels it (cancelStranded), because waiting for each other would slow every create.
 */
export async function deleteGroup(
  db: Database,
  id: string,
  by: Doer = operator,
): Promise<{ group: groups.Group; cancelled: number } | ChangeRefusal> {
  for (let cancelled = 0; ; ) {
    const step = await inTransactionBy(db, by, async (tx) => {
      const group = await groups.lock(tx, { workspaceId: by.workspaceId, id });
      if (group === null) return unknownGroup(id, by);
      const approver = nameOfGroup(group.key);
      const refused = await refuseWhileDefault(tx, group.workspaceId, approver);
      return refused ?? deleteSome(tx, group, by.actor);
    });
    if (isRefusal(step)) return step;
    cancelled += step.cancelled;
    if (step.isDone) return { group: step.group, cancelled };
  }
}

async function deleteSome(tx: Transaction, group: groups.Group, actor: Actor) {
  const { workspaceId, id, key, name: subject, members } = group;
  const asked = { workspaceId, approver: id, limit: cancelledAtOnceMax };
  const ids = await listIdsAwaiting(tx, asked);
  const cancelled = await cancelIn(tx, { workspaceId, actor, ids, why: { group: subject } });
  if (cancelled.length > 0) await announceDue(tx);
  const isDone = ids.length < cancelledAtOnceMax;
  if (isDone) {
    await groups.remove(tx, group);
    const detail = { key, ...(members.length === 0 ? {} : { members: members.join(", ") }) };
    await activity.insert(tx, { workspaceId, actor, action: "group.deleted", subject, detail });
  }
  return { group, cancelled: cancelled.length, isDone };
}

/** Cancels what was created for groups while they were deleted, in the name of the person who deleted. Says how many. */
export async function cancelStranded(db: Database): Promise<number> {
  let cancelled = 0;
  for (const { group, deletedBy, ...stranded } of await listStranded(db, cancelledAtOnceMax)) {
    await inTransaction(db, async (tx) => {
      const ids = await cancelIn(tx, { ...stranded, actor: deletedBy, why: { group } });
      cancelled += ids.length;
    });
  }
  return cancelled;
}
