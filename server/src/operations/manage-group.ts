// Creates approver groups and changes who is in them.

import { flawOfEmailAddress } from "../domain/email-address.ts";
import { isGroupKey } from "../domain/group.ts";
import { groupMembersMax } from "../domain/limits.ts";
import { flawOfName } from "../domain/name.ts";
import { type Refusal, refuse } from "../domain/refusal.ts";
import { type Database, inTransaction, type Transaction } from "../storage/database.ts";
import * as groups from "../storage/groups.ts";
import * as workspaces from "../storage/workspaces.ts";
import { unknownWorkspace } from "./manage-workspace.ts";

export type GroupInput = { workspaceId: string; key: string; name: string; members: string[] };

export async function createGroup(
  db: Database,
  input: GroupInput,
): Promise<groups.Group | Refusal> {
  const flaw = flawOfGroup(input);
  if (flaw !== null) return refuse("validation_error", flaw);
  return inTransaction(db, async (tx) => {
    const workspace = await workspaces.find(tx, input.workspaceId);
    if (workspace === null) return unknownWorkspace(input.workspaceId);
    const groupId = await groups.insert(tx, input);
    if (groupId === null) {
      return refuse("validation_error", `key: this workspace has a group ${input.key} already`);
    }
    for (const email of input.members) {
      await groups.insertMember(tx, { workspaceId: input.workspaceId, groupId, email });
    }
    return (await groups.find(tx, groupId)) ?? unknownGroup(groupId);
  });
}

export async function addGroupMember(
  db: Database,
  id: string,
  email: string,
): Promise<groups.Group | Refusal> {
  const flaw = flawOfEmailAddress(email);
  if (flaw !== null) return refuse("validation_error", `email: ${flaw}`);
  return changeMembers(db, id, async (tx, group) => {
    if (group.members.length >= groupMembersMax) {
      return refuse("validation_error", `a group may have at most ${groupMembersMax} members`);
    }
    await groups.insertMember(tx, { workspaceId: group.workspaceId, groupId: group.id, email });
    return null;
  });
}

/** Whoever is removed can no longer decide, not even what they were asked before. */
export async function removeGroupMember(
  db: Database,
  id: string,
  email: string,
): Promise<groups.Group | Refusal> {
  return changeMembers(db, id, async (tx, group) => {
    const member = { workspaceId: group.workspaceId, groupId: group.id, email };
    const wasRemoved = await groups.removeMember(tx, member);
    return wasRemoved ? null : refuse("not_found", `${email} is not a member of this group`);
  });
}

async function changeMembers(
  db: Database,
  id: string,
  change: (tx: Transaction, group: groups.Group) => Promise<Refusal | null>,
): Promise<groups.Group | Refusal> {
  return inTransaction(db, async (tx) => {
    const group = await groups.lock(tx, id);
    if (group === null) return unknownGroup(id);
    const refusal = await change(tx, group);
    return refusal ?? (await groups.find(tx, id)) ?? unknownGroup(id);
  });
}

function flawOfGroup({ key, name, members }: GroupInput): string | null {
  if (!isGroupKey(key)) {
    return "key: must have 1 to 64 characters, lower-case letters, digits, _ and -, and begin with a letter or digit";
  }
  const nameFlaw = flawOfName(name);
  if (nameFlaw !== null) return `name: ${nameFlaw}`;
  if (members.length > groupMembersMax) {
    return `member: a group may have at most ${groupMembersMax} members`;
  }
  const flaws = members.map((email) => ({ email, flaw: flawOfEmailAddress(email) }));
  const flawed = flaws.find(({ flaw }) => flaw !== null);
  return flawed === undefined ? null : `member ${flawed.email}: ${flawed.flaw}`;
}

function unknownGroup(id: string): Refusal {
  return refuse("not_found", `there is no group ${id}; \`countersign group list\` shows all`);
}
