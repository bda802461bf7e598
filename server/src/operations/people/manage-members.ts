// Invites people to a workspace, lets them in, changes their role, and removes them. Only owners decide about owners,
// and one always remains. Changes of one workspace's members wait for each other, so that two owners who remove each
// other at once don't leave none.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { invitationsPerDayMax, membersPerWorkspaceMax } from "../../domain/limits.ts";
import { type ChangeRefusal, type Refusal, refuse, refuseField } from "../../domain/refusal.ts";
import type { Actor, MemberDoer } from "../../domain/workspace/activity.ts";
import { flawOfEmailAddress, isSameSpelling } from "../../domain/workspace/email-address.ts";
import type { Role } from "../../domain/workspace/role.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as members from "../../storage/people/members.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import { inTurnBy } from "../transaction-by.ts";
import { refuseWhileDefault } from "./default-approvers.ts";
import { removeFromGroups } from "./manage-group.ts";
import * as memberships from "./memberships.ts";

/** Adds a member who must still accept, with the mail that says so. */
export async function inviteMember(
  db: Database,
  { email, role }: { email: string; role: Role },
  by: MemberDoer,
): Promise<members.Member | ChangeRefusal> {
  const flaw = flawOfEmailAddress(email);
  if (flaw !== null) return refuseField("email", flaw);
  return inTurnBy(db, by.workspaceId, by, async (tx, { doer }) => {
    const refused = (await refuseInvitation(tx, by.workspaceId, email)) ?? refuseOwners(doer, role);
    if (refused !== null) return refused;
    const { workspaceId, actor } = by;
    const invited = await members.insertInvited(tx, { workspaceId, email, role, invitedBy: actor });
    const entry = { workspaceId, actor, subject: email, detail: { role } };
    await activity.insert(tx, { ...entry, action: "member.invited" });
    const detail = { role, invitedBy: actor };
    await newDeliveries.insertPersonMail(tx, {
      workspaceId,
      to: email,
      kind: "member.invited",
      detail,
    });
    await newDeliveries.announceDue(tx);
    return invited;
  });
}

export async function changeMemberRole(
  db: Database,
  { id, role }: { id: string; role: Role },
  by: MemberDoer,
): Promise<members.Member | ChangeRefusal> {
  return changeMember(db, id, by, async (tx, doer, member) => {
    if (member.role === role) return member;
    const refused =
      refuseOwners(doer, member.role, role) ?? (await refuseLastOwner(tx, member, "be demoted"));
    if (refused !== null) return refused;
    await activity.insert(tx, {
      ...by,
      action: "member.role_changed",
      subject: member.email,
      detail: { from: member.role, to: role },
    });
    return memberships.setRole(tx, member, { role, actor: by.actor });
  });
}

/**
 * Ends their access at once: rights are looked up at every call, and the apps they connected are revoked. Also revokes
 * an invitation. With `groups` they can no longer decide for any group either.
 */
export async function removeMember(
  db: Database,
  { id, groups }: { id: string; groups: boolean },
  by: MemberDoer,
): Promise<members.Member | ChangeRefusal> {
  return changeMember(db, id, by, async (tx, doer, member) => {
    const refused = refuseOwners(doer, member.role);
    return refused ?? endMembership(tx, member, { actor: by.actor, how: "be removed", groups });
  });
}

type Ending = { actor: Actor; how: "be removed" | "leave"; groups?: boolean };

/** Ends a membership, except the last owner's, and a default approver's. */
export async function endMembership(
  tx: Transaction,
  member: members.Member,
  { actor, how, groups = false }: Ending,
): Promise<members.Member | ChangeRefusal> {
  const { workspaceId, email, role } = member;
  const refused =
    (await refuseLastOwner(tx, member, how)) ?? (await refuseWhileDefault(tx, workspaceId, email));
  if (refused !== null) return refused;
  const entry = { workspaceId, actor, subject: email, detail: { role } };
  await activity.insert(tx, { ...entry, action: "member.removed" });
  // First, for its trigger queues everything that is looked at because of the removal, in one order.
  if (groups) await removeFromGroups(tx, { workspaceId, email, actor });
  await memberships.remove(tx, member, actor);
  return member;
}

type Invitation = { email: string; workspaceId: string };

/**
 * People who have accepted already are simply in. An invitation to another spelling may mean another mailbox, so it
 * admits only the person who has proved the exact spelling that was invited.
 */
export async function acceptInvitation(
  db: Database,
  invitation: Invitation,
): Promise<members.Member | Refusal<"not_found">> {
  return answerInvitation(db, invitation, async (tx, member) => {
    if (member.joinedAt !== null) return member;
    if (!isSameSpelling(member.email, invitation.email)) return otherSpelling(member, invitation);
    await noteAnswer(tx, member, "member.joined");
    return members.join(tx, member);
  });
}

