// Everything that is stored about a request on which several people vote, and what follows from it: the rules' view, the
// answer's, and what one reviewer may do.

import type { Approvals } from "../../../../sdk/src/contract.ts";
import type { ReviewerPlace } from "../shown/reviewer-place.ts";
import { personOf } from "../workspace/email-address.ts";
import { castVote, isReachable, openStage, type Seat, seatFor, type Voting } from "./votes.ts";

export type StageRecord = {
  /** From 1 on, as people count them. */
  number: number;
  /** As the caller wrote it. */
  notify: string;
  groupId: string | null;
  groupName: string | null;
  required: number;
  enteredAt: Date | null;
  completedAt: Date | null;
  /** Whom it would ask today, while it was not entered. */
  peopleToday: readonly string[];
  /** Whom the steps that are still to come would ask. */
  peopleOfSteps: readonly string[];
};

/** One who may vote for a seat. */
export type SeatRecord = {
  stage: number;
  person: string;
  personEmail: string;
  voter: string;
  voterEmail: string;
  reviewerId: string;
  groupId: string | null;
  reason: "asked" | "escalated" | "away" | "handed_over";
  /** To whom the voter passed it. */
  givenTo: string | null;
  /** The absences that must run for it, that of `absentVoter` last. Null where it is for good. */
  absenceIds?: readonly string[] | null;
  /** Who is away, and in whose place the voter is asked. */
  absentVoter?: string | null;
  /** The person is still in the group, who stands in for them is still a colleague, and its absences run. */
  isValid: boolean;
};

export type VoteRecord = {
  revision: number;
  stage: number;
  person: string;
  voter: string;
  voterEmail: string;
  /** On whose behalf; null for themselves. */
  forEmail: string | null;
  verdict: "approve" | "reject";
  note: string | null;
  via: "link" | "inbox" | "slack" | "teams";
  at: Date;
};

export type VotingRecord = {
  workspaceId: string;
  approvalId: string;
  /** Answers have `approvals`. */
  isTold: boolean;
  /** They never approve it, nor does anybody for them. */
  excluded: readonly string[];
  revision: number;
  stages: readonly StageRecord[];
  seats: readonly SeatRecord[];
  /** Oldest first. */
  votes: readonly VoteRecord[];
  /** Who made the current revision; null while it is the agent's payload. */
  change: { byEmail: string; at: Date } | null;
  isStuck: boolean;
  handOver: "off" | "group" | "workspace";
  /** The database's clock. */
  now: Date;
};

/** The voter stood in for somebody who is back. They may stand in again, also if they passed it on the first time. */
export function standsInNoMore(seat: SeatRecord): boolean {
  const { absenceIds = null, reason, isValid } = seat;
  return (absenceIds !== null || reason === "away") && !isValid;
}

/** Stages are counted from 0 there. */
export function rulesOf(record: VotingRecord): Voting {
  return {
    stages: record.stages.map((stage) => ({
      required: stage.required,
      seats: seatsIn(record, stage),
    })),
    votes: record.votes
      .filter(({ verdict }) => verdict === "approve")
      .map(({ stage, revision, person, voter }) => ({ stage: stage - 1, revision, person, voter })),
    revision: record.revision,
    excluded: record.excluded,
  };
}

function seatsIn(record: VotingRecord, { number, ...stage }: StageRecord): Seat[] {
  const voters = votersIn(record, number);
  const coming = new Set([...stage.peopleToday, ...stage.peopleOfSteps].map(personOf));
  const isThere = (person: string) => (voters.get(person) ?? []).length > 0;
  return [
    ...[...voters]
      .filter(([person]) => isThere(person) || !coming.has(person))
      .map(([person, each]) => ({ person, voters: each })),
    ...[...coming]
      .filter((person) => !isThere(person))
      .map((person) => ({ person, voters: [person], isComing: true })),
  ];
}

/** Those for whom somebody may vote in a stage, once they are asked. A step asks the others anew. */
export function seatedIn(record: VotingRecord, stage: number): string[] {
  return [...votersIn(record, stage)]
    .filter(([, voters]) => voters.length > 0)
    .map(([person]) => person);
}

/** By person: who may vote for them. Nobody any more for those who left, and passed it to nobody who is still here. */
function votersIn(record: VotingRecord, stage: number): Map<string, string[]> {
  const voters = new Map<string, string[]>();
  for (const { person, voter, isValid, givenTo } of seatRows(record, stage)) {
    const mayVote = isValid && givenTo === null && !record.excluded.includes(voter);
    voters.set(person, [...(voters.get(person) ?? []), ...(mayVote ? [voter] : [])]);
  }
  return voters;
}

