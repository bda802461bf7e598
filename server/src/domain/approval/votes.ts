// The rules by which several people decide about one request: who counts, when a stage is complete, and who is still
// needed. A vote belongs to one seat, one stage and one revision of the payload. People are normalised addresses.

import { canFill } from "./people-left.ts";

/** A person who is asked in a stage, and who may vote for them: mostly they alone, and nobody once they were removed. */
export type Seat = {
  person: string;
  voters: readonly string[];
  /** They will be asked later, by the stage itself or by one of its steps. Until then nobody votes for them. */
  isComing?: boolean;
};

/** Its seats are fixed once it was entered. Until then they are those of today. */
export type Stage = { required: number; seats: readonly Seat[] };

/** An approval. `person` is whose seat it is, `voter` who gave it: the same, a delegate, or to whom it was handed over. */
export type Vote = { stage: number; revision: number; person: string; voter: string };

export type Voting = {
  stages: readonly Stage[];
  votes: readonly Vote[];
  /** 1 is the agent's payload. */
  revision: number;
  /** The person for whom the agent acts, and the owner of its key: they never approve, nor does anybody for them. */
  excluded: readonly string[];
};

export type VoteRefusal =
  /** Their stage is not open, or they are asked in none. */
  | "not_asked"
  | "already_voted"
  /** Somebody else has voted for the only person for whom they may, or for themselves. */
  | "seat_taken"
  /** A later stage would be left without enough different people. */
  | "needed_later"
  | "is_requester";

export type CastVote = {
  vote: Vote;
  /** The stage that is open after it; null once all are complete. */
  stage: number | null;
};

/** The first stage that is not complete for the current revision; null if all are. */
export function openStage(voting: Voting): number | null {
  const open = voting.stages.findIndex(({ required }, stage) => countIn(voting, stage) < required);
  return open === -1 ? null : open;
}

/** For whom this voter would vote in the open stage, or why they can't. Who has voted can't edit either. */
export function seatFor(
  voting: Voting,
  voter: string,
): { stage: number; free: string[] } | { refusal: Exclude<VoteRefusal, "needed_later"> } {
  if (voting.excluded.includes(voter)) return { refusal: "is_requester" };
  const stage = openStage(voting);
  if (stage === null) return { refusal: "not_asked" };
  const given = votesOf(voting);
  if (given.some((vote) => vote.voter === voter)) return { refusal: "already_voted" };
  const held = seatsOf(voting, stage, voter);
  if (held.length === 0) return { refusal: "not_asked" };
  const used = usedBy(given);
  const free = used.has(voter) ? [] : held.filter((person) => !used.has(person));
  return free.length === 0 ? { refusal: "seat_taken" } : { stage, free };
}

/** The person for whom this voter approves without an edit: as they are shown it, they reject for them and pass it on. */
export function placeFor(
  voting: Voting,
  voter: string,
): { stage: number; person: string } | { refusal: Exclude<VoteRefusal, "needed_later"> } {
  const seat = seatFor(voting, voter);
  if ("refusal" in seat) return seat;
  const cast = castVote(voting, voter, { isEdit: false });
  const [first = voter] = seat.free;
  return { stage: seat.stage, person: "refusal" in cast ? first : cast.vote.person };
}

/** What an approval by this voter does. With an edit it is the first one of the next revision. */
export function castVote(
  voting: Voting,
  voter: string,
  { isEdit }: { isEdit: boolean },
): CastVote | { refusal: VoteRefusal } {
  const seat = seatFor(voting, voter);
  if ("refusal" in seat) return seat;
  const { stage, free } = seat;
  const revision = isEdit ? voting.revision + 1 : voting.revision;
  const before = { ...voting, revision };
  // Nobody's vote is refused for the sake of a stage that can't be complete anyway.
  const isHopeless = !isReachable(before);
  for (const person of free) {
    const vote = { stage, revision, person, voter };
    const after = { ...before, votes: [...voting.votes, vote] };
    if (isHopeless || isReachable(after)) return { vote, stage: openStage(after) };
  }
  return { refusal: "needed_later" };
}

/** Whether different people are left for everything that is still required. */
export function isReachable(voting: Voting): boolean {
  const given = votesOf(voting);
  const used = usedBy(given);
  return canFill(
    voting.stages.map(({ required, seats }, stage) => ({
      count: Math.max(0, required - countIn(voting, stage)),
      votersOf: new Map(
        seats
          .filter(({ person }) => !used.has(person))
          .map((seat) => [
            seat.person,
            votersOfSeat(voting, seat).filter((voter) => !used.has(voter)),
          ]),
      ),
    })),
  );
}

/** The people for whom this voter may vote in a stage, themselves first. */
function seatsOf(voting: Voting, stage: number, voter: string): string[] {
  const seats = voting.stages[stage]?.seats ?? [];
  const held = seats
    .filter((seat) => seat.isComing !== true && votersOfSeat(voting, seat).includes(voter))
    .map(({ person }) => person);
  return held.sort((a, b) => Number(b === voter) - Number(a === voter));
}

function votersOfSeat({ excluded }: Voting, { person, voters }: Seat): readonly string[] {
  return excluded.includes(person) ? [] : voters.filter((voter) => !excluded.includes(voter));
}

/** The votes on the current text, whoever gave them: a place and a voter are used up by them. */
function votesOf({ votes, revision }: Voting): Vote[] {
  return votes.filter((vote) => vote.revision === revision);
}

/** One person counts once: as the one who votes, or as the one for whom somebody votes. */
function usedBy(given: readonly Vote[]): ReadonlySet<string> {
  return new Set(given.flatMap(({ person, voter }) => [person, voter]));
}

/** How many count in a stage. Whoever became the key's owner after their vote no longer does. */
function countIn(voting: Voting, stage: number): number {
  const isExcluded = (person: string) => voting.excluded.includes(person);
  return votesOf(voting).filter(
    (vote) => vote.stage === stage && !isExcluded(vote.person) && !isExcluded(vote.voter),
  ).length;
}
