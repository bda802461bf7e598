// Creates and renames approver groups and changes their members.

import type { Database, Transaction } from "../../database/database.ts";
import { groupMembersMax, groupsPerWorkspaceMax } from "../../domain/limits.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { type Actor, type Doer, fromTo, operator } from "../../domain/workspace/activity.ts";
import { flawOfEmailAddress, normaliseEmailAddress } from "../../domain/workspace/email-address.ts";
import { isGroupKey } from "../../domain/workspace/group.ts";
import { flawOfName } from "../../domain/workspace/name.ts";
import * as groups from "../../storage/people/groups.ts";
import type * as members from "../../storage/people/members.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import {
  inTransactionBy,
  inTurnBy,
  refuseUnlessOwner,
  unknownWorkspace,
} from "../transaction-by.ts";

export type GroupInput = { workspaceId: string; key: string; name: string; members: string[] };

export async function createGroup(
  db: Database,
  input: GroupInput,
  by: Doer = operator,
): Promise<groups.Group | ChangeRefusal> {
  const refused = refuseGroup(input);
  if (refused !== null) return refused;
  const { workspaceId, key, name } = input;
  const { actor } = by;
  return inTurnBy(db, workspaceId, by, async (tx) => {
    const refusedHere =
      (await refusePlan(tx, { actor, workspaceId })) ?? (await refuseMore(tx, workspaceId));
    if (refusedHere !== null) return refusedHere;
    const id = await groups.insert(tx, input);
    if (id === null) return refuseField("key", `this workspace has a group ${key} already`);
    for (const email of input.members) {
      await groups.insertMember(tx, { workspaceId, groupId: id, email });
    }
    const group = await groups.get(tx, { workspaceId, id });
    const members = group.members.length === 0 ? {} : { members: group.members.join(", ") };
    const entry = { workspaceId, actor, subject: name, detail: { key, ...members } };
    await activity.insert(tx, { ...entry, action: "group.created" });
    return group;
  });
}

/** Agents keep using the group's key. Earlier requests keep the name they were asked under. */
export async function renameGroup(
  db: Database,
  { id, name }: { id: string; name: string },
  by: Doer = operator,
): Promise<groups.Group | ChangeRefusal> {
  const flaw = flawOfName(name);
  if (flaw !== null) return refuseField("name", flaw);
  return changeLocked(db, id, by, async (tx, { workspaceId, name: was }) => {
    const refused = await refusePlan(tx, { actor: by.actor, workspaceId });
    if (refused !== null || was === name) return refused;
    await groups.rename(tx, { workspaceId, id }, name);
    const entry = { workspaceId, actor: by.actor, subject: name, detail: { from: was } };
    await activity.insert(tx, { ...entry, action: "group.renamed" });
    return null;
  });
}

/** Holds for requests that are created from then on. */
export async function setGroupSignature(
  db: Database,
  { id, requiresSignature }: { id: string; requiresSignature: boolean },
  by: Doer = operator,
): Promise<groups.Group | ChangeRefusal> {
  return changeLocked(db, id, by, async (tx, { workspaceId, name: subject, ...was }, doer) => {
    const refused =
      refuseUnlessOwner(doer, "change whether a group must sign") ??
      (await refusePlan(tx, { actor: by.actor, workspaceId }));
    if (refused !== null || was.requiresSignature === requiresSignature) return refused;
    await groups.setSignature(tx, { workspaceId, id }, requiresSignature);
    const detail = {
      requiresSignature: fromTo(onOff(!requiresSignature), onOff(requiresSignature)),
    };
    const entry = { workspaceId, actor: by.actor, subject, detail };
    await activity.insert(tx, { ...entry, action: "group.changed" });
    return null;
  });
}

function onOff(isOn: boolean): string {
  return isOn ? "on" : "off";
}

export async function addGroupMember(
  db: Database,
  id: string,
  email: string,
  by: Doer = operator,
): Promise<groups.Group | ChangeRefusal> {
  const flaw = flawOfEmailAddress(email);
  if (flaw !== null) return refuseField("email", flaw);
  return changeLocked(db, id, by, async (tx, group) => {
    const { workspaceId, members, name: subject } = group;
    const refused = await refusePlan(tx, { actor: by.actor, workspaceId });
    if (refused !== null || isAmong(members, email)) return refused;
    if (members.length >= groupMembersMax) {
      return refuse("validation_error", `a group may have at most ${groupMembersMax} members`);
    }
    await groups.insertMember(tx, { workspaceId, groupId: id, email });
    const entry = { workspaceId, actor: by.actor, subject, detail: { email } };
    await activity.insert(tx, { ...entry, action: "group.member_added" });
    return null;
  });
}

