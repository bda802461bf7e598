// Who gets a seat when a stage asks its people, and who is mailed: everybody once, the requester and the key's owner
// never, and for somebody who is away their delegate.

import { delegatesOf } from "../workspace/delegates.ts";
import { personOf } from "../workspace/email-address.ts";
import type { SeatRecord, VotingRecord } from "./voting-record.ts";

/** An address that is asked, by name or as a member of a group. */
export type Candidate = { email: string; groupId: string | null };

/** Somebody who is away, and the address of whom they named. */
export type Away = { id: string; person: string; delegateEmail: string };

export type PlannedSeat = Pick<
  SeatRecord,
  "person" | "personEmail" | "voter" | "voterEmail" | "groupId" | "reason" | "absenceIds"
>;

export type Seating = {
  seats: PlannedSeat[];
  /** The addresses that are asked by mail. */
  mailed: string[];
};

export type SeatingRules = {
  reason: "asked" | "escalated";
  excluded: readonly string[];
  away: readonly Away[];
  /** Those who have a seat in the stage already. */
  seated?: readonly string[];
};

export function seatingOf(
  candidates: readonly Candidate[],
  { reason, excluded, away, seated = [] }: SeatingRules,
): Seating {
  const out = new Set([...excluded, ...seated]);
  const seating: Seating = { seats: [], mailed: [] };
  for (const { email, groupId } of candidates) {
    const person = personOf(email);
    if (out.has(person)) continue;
    out.add(person);
    const own = { person, personEmail: email, groupId };
    seating.seats.push({ ...own, voter: person, voterEmail: email, reason });
    const delegate = delegateFor(person, away, excluded);
    if (delegate !== null) seating.seats.push(withDelegate(own, delegate));
    seating.mailed.push(delegate?.voterEmail ?? email);
  }
  return { ...seating, mailed: eachOnce(seating.mailed) };
}

export type StandIn = {
  voter: string;
  voterEmail: string;
  reason: "away";
  absenceIds: string[];
};

/** Who is asked instead of somebody who is away; null when they are there, or nobody may step in. */
export function delegateFor(
  person: string,
  away: readonly Away[],
  excluded: readonly string[],
): StandIn | null {
  const byPerson = new Map(away.map((each) => [each.person, each]));
  const awayTo = new Map(away.map((each) => [each.person, personOf(each.delegateEmail)]));
  const delegates = delegatesOf(person, awayTo, new Set(excluded));
  const absences = [person, ...delegates.slice(0, -1)].flatMap((each) => byPerson.get(each) ?? []);
  const [voter, voterEmail] = [delegates.at(-1), absences.at(-1)?.delegateEmail];
  if (voter === undefined || voterEmail === undefined) return null;
  // Their own comes last: it says in whose place the delegate is.
  return { voter, voterEmail, reason: "away", absenceIds: absences.map(({ id }) => id).reverse() };
}

/** The seat of a delegate, in the place of one who holds this. */
export function withDelegate(
  held: Pick<PlannedSeat, "person" | "personEmail" | "groupId" | "absenceIds">,
  delegate: StandIn,
): PlannedSeat {
  const { person, personEmail, groupId, absenceIds } = held;
  const others = (absenceIds ?? []).filter((id) => !delegate.absenceIds.includes(id));
  return {
    person,
    personEmail,
    groupId,
    ...delegate,
    absenceIds: [...others, ...delegate.absenceIds],
  };
}

function eachOnce(emails: readonly string[]): string[] {
  const byPerson = new Map<string, string>();
  for (const email of emails) {
    if (!byPerson.has(personOf(email))) byPerson.set(personOf(email), email);
  }
  return [...byPerson.values()];
}

/** The links of those who are asked in a stage, one for each: instead of somebody who is away, their delegate. */
export function askedIn(record: VotingRecord, stage: number): string[] {
  const mayVote = ({ person, voter }: SeatRecord) =>
    !record.excluded.includes(person) && !record.excluded.includes(voter);
  const valid = record.seats.filter(
    (seat) => seat.stage === stage && seat.isValid && seat.givenTo === null && mayVote(seat),
  );
  const hasVoted = (seat: SeatRecord) =>
    record.votes.some(
      ({ revision, person, voter }) =>
        revision === record.revision &&
        [seat.person, seat.voter].some((each) => each === person || each === voter),
    );
  const isRepresented = ({ person, voter }: SeatRecord) =>
    valid.some((seat) => seat.person === person && seat.absentVoter === voter);
  const asked = valid.filter((seat) => !hasVoted(seat) && !isRepresented(seat));
  // Somebody who stands in under another spelling of their address has two. Their own place comes last, and so wins.
  const inTurn = asked.toSorted((a, b) => Number(isOwn(a)) - Number(isOwn(b)));
  return [...new Map(inTurn.map(({ voter, reviewerId }) => [voter, reviewerId])).values()];
}

function isOwn({ person, voter }: SeatRecord): boolean {
  return person === voter;
}
