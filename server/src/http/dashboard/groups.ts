// Approver groups on the dashboard: list, create, rename, delete, add and remove members.

import { z } from "zod";
import { type ChangeRefusal, isRefusal } from "../../domain/refusal.ts";
import { deleteGroup } from "../../operations/people/delete-group.ts";
import {
  addGroupMember,
  createGroup,
  removeGroupMember,
  renameGroup,
  setGroupSignature,
  unknownGroup,
} from "../../operations/people/manage-group.ts";
import { countAwaiting } from "../../storage/approvals/pending.ts";
import * as groups from "../../storage/people/groups.ts";
import type { Group } from "../../wire/dashboard-groups.ts";
import type { GroupDeletion } from "../../wire/dashboard-removals.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
  readForm,
} from "./visit.ts";

export async function list(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<{ groups: Group[] }> {
  const found = await groups.list(db, workspaceId);
  return { groups: found.map(toGroup) };
}

const newGroup = z.object({ key: z.string(), name: z.string(), members: z.array(z.string()) });

export async function create(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Group | DashboardRefusal> {
  const form = readForm(visit.call, newGroup);
  if (isRefusal(form)) return form;
  const { workspaceId } = visit;
  return tell(await createGroup(db, { ...form, workspaceId }, doerOf(visit)));
}

export async function rename(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Group | DashboardRefusal> {
  const form = readForm(visit.call, newGroup.pick({ name: true }));
  if (isRefusal(form)) return form;
  return tell(await renameGroup(db, { id: idOf(visit), name: form.name }, doerOf(visit)));
}

const signature = z.object({ requiresSignature: z.boolean() });

export async function changeSignature(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Group | DashboardRefusal> {
  const form = readForm(visit.call, signature);
  if (isRefusal(form)) return form;
  return tell(await setGroupSignature(db, { id: idOf(visit), ...form }, doerOf(visit)));
}

const groupMember = z.object({ email: z.string() });

export async function addMember(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Group | DashboardRefusal> {
  const form = readForm(visit.call, groupMember);
  if (isRefusal(form)) return form;
  return tell(await addGroupMember(db, idOf(visit), form.email, doerOf(visit)));
}

export async function removeMember(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Group | DashboardRefusal> {
  const form = readForm(visit.call, groupMember);
  if (isRefusal(form)) return form;
  return tell(await removeGroupMember(db, idOf(visit), form.email, doerOf(visit)));
}

/** What a deletion would do to requests that wait for the group. */
export async function foresee(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<GroupDeletion | DashboardRefusal> {
  const { workspaceId } = visit;
  const id = idOf(visit);
  const isThere = (await groups.list(db, workspaceId)).some((group) => group.id === id);
  if (!isThere) return tellRefusal(unknownGroup(id, doerOf(visit)));
  return { pending: await countAwaiting(db, { workspaceId, approver: id }) };
}

export async function remove(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Promise<{ cancelled: number } | DashboardRefusal> {
  const deleted = await deleteGroup(db, idOf(visit), doerOf(visit));
  if (isRefusal(deleted)) return tellRefusal(deleted);
  if (deleted.cancelled > 0) onDue();
  return { cancelled: deleted.cancelled };
}

function idOf({ call }: MemberVisit): string {
  return idIn(call, "groupId");
}

function tell(changed: groups.Group | ChangeRefusal): Group | DashboardRefusal {
  return isRefusal(changed) ? tellRefusal(changed) : toGroup(changed);
}

function toGroup(group: groups.Group): Group {
  const { id, key, name, members, requiresSignature, createdAt } = group;
  return { id, key, name, members, requiresSignature, createdAt: createdAt.toISOString() };
}