function seatRows({ seats }: VotingRecord, stage: number): SeatRecord[] {
  return seats.filter((seat) => seat.stage === stage);
}

/** The open stage as people count it; the last one when all are complete. */
export function openStageOf(record: VotingRecord): number {
  const open = openStage(rulesOf(record));
  return open === null ? record.stages.length : open + 1;
}

export function canBeComplete(record: VotingRecord): boolean {
  return isReachable(rulesOf(record));
}

/** The approvals that count in a stage, of exactly the current text. Who became the key's owner since doesn't count. */
export function countedIn(record: VotingRecord, stage: number): VoteRecord[] {
  const { votes, revision, excluded } = record;
  return votes.filter(
    (vote) =>
      vote.stage === stage &&
      vote.revision === revision &&
      vote.verdict === "approve" &&
      !excluded.includes(vote.person) &&
      !excluded.includes(vote.voter),
  );
}

/** The answer's `approvals`. */
export function approvalsOf(record: VotingRecord): Approvals {
  return {
    stage: openStageOf(record),
    revision: record.revision,
    stages: record.stages.map(({ number, notify, required }) => ({
      notify,
      required,
      votes: record.votes
        .filter(({ stage }) => stage === number)
        .map(({ voterEmail, verdict, revision, at, note, via, forEmail }) => ({
          email: voterEmail,
          verdict,
          revision,
          at: at.toISOString(),
          note,
          via,
          for: forEmail,
        })),
    })),
  };
}

/** As it was when nobody had voted: the content of `request.created` never changes. */
export function firstApprovals({ stages }: Approvals): Approvals {
  return {
    stage: 1,
    revision: 1,
    stages: stages.map(({ notify, required }) => ({ notify, required, votes: [] })),
  };
}

/** What somebody may do just now. */
export function placeOf(record: VotingRecord, email: string): ReviewerPlace {
  const voter = personOf(email);
  const vote = record.votes.find(
    (each) => each.voter === voter && each.revision === record.revision,
  );
  if (vote !== undefined) {
    const { at, verdict, forEmail } = vote;
    return { kind: "voted", at: at.toISOString(), verdict, for: forEmail };
  }
  const rules = rulesOf(record);
  const seat = seatFor(rules, voter);
  if (!("refusal" in seat)) {
    const cast = castVote(rules, voter, { isEdit: false });
    if ("refusal" in cast) {
      const [person = voter] = seat.free;
      const held = { stage: seat.stage, person, voter };
      return {
        kind: "needed_later",
        stage: laterStageOf(record, voter),
        for: forWhom(record, held),
      };
    }
    return { kind: "asked", for: forWhom(record, cast.vote) };
  }
  return placeWithoutSeat(record, voter, seat.refusal);
}

function placeWithoutSeat(record: VotingRecord, voter: string, refusal: string): ReviewerPlace {
  const open = openStageOf(record);
  const own = record.seats.filter((seat) => seat.voter === voter);
  if (refusal === "seat_taken") {
    const places = own.filter(({ stage }) => stage === open).map(({ person }) => person);
    const people = [voter, ...places];
    const by = record.votes.find(
      (each) =>
        each.revision === record.revision &&
        (people.includes(each.person) || people.includes(each.voter)),
    );
    return { kind: "seat_taken", by: by?.voterEmail ?? "" };
  }
  const given = own.find(({ stage, givenTo }) => stage === open && givenTo !== null);
  if (given !== undefined) return { kind: "handed_over", to: given.givenTo ?? "" };
  const other = own.find(
    ({ stage, isValid, givenTo }) => stage !== open && isValid && givenTo === null,
  );
  if (other !== undefined && refusal !== "is_requester") {
    return { kind: "other_stage", stage: other.stage };
  }
  const past = own.find(({ givenTo }) => givenTo !== null);
  return past === undefined
    ? { kind: "not_asked" }
    : { kind: "handed_over", to: past.givenTo ?? "" };
}

/** The first later stage that asks this voter. */
function laterStageOf(record: VotingRecord, voter: string): number {
  const open = openStageOf(record);
  const later = rulesOf(record).stages.findIndex(
    ({ seats }, index) => index + 1 > open && seats.some(({ voters }) => voters.includes(voter)),
  );
  return later === -1 ? open : later + 1;
}

/** Null for the voter themselves. */
export function forWhom(
  { seats }: VotingRecord,
  { stage, person, voter }: { stage: number; person: string; voter: string },
): string | null {
  if (person === voter) return null;
  const seat = seats.find((each) => each.stage === stage + 1 && each.person === person);
  return seat?.personEmail ?? person;
}
