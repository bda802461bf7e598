// Creates an approval whose people need care: several decide, somebody never may, somebody is away, or the workspace
// limits whom agents may ask. It runs the one statement that creates approvals, and gives people their seats in the same
// transaction.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { NewApproval } from "../../domain/approval/new-approval.ts";
import { type Away, seatingOf } from "../../domain/approval/seating.ts";
import { isReachable } from "../../domain/approval/votes.ts";
import { isRefusal, type Refusal, refuse } from "../../domain/refusal.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import { type ApproverRule, isApproverAllowed } from "../../domain/workspace/approver-limit.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import { type Notify, nameOfGroup } from "../../domain/workspace/notify.ts";
import * as creation from "../../storage/approvals/approval-creation.ts";
import * as groups from "../../storage/people/groups.ts";
import * as callers from "../../storage/votings/callers.ts";
import * as seats from "../../storage/votings/seats.ts";
import * as votings from "../../storage/votings/votings.ts";
import { newReviewer } from "../votings/new-reviewer.ts";
import { seatPeople } from "../votings/seat-people.ts";
import { type Asked, askedGroup, groupIdsOf } from "./asked-group.ts";
import { unknownKey } from "./unknown-key.ts";

export type CareParts = { db: Database; keyring: Keyring };

/** The row that the statement gets, but for what care decides. */
export type CarefulRow = Omit<
  creation.NewApprovalRow,
  "approverEmail" | "group" | "groupIds" | "reviewers" | "hasSeats" | "voting"
>;

export type CarefullyCreated = {
  result: creation.CreationResult;
  asked: Asked;
  voting: JsonText | null;
};

/** Whether the caller asks for more than one person's yes, or says who may not give it. */
export function needsCare({ quorum, then, escalate, requestedBy }: NewApproval): boolean {
  return quorum !== null || then.length > 0 || escalate.length > 0 || requestedBy !== null;
}

export async function createWithCare(
  { db, keyring }: CareParts,
  approval: NewApproval,
  row: CarefulRow,
): Promise<CarefullyCreated | Refusal> {
  return inTransaction(db, async (tx) => {
    const plan = await planOf(tx, approval, row.keyDigest);
    if (isRefusal(plan)) return plan;
    const [first] = plan.stages;
    const seating = seatingOf(first.candidates, { reason: "asked", ...plan });
    const { asked } = first;
    const voting = tellsVoting(approval) ? firstVoting(plan) : null;
    const [result] = await creation.insertMany(
      tx,
      [
        {
          ...row,
          approverEmail: asked.approver.kind === "address" ? asked.approver.email : null,
          group: asked.group,
          groupIds: groupIdsOf([...plan.stages, ...plan.steps].map((each) => each.asked)),
          reviewers: seating.mailed.map((email) => newReviewer(email, keyring)),
          hasSeats: true,
          voting,
        },
      ],
      keyring.current.id,
    );
    if (result === undefined) throw new Error("the create statement answered no row");
    if (result.kind === "created") {
      const where = { workspaceId: result.workspaceId, approvalId: result.id };
      await seats.insertVoting(tx, where, newVotingOf(plan, approval));
      await votings.enterStage(tx, where, { stage: 1, at: result.createdAt });
      await seatPeople(tx, keyring, { ...where, stage: 1 }, seating);
    }
    return { result, asked, voting };
  });
}

/** Answers have `approvals` only for callers who asked for it. */
function tellsVoting({ quorum, then, escalate }: NewApproval): boolean {
  return quorum !== null || then.length > 0 || escalate.length > 0;
}

type PlannedStage = { asked: Asked; required: number; candidates: seatingCandidates };
type seatingCandidates = { email: string; groupId: string | null }[];

type Plan = {
  approvers: ApproverRule;
  keyOwner: string | null;
  excluded: string[];
  away: Away[];
  stages: [PlannedStage, ...PlannedStage[]];
  steps: { asked: Asked; afterMinutes: number; candidates: seatingCandidates }[];
};

async function planOf(
  tx: Transaction,
  approval: NewApproval,
  keyDigest: Buffer,
): Promise<Plan | Refusal> {
  const caller = await callers.find(tx, keyDigest);
  if (caller === null) return unknownKey();
  const named = namedIn(approval);
  const found = await askedBy(tx, caller, named);
  if (isRefusal(found)) return found;
  const forbidden = await refuseForbidden(tx, caller, found);
  if (forbidden !== null) return forbidden;
  const [first, ...others] = found.map(({ asked }) => ({ asked, candidates: candidatesOf(asked) }));
  if (first === undefined) throw new Error("a request asks nobody");
  const later = others.slice(0, approval.then.length);
  const plan: Plan = {
    approvers: caller.approvers,
    keyOwner: caller.keyOwner,
    excluded: [approval.requestedBy, caller.keyOwner].flatMap((email) =>
      email === null ? [] : [personOf(email)],
    ),
    away: await seats.listAway(tx, caller.workspaceId),
    stages: [
      { ...first, required: approval.quorum ?? 1 },
      ...later.map((stage, at) => ({ ...stage, required: approval.then[at]?.required ?? 1 })),
    ],
    steps: others.slice(approval.then.length).map((step, at) => ({
      ...step,
      afterMinutes: approval.escalate[at]?.afterMinutes ?? 1,
    })),
  };
  const minutes = approval.ttlMinutes ?? caller.expiryMinutes;
  return refuseUnreachable(plan, minutes) ?? plan;
}

