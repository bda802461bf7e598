// Changes and ends memberships in storage. The apps that a person connected go with the right to connect them, in the
// same transaction: otherwise they would come back to life with the person, who may have forgotten them.

import type { Transaction } from "../../database/database.ts";
import type { Actor } from "../../domain/workspace/activity.ts";
import { isAtLeast, type Role } from "../../domain/workspace/role.ts";
import * as members from "../../storage/people/members.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as connections from "../../storage/workspaces/connections.ts";

export async function setRole(
  tx: Transaction,
  member: members.Member,
  { role, actor }: { role: Role; actor: Actor },
): Promise<members.Member> {
  const changed = await members.setRole(tx, member, role);
  if (!isAtLeast(role, "admin")) await endConnectionsOf(tx, member, actor);
  return changed;
}

export async function remove(tx: Transaction, member: members.Member, actor: Actor): Promise<void> {
  await members.remove(tx, member);
  await endConnectionsOf(tx, member, actor);
}

/**
 * The member's row is locked by now, and keys come after it (transaction-by.ts). Codes on their way go, too: a person who
 * comes back within their minute must allow the app anew.
 */
async function endConnectionsOf(
  tx: Transaction,
  { workspaceId, email }: members.Member,
  actor: Actor,
): Promise<void> {
  await connections.deleteCodesOf(tx, { workspaceId, email });
  const reason = `${email} is no admin or owner any more`;
  for (const { apiKeyId } of await connections.listInUseOf(tx, { workspaceId, email })) {
    await endConnection(tx, { workspaceId, apiKeyId }, { actor, reason });
  }
}

/** Writes why. A connection that ended before stays as it is. */
export async function endConnection(
  tx: Transaction,
  { workspaceId, apiKeyId }: { workspaceId: string; apiKeyId: string },
  { actor, reason, by }: { actor: Actor; reason: string; by?: "countersign" },
): Promise<void> {
  const key = await apiKeys.lock(tx, { workspaceId, id: apiKeyId });
  if (key === null || key.revokedAt !== null) return;
  const detail = { reason, ...(by === undefined ? {} : { by }) };
  const entry = { workspaceId, actor, subject: key.name, detail };
  await activity.insert(tx, { ...entry, action: "key.revoked" });
  await apiKeys.revoke(tx, key);
}