export async function declineInvitation(
  db: Database,
  invitation: Invitation,
): Promise<members.Member | Refusal<"not_found">> {
  return answerInvitation(db, invitation, async (tx, member) => {
    if (member.joinedAt !== null) return noInvitation();
    if (!isSameSpelling(member.email, invitation.email)) return otherSpelling(member, invitation);
    await noteAnswer(tx, member, "member.declined");
    await members.remove(tx, member);
    return member;
  });
}

/** Anybody may leave, in any role, except the last owner. */
export async function leaveWorkspace(
  db: Database,
  { email, workspaceId }: Invitation,
): Promise<members.Member | ChangeRefusal> {
  return inTransaction(db, async (tx) => {
    await workspaces.lock(tx, workspaceId);
    const member = await members.findByEmail(tx, { workspaceId, email });
    if (member === null || member.joinedAt === null) {
      return refuse("not_found", "you are no member of this workspace");
    }
    return endMembership(tx, member, { actor: email, how: "leave" });
  });
}

async function answerInvitation(
  db: Database,
  invitation: Invitation,
  answer: (
    tx: Transaction,
    member: members.Member,
  ) => Promise<members.Member | Refusal<"not_found">>,
): Promise<members.Member | Refusal<"not_found">> {
  return inTransaction(db, async (tx) => {
    await workspaces.lock(tx, invitation.workspaceId);
    const member = await members.findByEmail(tx, invitation);
    return member === null ? noInvitation() : answer(tx, member);
  });
}

async function noteAnswer(
  tx: Transaction,
  { workspaceId, email, role }: members.Member,
  action: "member.joined" | "member.declined",
): Promise<void> {
  await activity.insert(tx, {
    workspaceId,
    actor: email,
    action,
    subject: email,
    detail: { role },
  });
}

function noInvitation(): Refusal<"not_found"> {
  return refuse("not_found", "There is no such invitation any more. Ask to be invited again.");
}

function otherSpelling(invited: members.Member, { email }: Invitation): Refusal<"not_found"> {
  return refuse(
    "not_found",
    `This invitation is for ${invited.email}, and you sign in as ${email}. Ask to be invited as ${email}.`,
  );
}

async function changeMember(
  db: Database,
  id: string,
  by: MemberDoer,
  change: (
    tx: Transaction,
    doer: members.Member | null,
    member: members.Member,
  ) => Promise<members.Member | ChangeRefusal>,
): Promise<members.Member | ChangeRefusal> {
  return inTurnBy(db, by.workspaceId, by, async (tx, { doer }) => {
    const member = await members.find(tx, { workspaceId: by.workspaceId, id });
    if (member === null) return unknownMember();
    return change(tx, doer, member);
  });
}

export function unknownMember(): ChangeRefusal {
  return refuse("not_found", "there is no such member in this workspace");
}

async function refuseInvitation(
  tx: Transaction,
  workspaceId: string,
  email: string,
): Promise<ChangeRefusal | null> {
  const known = await members.findByEmail(tx, { workspaceId, email });
  if (known !== null) {
    const what = known.joinedAt === null ? "is invited already" : "is a member already";
    return { ...refuse("conflict", `email: ${known.email} ${what}`), field: "email" };
  }
  if ((await members.count(tx, workspaceId)) >= membersPerWorkspaceMax) {
    return refuse("conflict", `a workspace may have at most ${membersPerWorkspaceMax} members`);
  }
  // Without a limit, repeated inviting and removing could flood a mailbox.
  const today = await activity.countOfDay(tx, { workspaceId, action: "member.invited" });
  if (today < invitationsPerDayMax) return null;
  return refuse(
    "conflict",
    `a workspace may invite at most ${invitationsPerDayMax} people a day; try again tomorrow`,
  );
}

function refuseOwners(doer: members.Member | null, ...involved: Role[]): ChangeRefusal | null {
  if (doer === null || doer.role === "owner" || !involved.includes("owner")) return null;
  return refuse("forbidden", "only owners may invite, change or remove owners; ask one of them");
}

export async function refuseLastOwner(
  tx: Transaction,
  member: members.Member,
  what: "be demoted" | "be removed" | "leave",
): Promise<ChangeRefusal | null> {
  if (member.role !== "owner" || member.joinedAt === null) return null;
  if ((await members.countOwners(tx, member.workspaceId)) > 1) return null;
  return refuse(
    "conflict",
    `the last owner cannot ${what}; make somebody else an owner first, who has accepted`,
  );
}
