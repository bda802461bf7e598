// The trial: the workspace, owner and key that the first start of an empty service makes for the person at its
// terminal, the mark that lets the terminal decide, and their end when the service goes public.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { digestOfApiKey } from "../../domain/access/api-key.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { initialSettings } from "../../domain/workspace/workspace-settings.ts";
import type { Group } from "../../storage/people/groups.ts";
import * as members from "../../storage/people/members.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import { insertMember } from "../people/add-member.ts";
import { removeFromGroups } from "../people/manage-group.ts";
import * as memberships from "../people/memberships.ts";
import { insertSignInLink } from "../people/sign-in.ts";
import { applyKeyChanges, insertKey } from "./issue-key.ts";
import { applySettings } from "./manage-workspace.ts";

export const firstOwnerEmail = "owner@localhost";

/** Shown once, together. */
export type FirstSecrets = { key: string; signInToken: string };

/**
 * Makes a workspace, its owner, the given key and a sign-in link, all or nothing. Null when there is a workspace
 * already. The caller makes the key, so that a retry recognises a first try whose commit was not confirmed. With a mail
 * server it is no trial from the start.
 */
export async function runFirst(
  db: Database,
  keyring: Keyring,
  { key, isTrial }: { key: string; isTrial: boolean },
): Promise<FirstSecrets | null> {
  return inTransaction(db, async (tx) => {
    const isMade = (await apiKeys.findWorkspaceId(tx, digestOfApiKey(key))) !== null;
    if (!isMade) {
      if (await workspaces.exists(tx)) return null;
      const workspaceId = await insertFirstWorkspace(tx, key);
      if (isTrial) await workspaces.markTrial(tx, workspaceId);
    }
    return { key, signInToken: await insertSignInLink(tx, keyring, firstOwnerEmail) };
  });
}

async function insertFirstWorkspace(tx: Transaction, key: string): Promise<string> {
  const name = "My workspace";
  const { id: workspaceId } = await workspaces.insert(tx, { name, ...initialSettings });
  const entry = { workspaceId, actor: null };
  await activity.insert(tx, { ...entry, action: "workspace.created", subject: name });
  await insertMember(tx, { workspaceId, email: firstOwnerEmail, role: "owner" });
  await insertKey(tx, { workspaceId, name: "First key", key });
  return workspaceId;
}

/** From now on nobody decides from the terminal, and nothing brings that back: others may rely on this service. */
export async function unmarkTrial(db: Database): Promise<void> {
  await inTransaction(db, workspaces.unmarkTrials);
}

/** A workspace that the first owner was removed from, whether it has another owner, and groups left without anybody. */
export type EndedTrial = { workspaceId: string; hasOwner: boolean; emptyGroups: Group[] };

/**
 * Removes the first owner from every workspace and group, also as the one who is asked by default: nobody owns that
 * address on a public service, and any mail server may have a mailbox for it. Their sessions go with them. Unlike
 * members, an operator may leave a workspace without owners.
 */
export async function endTrial(db: Database): Promise<EndedTrial[]> {
  return inTransaction(db, async (tx) => {
    const ended: EndedTrial[] = [];
    for (const workspaceId of await workspaces.listIdsOf(tx, firstOwnerEmail)) {
      const workspace = await workspaces.lock(tx, workspaceId);
      if (workspace !== null) await forgetAsApprover(tx, workspace);
      const person = { workspaceId, email: firstOwnerEmail };
      const groups = await removeFromGroups(tx, { ...person, actor: null });
      const wasMember = await removeMember(tx, person);
      if (!wasMember && groups.length === 0) continue;
      ended.push({
        workspaceId,
        hasOwner: (await members.countOwners(tx, workspaceId)) > 0,
        // They were its only member.
        emptyGroups: groups.filter((group) => group.members.length === 1),
      });
    }
    return ended;
  });
}

/** Says whether they were a member. */
async function removeMember(
  tx: Transaction,
  person: { workspaceId: string; email: string },
): Promise<boolean> {
  const member = await members.findByEmail(tx, person);
  if (member === null) return false;
  const { workspaceId, email: subject, role } = member;
  const entry = { workspaceId, actor: null, subject, detail: { role } };
  await activity.insert(tx, { ...entry, action: "member.removed" });
  await memberships.remove(tx, member, null);
  return true;
}

/** As a default approver the address would go on deciding, or rather the stranger who has that mailbox. */
async function forgetAsApprover(tx: Transaction, workspace: workspaces.Workspace): Promise<void> {
  const { id, defaultApprover } = workspace;
  if (defaultApprover?.toLowerCase() === firstOwnerEmail) {
    await applySettings(tx, workspace, { ...workspace, defaultApprover: null });
  }
  for (const key of await apiKeys.listByDefaultApprover(tx, id, firstOwnerEmail)) {
    await applyKeyChanges(tx, key, { defaultApprover: null });
  }
}
