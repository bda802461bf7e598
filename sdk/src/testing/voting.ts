// How several people decide in a fake service: by the service's own rules, with the sentences of its review page.

import type { NewApproval } from "../../../server/src/domain/approval/new-approval.ts";
import { realEdit } from "../../../server/src/domain/approval/review-decision.ts";
import { type Candidate, seatingOf } from "../../../server/src/domain/approval/seating.ts";
import {
  castVote,
  isReachable,
  seatFor,
  type VoteRefusal,
} from "../../../server/src/domain/approval/votes.ts";
import {
  approvalsOf,
  openStageOf,
  placeOf,
  rulesOf,
  type SeatRecord,
  type StageRecord,
  type VoteRecord,
  type VotingRecord,
} from "../../../server/src/domain/approval/voting-record.ts";
import { isRefusal, type Refusal, refuse } from "../../../server/src/domain/refusal.ts";
import type { JsonText } from "../../../server/src/domain/shown/json-text.ts";
import { personOf } from "../../../server/src/domain/workspace/email-address.ts";
import { type Notify, nameOfGroup } from "../../../server/src/domain/workspace/notify.ts";
import { type Askable, type AskedPeople, findAsked } from "./asked-people.ts";

export type FakeVoting = {
  record: VotingRecord;
  /** The text of the current revision; null while it is the agent's payload. */
  revised: JsonText | null;
  steps: FakeStep[];
};

/** In each stage once. */
type FakeStep = { stage: number; afterMinutes: number; emails: readonly string[]; isDone: boolean };

export type Ballot = {
  email: string;
  verdict: "approve" | "reject";
  note: string | null;
  edit: JsonText | null;
  /** The agent's. */
  payload: JsonText | null;
  at: Date;
};

export type Counted = {
  /** The stage that was entered by it. */
  entered: number | null;
  /** Set when it was the last one: the payload as it was changed, null if it was not. */
  approved: { edit: JsonText | null } | null;
};

type Planning = { askable: Askable; keyOwner: string | null; minutes: number; now: Date };

/** Null where one person decides. */
export function planVoting(approval: NewApproval, planning: Planning): FakeVoting | null | Refusal {
  const { quorum, then, escalate, requestedBy } = approval;
  const isTold = quorum !== null || then.length > 0 || escalate.length > 0;
  const excluded = [requestedBy, planning.keyOwner].flatMap((email) =>
    email === null ? [] : [personOf(email)],
  );
  if (!isTold && excluded.length === 0) return null;
  const asked = askedIn(approval, planning.askable);
  if (isRefusal(asked)) return asked;
  const stages = asked.slice(0, 1 + then.length).map((each, at) => stageOf(each, at, approval));
  const steps = asked.slice(1 + then.length).flatMap(({ emails }, at) => {
    const afterMinutes = escalate[at]?.afterMinutes ?? 1;
    return stages.map(({ number }) => ({ stage: number, afterMinutes, emails, isDone: false }));
  });
  const inTime = steps.filter(({ afterMinutes }) => afterMinutes < planning.minutes);
  const voting: FakeVoting = {
    record: {
      ...{ workspaceId: "", approvalId: "", isTold, excluded, revision: 1, stages, seats: [] },
      ...{ votes: [], change: null, isStuck: false, handOver: "off", now: planning.now },
    },
    revised: null,
    steps: inTime,
  };
  foreseeSteps(voting);
  const unreachable = refuseUnreachable(voting.record);
  if (unreachable !== null) return unreachable;
  enterStage(voting, 1, planning.now);
  return voting;
}

/** As answers tell it; null where they don't. */
export function votingText({ record }: FakeVoting): JsonText | null {
  return record.isTold ? (JSON.stringify(approvalsOf(record)) as JsonText) : null;
}

