// Opens the transaction of a change and looks up the person who makes it: since their call was admitted they may have
// been removed or given another role. Their row stays locked to the end. Locks are always taken in one order, against
// deadlocks: the workspace, if changes must see each other; then the person; then the changed row.

import { type Database, inTransaction, type Transaction } from "../database/database.ts";
import { type ChangeRefusal, isRefusal, type Refusal, refuse } from "../domain/refusal.ts";
import type { Doer } from "../domain/workspace/activity.ts";
import { isAtLeast } from "../domain/workspace/role.ts";
import * as members from "../storage/people/members.ts";
import * as workspaces from "../storage/workspaces/workspaces.ts";

/** For changes that may run side by side. The operator may make them all. */
export async function inTransactionBy<Result>(
  db: Database,
  { actor, workspaceId }: Doer,
  change: (tx: Transaction, doer: members.Member | null) => Promise<Result>,
): Promise<Result | Refusal<"forbidden">> {
  return inTransaction(db, async (tx) => {
    const doer = actor === null ? null : await lockDoer(tx, { email: actor, workspaceId });
    return isRefusal(doer) ? doer : change(tx, doer);
  });
}

export type Turn = {
  workspace: workspaces.Workspace;
  /** Null is the operator. */
  doer: members.Member | null;
};

/** For changes of one workspace that run one after the other, because they count something, such as its owners. */
export async function inTurnBy<Result>(
  db: Database,
  workspaceId: string,
  { actor }: Doer,
  change: (tx: Transaction, turn: Turn) => Promise<Result>,
): Promise<Result | ChangeRefusal> {
  return inTransaction(db, async (tx) => {
    const workspace = await workspaces.lock(tx, workspaceId);
    if (workspace === null) return unknownWorkspace(workspaceId);
    const doer = actor === null ? null : await lockDoer(tx, { email: actor, workspaceId });
    return isRefusal(doer) ? doer : change(tx, { workspace, doer });
  });
}

/** Every change needs at least an admin. A change that only owners may make checks that itself. */
async function lockDoer(
  tx: Transaction,
  who: { workspaceId: string; email: string },
): Promise<members.Member | Refusal<"forbidden">> {
  const member = await members.lockByEmail(tx, who);
  const may = member !== null && member.joinedAt !== null && isAtLeast(member.role, "admin");
  return may
    ? member
    : refuse(
        "forbidden",
        "You are no admin or owner of this workspace any more, so nothing was changed. Ask one of them.",
      );
}

/** For a change that only owners may make, after its doer was looked up. `what` is named to others. */
export function refuseUnlessOwner(
  doer: members.Member | null,
  what: string,
): Refusal<"forbidden"> | null {
  if (doer === null || doer.role === "owner") return null;
  return refuse("forbidden", `only owners may ${what}; ask one of them`);
}

export function unknownWorkspace(id: string): ChangeRefusal {
  return refuse(
    "not_found",
    `there is no workspace ${id}; \`countersign workspace list\` shows all`,
  );
}