type Named = { place: string; notify: Notify };

function namedIn({ notify, then, escalate }: NewApproval): Named[] {
  return [
    { place: "notify", notify },
    ...then.map((stage, at) => ({ place: `then[${at}].notify`, notify: stage.notify })),
    ...escalate.map((step, at) => ({ place: `escalate[${at}].notify`, notify: step.notify })),
  ];
}

type Found = { place: string; asked: Asked };

async function askedBy(
  tx: Transaction,
  caller: callers.VotingCaller,
  named: readonly Named[],
): Promise<Found[] | Refusal> {
  const keys = named.flatMap(({ notify }) => (notify.kind === "group" ? [notify.key] : []));
  const byKey = new Map(
    (await groups.listByKeys(tx, caller.workspaceId, keys)).map((group) => [group.key, group]),
  );
  const found: Found[] = [];
  for (const { place, notify } of named) {
    if (notify.kind === "address") {
      const asked = { approver: notify, group: null, emails: [notify.email] };
      found.push({ place, asked });
      continue;
    }
    const group = byKey.get(notify.key) ?? null;
    const asked = askedGroup(notify.key, { ...caller, group }, place);
    if (isRefusal(asked)) return asked;
    found.push({ place, asked });
  }
  return found;
}

function candidatesOf({ group, emails }: Asked): seatingCandidates {
  return emails.map((email) => ({ email, groupId: group?.id ?? null }));
}

async function refuseForbidden(
  tx: Transaction,
  { approvers, workspaceId }: callers.VotingCaller,
  found: readonly Found[],
): Promise<Refusal | null> {
  if (approvers.limit === "anybody") return null;
  const emails = found.flatMap(({ asked }) => asked.emails);
  const colleagues = await seats.listColleagues(tx, workspaceId, emails);
  for (const { place, asked } of found) {
    const stranger = asked.emails.find(
      (email) => !isApproverAllowed(approvers, email, colleagues.has(email.toLowerCase())),
    );
    if (stranger !== undefined) return notAllowed(place, stranger, approvers);
  }
  return null;
}

function notAllowed(place: string, email: string, { limit, domains }: ApproverRule): Refusal {
  const allowed =
    limit === "members"
      ? "members of the workspace and of its groups"
      : `addresses of ${domains.length === 0 ? "listed domains, of which there are none yet" : domains.join(", ")}`;
  return refuse(
    "approver_not_allowed",
    `${place}: agents of this workspace may not ask ${email}. They may ask ${allowed}. Its owners set this limit.`,
  );
}

/** Different people are needed for all stages together. Steps count that come before the end. */
function refuseUnreachable(plan: Plan, minutes: number): Refusal | null {
  const stepPeople = plan.steps
    .filter(({ afterMinutes }) => afterMinutes < minutes)
    .flatMap(({ candidates }) => candidates);
  const stages = plan.stages.map(({ required, candidates }) => {
    const { seats: planned } = seatingOf([...candidates, ...stepPeople], {
      reason: "asked",
      ...plan,
    });
    const people = [...new Set(planned.map(({ person }) => person))];
    const votersOf = (person: string) =>
      planned.filter((seat) => seat.person === person).map(({ voter }) => voter);
    return { required, seats: people.map((person) => ({ person, voters: votersOf(person) })) };
  });
  const rules = { votes: [], revision: 1, excluded: plan.excluded };
  const failing = stages.findIndex(
    (_, at) => !isReachable({ ...rules, stages: stages.slice(0, at + 1) }),
  );
  if (failing === -1) return null;
  const required = stages[failing]?.required ?? 1;
  const place = failing === 0 ? "quorum" : `then[${failing - 1}].quorum`;
  const people = required === 1 ? "1 person" : `${required} different people`;
  return refuse(
    "quorum_unreachable",
    `${place}: stage ${failing + 1} needs ${people}, but not so many are left. One person counts once in a request, in whatever stage, and ${namesOfExcluded(plan)}. Ask more people, or ask for fewer.`,
  );
}

function namesOfExcluded({ excluded }: Plan): string {
  return excluded.length === 0
    ? "who asks for it, or owns its key, never counts"
    : `${[...new Set(excluded)].join(" and ")} never counts here`;
}

function newVotingOf(plan: Plan, { requestedBy }: NewApproval): seats.NewVoting {
  return {
    requester: requestedBy === null ? null : personOf(requestedBy),
    keyOwner: plan.keyOwner === null ? null : personOf(plan.keyOwner),
    approverLimit: plan.approvers.limit,
    stages: plan.stages.map(({ asked, required }) => ({
      notify: notifyOf(asked),
      groupId: asked.group?.id ?? null,
      groupName: asked.group?.name ?? null,
      required,
    })),
    steps: plan.steps.map(({ asked, afterMinutes }) => ({
      notify: notifyOf(asked),
      groupId: asked.group?.id ?? null,
      afterMinutes,
    })),
  };
}

function notifyOf({ approver }: Asked): string {
  return approver.kind === "address" ? approver.email : nameOfGroup(approver.key);
}

function firstVoting({ stages }: Plan): JsonText {
  return JSON.stringify({
    stage: 1,
    revision: 1,
    stages: stages.map(({ asked, required }) => ({ notify: notifyOf(asked), required, votes: [] })),
  }) as JsonText;
}