/** A removed member can no longer decide, not even earlier requests. Removing is therefore allowed on every plan. */
export async function removeGroupMember(
  db: Database,
  id: string,
  email: string,
  by: Doer = operator,
): Promise<groups.Group | ChangeRefusal> {
  const isAddress = flawOfEmailAddress(email) === null;
  return changeLocked(db, id, by, async (tx, { workspaceId, name: subject }) => {
    const member = { workspaceId, groupId: id, email };
    const wasRemoved = isAddress && (await groups.removeMember(tx, member));
    if (!wasRemoved) return refuse("not_found", `${email} is not a member of this group`);
    const entry = { workspaceId, actor: by.actor, subject, detail: { email } };
    await activity.insert(tx, { ...entry, action: "group.member_removed" });
    return null;
  });
}

/** Removes a person from every group of a workspace, as part of their removal. Answers those groups. */
export async function removeFromGroups(
  tx: Transaction,
  { workspaceId, email, actor }: { workspaceId: string; email: string; actor: Actor },
): Promise<groups.Group[]> {
  const found = await groups.lockOfMember(tx, { workspaceId, email });
  const groupIds = found.map(({ id }) => id);
  await groups.removeFromMany(tx, { workspaceId, groupIds, email });
  for (const { name: subject } of found) {
    const entry = { workspaceId, actor, subject, detail: { email } };
    await activity.insert(tx, { ...entry, action: "group.member_removed" });
  }
  return found;
}

async function changeLocked(
  db: Database,
  id: string,
  by: Doer,
  change: (
    tx: Transaction,
    group: groups.Group,
    doer: members.Member | null,
  ) => Promise<ChangeRefusal | null>,
): Promise<groups.Group | ChangeRefusal> {
  return inTransactionBy(db, by, async (tx, doer) => {
    const group = await groups.lock(tx, { workspaceId: by.workspaceId, id });
    if (group === null) return unknownGroup(id, by);
    return (await change(tx, group, doer)) ?? groups.get(tx, group);
  });
}

/** The operator may prepare groups for a coming plan; members may not. */
async function refusePlan(
  tx: Transaction,
  { actor, workspaceId }: { actor: Actor; workspaceId: string },
): Promise<ChangeRefusal | null> {
  const plan = await workspaces.findPlan(tx, workspaceId);
  if (plan === null) return unknownWorkspace(workspaceId);
  if (actor === null || plan.hasGroups) return null;
  return refuse(
    "plan_required",
    `approver groups are not part of the ${plan.name} plan; move the workspace to a plan with groups`,
  );
}

async function refuseMore(tx: Transaction, workspaceId: string): Promise<ChangeRefusal | null> {
  if ((await groups.count(tx, workspaceId)) < groupsPerWorkspaceMax) return null;
  return refuse(
    "conflict",
    `a workspace may have at most ${groupsPerWorkspaceMax} groups; delete one that is not asked any more`,
  );
}

function refuseGroup({ key, name, members }: GroupInput): ChangeRefusal | null {
  if (!isGroupKey(key)) {
    return refuseField(
      "key",
      "must have 1 to 64 characters, lower-case letters, digits, _ and -, and begin with a letter or digit",
    );
  }
  const nameFlaw = flawOfName(name);
  if (nameFlaw !== null) return refuseField("name", nameFlaw);
  const flaw = flawOfMembers(members);
  return flaw === null ? null : { ...refuse("validation_error", flaw), field: "members" };
}

function flawOfMembers(members: string[]): string | null {
  if (members.length > groupMembersMax) {
    return `member: a group may have at most ${groupMembersMax} members`;
  }
  const flaws = members.map((email) => ({ email, flaw: flawOfEmailAddress(email) }));
  const flawed = flaws.find(({ flaw }) => flaw !== null);
  return flawed === undefined ? null : `member ${flawed.email}: ${flawed.flaw}`;
}

function isAmong(members: readonly string[], email: string): boolean {
  const sought = normaliseEmailAddress(email);
  return members.some((each) => normaliseEmailAddress(each) === sought);
}

export function unknownGroup(id: string, { workspaceId }: Doer): ChangeRefusal {
  return refuse(
    "not_found",
    workspaceId === null
      ? `there is no group ${id}; \`countersign group list\` shows all`
      : "there is no such group in this workspace",
  );
}
