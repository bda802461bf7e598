// Adds, changes and removes members for the operator.

import type { Database, Transaction } from "../../database/database.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { operator } from "../../domain/workspace/activity.ts";
import { flawOfEmailAddress, isSameSpelling } from "../../domain/workspace/email-address.ts";
import { type Role, roles } from "../../domain/workspace/role.ts";
import * as members from "../../storage/people/members.ts";
import * as people from "../../storage/people/people.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTurnBy } from "../transaction-by.ts";
import { endMembership, refuseLastOwner } from "./manage-members.ts";
import * as memberships from "./memberships.ts";

export async function addMember(
  db: Database,
  input: { workspaceId: string; email: string; role: string },
): Promise<members.Member | ChangeRefusal> {
  const flaw = flawOfEmailAddress(input.email);
  if (flaw !== null) return refuseField("email", flaw);
  const role = roles.find((each) => each === input.role);
  if (role === undefined) return refuseField("role", `must be one of ${roles.join(", ")}`);
  return inTurnBy(db, input.workspaceId, operator, async (tx) => {
    const person = await people.findByEmail(tx, input.email);
    if (person !== null && !isSameSpelling(person.email, input.email)) {
      return refuseField(
        "email",
        `is another spelling of ${person.email}, who has signed in; use that one, if it is the same mailbox`,
      );
    }
    const known = await members.findByEmail(tx, input);
    if (known === null) return insertMember(tx, { ...input, role });
    if (known.joinedAt === null && !isSameSpelling(known.email, input.email)) {
      // The operator's spelling counts, not an admin's in an invitation.
      await members.remove(tx, known);
      return insertMember(tx, { ...input, role });
    }
    return changeKnown(tx, known, role);
  });
}

/** Also revokes an invitation. With `groups` they can no longer decide for any group either. */
export async function removeMemberByEmail(
  db: Database,
  input: { workspaceId: string; email: string; groups?: boolean },
): Promise<members.Member | ChangeRefusal> {
  return inTurnBy(db, input.workspaceId, operator, async (tx) => {
    const member = await members.findByEmail(tx, input);
    return member === null
      ? noSuchMember(input)
      : endMembership(tx, member, {
          actor: operator.actor,
          how: "be removed",
          groups: input.groups ?? false,
        });
  });
}

function noSuchMember({ workspaceId, email }: { workspaceId: string; email: string }) {
  return refuse(
    "not_found",
    `${email} is no member of this workspace; \`countersign member list --workspace ${workspaceId}\` shows all`,
  );
}

type NewMember = { workspaceId: string; email: string; role: Role };

export async function insertMember(tx: Transaction, member: NewMember): Promise<members.Member> {
  await noteAdded(tx, member);
  return members.insert(tx, member);
}

/** An invited person becomes a member at once. */
async function changeKnown(
  tx: Transaction,
  known: members.Member,
  role: Role,
): Promise<members.Member | ChangeRefusal> {
  if (known.joinedAt === null) {
    await noteAdded(tx, { ...known, role });
    await members.setRole(tx, known, role);
    return members.join(tx, known);
  }
  if (known.role === role) return known;
  const refused = await refuseLastOwner(tx, known, "be demoted");
  if (refused !== null) return refused;
  await activity.insert(tx, {
    workspaceId: known.workspaceId,
    actor: null,
    action: "member.role_changed",
    subject: known.email,
    detail: { from: known.role, to: role },
  });
  return memberships.setRole(tx, known, { role, actor: null });
}

async function noteAdded(tx: Transaction, { workspaceId, email, role }: NewMember): Promise<void> {
  const entry = { workspaceId, actor: null, subject: email, detail: { role } };
  await activity.insert(tx, { ...entry, action: "member.added" });
}
