// The members of a workspace on the dashboard: list, invite, change a role, remove.

import { z } from "zod";
import { isRefusal } from "../../domain/refusal.ts";
import { normaliseEmailAddress } from "../../domain/workspace/email-address.ts";
import { roles } from "../../domain/workspace/role.ts";
import { findDefaultUses } from "../../operations/people/default-approvers.ts";
import {
  changeMemberRole,
  inviteMember,
  removeMember,
  unknownMember,
} from "../../operations/people/manage-members.ts";
import { countAwaiting } from "../../storage/approvals/pending.ts";
import * as groups from "../../storage/people/groups.ts";
import * as members from "../../storage/people/members.ts";
import type { Done, Member } from "../../wire/dashboard-contract.ts";
import type { MemberRemoval } from "../../wire/dashboard-removals.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
  type Person,
  readForm,
} from "./visit.ts";

export async function list(
  { db }: DashboardCalls,
  { workspaceId, person }: MemberVisit,
): Promise<{ members: Member[] }> {
  const found = await members.list(db, workspaceId);
  return { members: found.map((member) => toMember(member, person)) };
}

const role = z.enum(roles, `must be one of ${roles.join(", ")}`);
const invitation = z.object({ email: z.string(), role });

export async function invite(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Promise<Member | DashboardRefusal> {
  const form = readForm(visit.call, invitation);
  if (isRefusal(form)) return form;
  const invited = await inviteMember(db, form, doerOf(visit));
  if (isRefusal(invited)) return tellRefusal(invited);
  onDue();
  return toMember(invited, visit.person);
}

export async function changeRole(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Member | DashboardRefusal> {
  const form = readForm(visit.call, invitation.pick({ role: true }));
  if (isRefusal(form)) return form;
  const id = idIn(visit.call, "memberId");
  const changed = await changeMemberRole(db, { id, role: form.role }, doerOf(visit));
  return isRefusal(changed) ? tellRefusal(changed) : toMember(changed, visit.person);
}

/** What stands against a removal, and what it would leave behind: groups, and requests that only this person can decide. */
export async function foresee(
  { db }: DashboardCalls,
  { call, workspaceId }: MemberVisit,
): Promise<MemberRemoval | DashboardRefusal> {
  const member = await members.find(db, { workspaceId, id: idIn(call, "memberId") });
  if (member === null) return tellRefusal(unknownMember());
  const { email } = member;
  const [found, pending, defaultOf] = await Promise.all([
    groups.listOfMember(db, { workspaceId, email }),
    countAwaiting(db, { workspaceId, approver: email }),
    findDefaultUses(db, workspaceId, email),
  ]);
  return {
    groups: found.map(({ id, name, members: { length } }) => ({
      ...{ id, name },
      isOnlyMember: length === 1,
    })),
    pending,
    defaultOf,
  };
}

const removal = z.object({ groups: z.boolean().default(false) });

export async function remove(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Done | DashboardRefusal> {
  const form = readForm(visit.call, removal);
  if (isRefusal(form)) return form;
  const id = idIn(visit.call, "memberId");
  const removed = await removeMember(db, { id, groups: form.groups }, doerOf(visit));
  return isRefusal(removed) ? tellRefusal(removed) : { done: true };
}

function toMember(
  { id, email, role: memberRole, createdAt, joinedAt }: members.Member,
  person: Person,
): Member {
  return {
    id,
    email,
    role: memberRole,
    isYou: normaliseEmailAddress(email) === normaliseEmailAddress(person.email),
    invitedAt: createdAt.toISOString(),
    joinedAt: joinedAt?.toISOString() ?? null,
  };
}
