// The rules about default approvers that need the database: a default names somebody who can be asked when it is set, and
// a group or a member stays for as long as they are somebody's default.

import type { Queryable, Transaction } from "../../database/database.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { parseNotify } from "../../domain/workspace/notify.ts";
import { flawOfDefaultApprover } from "../../domain/workspace/workspace-settings.ts";
import * as groups from "../../storage/people/groups.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";

const field = "defaultApprover";

/** A group that does not exist, or that the plan does not have, would fail at the first request. */
export async function refuseDefaultApprover(
  tx: Transaction,
  workspaceId: string,
  approver: string | null,
): Promise<ChangeRefusal | null> {
  const flaw = flawOfDefaultApprover(approver);
  if (flaw !== null) return refuseField(field, flaw);
  const named = approver === null ? null : parseNotify(approver);
  if (named === null || "flaw" in named || named.kind === "address") return null;
  const plan = await workspaces.findPlan(tx, workspaceId);
  if (plan !== null && !plan.hasGroups) {
    const message = `${field}: approver groups are not part of the ${plan.name} plan; name an e-mail address`;
    return { ...refuse("plan_required", message), field };
  }
  if (await groups.lockByKey(tx, { workspaceId, key: named.key })) return null;
  return refuseField(
    field,
    `this workspace has no group with the key ${named.key}; create it first`,
  );
}

/** Where an approver is the default: in the workspace itself, and in keys that are in use. */
export type DefaultUses = { isOfWorkspace: boolean; keys: { id: string; name: string }[] };

/** An address is found in any spelling: the mails reach the same person. */
export async function findDefaultUses(
  db: Queryable,
  workspaceId: string,
  approver: string,
): Promise<DefaultUses> {
  const workspace = await workspaces.find(db, workspaceId);
  const keys = await apiKeys.listByDefaultApprover(db, workspaceId, approver);
  return {
    isOfWorkspace: workspace?.defaultApprover?.toLowerCase() === approver.toLowerCase(),
    keys: keys.map(({ id, name }) => ({ id, name })),
  };
}

/**
 * For a group that somebody wants to delete, or a person who is to leave. The agents' requests would fail, go to
 * somebody who has left, or, for a key, silently go to the workspace's default: people choose the next approver
 * themselves.
 */
export async function refuseWhileDefault(
  tx: Transaction,
  workspaceId: string,
  approver: string,
): Promise<ChangeRefusal | null> {
  const { isOfWorkspace, keys } = await findDefaultUses(tx, workspaceId, approver);
  const users = [
    ...(isOfWorkspace ? ["this workspace"] : []),
    ...keys.map(({ name }) => `the key “${name}”`),
  ];
  if (users.length === 0) return null;
  return refuse(
    "conflict",
    `${approver} is the default approver of ${users.join(", ")}; choose another one there first`,
  );
}
