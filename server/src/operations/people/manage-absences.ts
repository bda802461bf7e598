// Sets, changes and ends absences. Everybody does so for themselves; owners and admins may end those of others, and the
// operator may do all of it. Changes of one workspace's absences wait for each other, so that none overlap.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { absencesPerPersonMax } from "../../domain/shown/field-limits.ts";
import { type AbsenceTimes, flawOfAbsence, fromNowOn } from "../../domain/workspace/absence.ts";
import {
  type ActivityAction,
  type Actor,
  type MemberDoer,
  operator,
} from "../../domain/workspace/activity.ts";
import { isApproverAllowed } from "../../domain/workspace/approver-limit.ts";
import { flawOfEmailAddress, personOf } from "../../domain/workspace/email-address.ts";
import { readNow } from "../../storage/approvals/approval-lists.ts";
import * as absences from "../../storage/people/absences.ts";
import * as colleagues from "../../storage/people/colleagues.ts";
import * as members from "../../storage/people/members.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import { inTurnBy, unknownWorkspace } from "../transaction-by.ts";

/** The person whose absence it is, or the operator. */
export type AbsenceDoer = { actor: string } | typeof operator;

export async function setAbsence(
  db: Database,
  input: absences.NewAbsence,
  { actor }: AbsenceDoer = operator,
): Promise<absences.Absence | ChangeRefusal> {
  return inTransaction(db, async (tx) => {
    const workspace = await workspaces.lock(tx, input.workspaceId);
    if (workspace === null) {
      return actor === null ? unknownWorkspace(input.workspaceId) : noMember();
    }
    const notHere = await refuseStranger(tx, input, actor);
    if (notHere !== null) return notHere;
    if ((await absences.countOfPerson(tx, input)) >= absencesPerPersonMax) {
      return refuse(
        "conflict",
        `a person may have at most ${absencesPerPersonMax} absences ahead; end one first`,
      );
    }
    const absence = { ...input, ...fromNowOn(input, await readNow(tx)) };
    const delegate = await checkAbsence(tx, workspace, absence);
    if (typeof delegate !== "string") return delegate;
    const set = await absences.insert(tx, { ...absence, delegateEmail: delegate });
    await note(tx, set, "absence.set", actor);
    return set;
  });
}

export type AbsenceChanges = Partial<AbsenceTimes & { delegateEmail: string }>;

/** Once it has begun, only its end can be changed: the delegate has been asked already. */
export async function changeAbsence(
  db: Database,
  { id, ...changes }: { id: string } & AbsenceChanges,
  by: { actor: string },
): Promise<absences.Absence | ChangeRefusal> {
  return changeOwn(db, id, by, async (tx, absence, workspace) => {
    const { hasBegun } = absence;
    if (hasBegun && (changes.startsAt !== undefined || changes.delegateEmail !== undefined)) {
      return refuse(
        "conflict",
        "this absence has begun, so only its end can be changed; end it and set another one",
      );
    }
    const changed = { ...absence, ...changes };
    const now = await readNow(tx);
    const times = hasBegun ? changed : fromNowOn(changed, now);
    const delegate = await checkAbsence(tx, workspace, { ...changed, ...times });
    if (typeof delegate !== "string") return delegate;
    const next = { ...changed, ...times, delegateEmail: delegate };
    const saved = await absences.update(tx, next);
    await note(tx, saved, "absence.changed", by.actor);
    return saved;
  });
}

export async function endOwnAbsence(
  db: Database,
  id: string,
  by: { actor: string },
): Promise<absences.Absence | ChangeRefusal> {
  return changeOwn(db, id, by, (tx, absence) => endIt(tx, absence, by.actor));
}

/** For owners and admins, and for the operator. */
export async function endAbsence(
  db: Database,
  id: string,
  by: MemberDoer | typeof operator = operator,
): Promise<absences.Absence | ChangeRefusal> {
  const found = await absences.find(db, { workspaceId: by.workspaceId, id });
  if (found === null) return unknownAbsence();
  return inTurnBy(db, found.workspaceId, by, async (tx) => {
    const absence = await absences.find(tx, found);
    return absence === null ? unknownAbsence() : endIt(tx, absence, by.actor);
  });
}