/** Whose vote it is if a test names nobody: the first who may vote, or the first of all. */
export function voterOf(
  { record }: FakeVoting,
  by: string | undefined,
  verdict: Ballot["verdict"],
) {
  const rules = rulesOf(record);
  const open = openStageOf(record);
  const asked = record.seats.filter(({ stage }) => stage === open).map((seat) => seat.voterEmail);
  if (by !== undefined) {
    const all = [...record.seats.map((seat) => seat.voterEmail), ...askedLater(record)];
    return all.find((email) => personOf(email) === personOf(by));
  }
  const may = (email: string) =>
    verdict === "reject"
      ? !("refusal" in seatFor(rules, personOf(email)))
      : !("refusal" in castVote(rules, personOf(email), { isEdit: false }));
  return asked.find(may) ?? asked[0];
}

/** Counts a vote, or throws the sentence that its giver would read. */
export function count(voting: FakeVoting, ballot: Ballot): Counted {
  voting.record = { ...voting.record, now: ballot.at };
  return ballot.verdict === "reject" ? reject(voting, ballot) : approve(voting, ballot);
}

/** Asks the people of the steps whose time has come. Says whether there were any. */
export function escalate(voting: FakeVoting, now: Date): boolean {
  const open = openStageOf(voting.record);
  const enteredAt = voting.record.stages[open - 1]?.enteredAt?.getTime() ?? Number.NaN;
  const due = voting.steps.filter(
    ({ stage, afterMinutes, isDone }) =>
      !isDone && stage === open && enteredAt + afterMinutes * 60_000 <= now.getTime(),
  );
  for (const step of due) step.isDone = true;
  const before = voting.record.seats.length;
  const emails = due.flatMap((step) => step.emails);
  seat(voting, open, { emails, reason: "escalated" });
  foreseeSteps(voting);
  return voting.record.seats.length > before;
}

function askedIn({ notify, then, escalate }: NewApproval, askable: Askable) {
  const named: [place: string, notify: Notify][] = [
    ["notify", notify],
    ...then.map((each, at): [string, Notify] => [`then[${at}].notify`, each.notify]),
    ...escalate.map((each, at): [string, Notify] => [`escalate[${at}].notify`, each.notify]),
  ];
  const asked: AskedPeople[] = [];
  for (const [place, each] of named) {
    const found = findAsked(each, askable, place);
    if (isRefusal(found)) return found;
    asked.push(found);
  }
  return asked;
}

function stageOf(
  { approver, emails }: AskedPeople,
  at: number,
  { quorum, then }: NewApproval,
): StageRecord {
  const isGroup = approver.kind === "group";
  return {
    number: at + 1,
    notify: isGroup ? nameOfGroup(approver.key) : approver.email,
    groupId: isGroup ? approver.key : null,
    groupName: isGroup ? approver.name : null,
    required: (at === 0 ? quorum : then[at - 1]?.required) ?? 1,
    enteredAt: null,
    completedAt: null,
    peopleToday: emails,
    peopleOfSteps: [],
  };
}

/** Those whom steps would still ask count as people who are left. */
function foreseeSteps(voting: FakeVoting): void {
  const { record, steps } = voting;
  const stages = record.stages.map((stage) => ({
    ...stage,
    peopleOfSteps: steps
      .filter((step) => step.stage === stage.number && !step.isDone)
      .flatMap((step) => step.emails),
  }));
  voting.record = { ...record, stages };
}

function refuseUnreachable(record: VotingRecord): Refusal | null {
  const rules = rulesOf(record);
  const failing = rules.stages.findIndex(
    (_, at) => !isReachable({ ...rules, stages: rules.stages.slice(0, at + 1) }),
  );
  if (failing === -1) return null;
  const required = rules.stages[failing]?.required ?? 1;
  const place = failing === 0 ? "quorum" : `then[${failing - 1}].quorum`;
  const people = required === 1 ? "1 person" : `${required} different people`;
  const excluded = [...new Set(record.excluded)].join(" and ");
  const never =
    excluded === ""
      ? "who asks for it, or owns its key, never counts"
      : `${excluded} never counts here`;
  return refuse(
    "quorum_unreachable",
    `${place}: stage ${failing + 1} needs ${people}, but not so many are left. One person counts once in a request, in whatever stage, and ${never}. Ask more people, or ask for fewer.`,
  );
}

