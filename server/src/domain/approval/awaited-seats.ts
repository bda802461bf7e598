// Whom the open stage of a request still waits for: each seat once, with those who may vote for it.

import { castVote, openStage, seatFor, type Voting } from "./votes.ts";
import { rulesOf, type SeatRecord, type VotingRecord } from "./voting-record.ts";

export type AwaitedSeat = {
  person: string;
  personEmail: string;
  voters: readonly { voter: string; email: string; reviewerId: string }[];
  /** Counted from 1: a later stage that needs its voters. Here they may only reject. */
  neededInStage: number | null;
};

export function awaitedSeats(record: VotingRecord): AwaitedSeat[] {
  const rules = rulesOf(record);
  const open = openStage(rules);
  if (open === null) return [];
  const later = new Set(
    rules.stages.slice(open + 1).flatMap(({ seats }) => seats.flatMap(({ voters }) => voters)),
  );
  const isNeeded = neededLater(rules);
  // Only people of later stages can be needed there.
  const isNeededLater = (voter: string) => later.has(voter) && isNeeded(voter);
  const canVoteFor = (seat: SeatRecord) => {
    const place = seatFor(rules, seat.voter);
    return !("refusal" in place) && place.free.includes(seat.person);
  };
  const rows = record.seats.filter(
    (seat) => seat.stage === open + 1 && seat.isValid && seat.givenTo === null && canVoteFor(seat),
  );
  return [...Map.groupBy(rows, ({ person }) => person)].map(([person, seats]) => ({
    person,
    personEmail: seats[0]?.personEmail ?? person,
    voters: seats.map(({ voter, voterEmail: email, reviewerId }) => ({ voter, email, reviewerId })),
    neededInStage: seats.every(({ voter }) => isNeededLater(voter))
      ? laterStageOf(record, seats)
      : null,
  }));
}

/**
 * Whether a vote would leave too few people for a later stage. People who may vote for themselves alone, in the same
 * stages, are alike: one of them is asked about for all, because the question is dear and a group may be large.
 */
function neededLater(rules: Voting): (voter: string) => boolean {
  const places = new Map<string, string[]>();
  rules.stages.forEach(({ seats }, stage) => {
    for (const { person, voters } of seats) {
      for (const voter of voters) {
        const isAlone = voters.length === 1 && voter === person;
        const place = isAlone ? `${stage}` : `${stage} with ${person} by ${voter}`;
        places.set(voter, [...(places.get(voter) ?? []), place]);
      }
    }
  });
  const answers = new Map<string, boolean>();
  return (voter) => {
    const alike = (places.get(voter) ?? []).join(", ");
    const known = answers.get(alike);
    if (known !== undefined) return known;
    const cast = castVote(rules, voter, { isEdit: false });
    const isNeeded = "refusal" in cast && cast.refusal === "needed_later";
    answers.set(alike, isNeeded);
    return isNeeded;
  };
}

/** The first stage after the open one that asks one of these voters. */
function laterStageOf(record: VotingRecord, seats: readonly SeatRecord[]): number {
  const { stages } = rulesOf(record);
  const [{ stage, voter } = { stage: 1, voter: "" }] = seats;
  const later = stages.findIndex(
    (each, at) => at >= stage && each.seats.some(({ voters }) => voters.includes(voter)),
  );
  return later === -1 ? stage : later + 1;
}