async function endIt(
  tx: Transaction,
  absence: absences.Absence,
  actor: Actor,
): Promise<absences.Absence> {
  await absences.end(tx, absence);
  await note(tx, absence, "absence.ended", actor);
  return absence;
}

async function changeOwn(
  db: Database,
  id: string,
  { actor }: { actor: string },
  change: (
    tx: Transaction,
    absence: absences.Absence,
    workspace: workspaces.Workspace,
  ) => Promise<absences.Absence | ChangeRefusal>,
): Promise<absences.Absence | ChangeRefusal> {
  return inTransaction(db, async (tx) => {
    const own = (await absences.listOfPerson(tx, actor)).find((each) => each.id === id);
    if (own === undefined) return unknownAbsence();
    const workspace = await workspaces.lock(tx, own.workspaceId);
    if (workspace === null) return unknownAbsence();
    const notHere = await refuseStranger(tx, { ...own, email: actor }, actor);
    if (notHere !== null) return notHere;
    const absence = await absences.find(tx, own);
    return absence === null ? unknownAbsence() : change(tx, absence, workspace);
  });
}

/** The delegate as the workspace spells them, or what is wrong. */
async function checkAbsence(
  tx: Transaction,
  workspace: workspaces.Workspace,
  absence: absences.NewAbsence & { id?: string },
): Promise<string | ChangeRefusal> {
  const { workspaceId, email, delegateEmail } = absence;
  const flawed = flawOfAbsence(absence, await readNow(tx));
  if (flawed !== null) return refuseField(flawed.field, flawed.flaw);
  const isAddress = flawOfEmailAddress(delegateEmail) === null;
  const delegate = isAddress
    ? await colleagues.findEmail(tx, { workspaceId, email: delegateEmail })
    : null;
  if (delegate === null) {
    const flaw = "must be a member of this workspace, or somebody in one of its groups";
    return refuseField("delegateEmail", flaw);
  }
  if (!mayStandIn(workspace, delegate)) {
    const flaw = `must be of a domain that this workspace asks: ${workspace.approverDomains.join(", ")}`;
    return refuseField("delegateEmail", flaw);
  }
  if (personOf(delegate) === personOf(email)) {
    return refuseField("delegateEmail", "must be somebody else than the person who is away");
  }
  if (await absences.overlaps(tx, absence, absence.id ?? null)) {
    return refuse(
      "conflict",
      "there is another absence of the same person in that time; end it or change it first",
    );
  }
  return delegate;
}

/** A workspace that limits whom agents may ask doesn't ask others by a detour. */
export function mayStandIn(
  { approverLimit, approverDomains }: workspaces.Workspace,
  colleague: string,
): boolean {
  const rule = { limit: approverLimit ?? "anybody", domains: approverDomains };
  return isApproverAllowed(rule, colleague, true);
}

/** A person may have been removed since their call was admitted. The operator sets absences of people in groups, too. */
async function refuseStranger(
  tx: Transaction,
  { workspaceId, email }: { workspaceId: string; email: string },
  actor: Actor,
): Promise<ChangeRefusal | null> {
  if (actor === null) {
    const known = await colleagues.findEmail(tx, { workspaceId, email });
    if (known !== null) return null;
    return refuseField("email", "is neither a member of this workspace nor in one of its groups");
  }
  const member = await members.lockByEmail(tx, { workspaceId, email });
  if (member !== null && member.joinedAt !== null) return null;
  return noMember();
}

function noMember(): ChangeRefusal {
  return refuse("not_found", "you are no member of this workspace");
}

async function note(
  tx: Transaction,
  absence: absences.Absence,
  action: ActivityAction,
  actor: Actor,
): Promise<void> {
  const { workspaceId, email: subject, delegateEmail, startsAt, endsAt } = absence;
  const detail = {
    delegate: delegateEmail,
    awayFrom: startsAt.toISOString(),
    awayUntil: endsAt.toISOString(),
  };
  await activity.insert(tx, { workspaceId, actor, action, subject, detail });
}

function unknownAbsence(): ChangeRefusal {
  return refuse("not_found", "there is no such absence any more; it may be over");
}