/** Its people are fixed when it is entered for the first time. */
function enterStage(voting: FakeVoting, number: number, at: Date): void {
  const { record } = voting;
  const stage = record.stages[number - 1];
  if (stage === undefined || stage.enteredAt !== null) return;
  const stages = record.stages.map((each) =>
    each.number === number ? { ...each, enteredAt: at, peopleToday: [] } : each,
  );
  voting.record = { ...record, stages };
  seat(voting, number, { emails: stage.peopleToday, reason: "asked" });
}

function seat(
  voting: FakeVoting,
  stage: number,
  { emails, reason }: { emails: readonly string[]; reason: "asked" | "escalated" },
): void {
  const { record } = voting;
  const seated = record.seats.filter((each) => each.stage === stage).map(({ person }) => person);
  const candidates = emails.map((email): Candidate => ({ email, groupId: null }));
  const { excluded } = record;
  const planned = seatingOf(candidates, { reason, excluded, away: [], seated });
  const seats = planned.seats.map(
    (each): SeatRecord => ({ ...each, stage, reviewerId: "", givenTo: null, isValid: true }),
  );
  voting.record = { ...record, seats: [...record.seats, ...seats] };
}

function askedLater({ stages }: VotingRecord): string[] {
  return stages.flatMap(({ peopleToday }) => peopleToday);
}

function reject(voting: FakeVoting, ballot: Ballot): Counted {
  const { record } = voting;
  const voter = personOf(ballot.email);
  const found = seatFor(rulesOf(record), voter);
  if ("refusal" in found) throw refused(record, ballot.email, found.refusal);
  const [person = voter] = found.free;
  const cast = { stage: found.stage, person, voter, revision: record.revision };
  voting.record = { ...record, votes: [...record.votes, voteOf(ballot, cast)] };
  return { entered: null, approved: null };
}

function approve(voting: FakeVoting, ballot: Ballot): Counted {
  const { record } = voting;
  const before = openStageOf(record);
  const edit = realEdit(voting.revised ?? ballot.payload, ballot.edit);
  const cast = castVote(rulesOf(record), personOf(ballot.email), { isEdit: edit !== null });
  if ("refusal" in cast) throw refused(record, ballot.email, cast.refusal);
  const vote = voteOf(ballot, cast.vote);
  const { revision, voterEmail: byEmail, at } = vote;
  const change = edit === null ? record.change : { byEmail, at };
  voting.record = { ...record, revision, change, votes: [...record.votes, vote] };
  if (edit !== null) voting.revised = edit;
  if (cast.stage === null) {
    return { entered: null, approved: { edit: realEdit(ballot.payload, voting.revised) } };
  }
  const open = cast.stage + 1;
  if (open === before) return { entered: null, approved: null };
  enterStage(voting, open, at);
  return { entered: open, approved: null };
}

function voteOf(
  { email, verdict, note, at }: Ballot,
  { stage, revision, person, voter }: Pick<VoteRecord, "stage" | "revision" | "person" | "voter">,
): VoteRecord {
  const own = { revision, stage: stage + 1, person, voter, voterEmail: email };
  return { ...own, forEmail: null, verdict, note, via: "link", at };
}

const whyNot: Record<Exclude<VoteRefusal, "needed_later">, string> = {
  not_asked: "You are not asked about this request just now.",
  already_voted: "You have voted on exactly this payload already.",
  seat_taken: "You, or the person in whose place you were asked, have been counted already.",
  is_requester: "The agent acts for you, or with your key, so you can’t decide about its request.",
};

function refused(record: VotingRecord, email: string, refusal: VoteRefusal): Error {
  if (refusal !== "needed_later") return new Error(`${whyNot[refusal]} Nothing was recorded.`);
  const place = placeOf(record, email);
  const later = place.kind === "needed_later" ? `in stage ${place.stage}` : "later";
  const { groupName = null } = record.stages[openStageOf(record) - 1] ?? {};
  const others = groupName === null ? "somebody else" : `somebody else of ${groupName}`;
  return new Error(`You are needed ${later}; ${others} must approve here. Nothing was recorded.`);
}
