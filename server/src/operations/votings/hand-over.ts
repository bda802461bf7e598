// Passes somebody's vote to a colleague: the seat stays whose it was, and from now on the colleague votes for it.

import { inTransaction, type Transaction } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import {
  delegateFor,
  type Seating,
  type StandIn,
  withDelegate,
} from "../../domain/approval/seating.ts";
import { placeFor } from "../../domain/approval/votes.ts";
import { handOversMax } from "../../domain/approval/voting-limits.ts";
import {
  canBeComplete,
  forWhom,
  openStageOf,
  placeOf,
  rulesOf,
  type SeatRecord,
  standsInNoMore,
  type VotingRecord,
} from "../../domain/approval/voting-record.ts";
import { placeToHandOver } from "../../domain/shown/reviewer-place.ts";
import { isApproverAllowed } from "../../domain/workspace/approver-limit.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import * as colleagues from "../../storage/votings/colleagues.ts";
import * as seats from "../../storage/votings/seats.ts";
import * as votingEvents from "../../storage/votings/voting-events.ts";
import * as votings from "../../storage/votings/votings.ts";
import type { VotingParts } from "./cast-vote.ts";
import { checkPeople } from "./check-people.ts";
import { withSeats } from "./give-seats.ts";
import { seatPeople } from "./seat-people.ts";

export type HandOver = {
  fromEmail: string;
  toEmail: string;
  /** What they pass on, as they were shown it; null if they were shown a request without seats. */
  place: string | null;
};

/** They may pass something on, but not what they read. */
export type OtherSeat = {
  refusal: "other_place";
  record: VotingRecord;
  stage: number;
  forEmail: string | null;
};

export type HandedOver =
  | { record: VotingRecord }
  | { refusal: "closed" }
  | OtherSeat
  | { refusal: "refused"; message: string };

export async function handOver(
  { db, keyring }: VotingParts,
  where: votings.Where,
  wish: HandOver,
): Promise<HandedOver> {
  try {
    return await inTransaction(db, async (tx) => {
      const locked = await votings.lock(tx, where);
      if (locked === null || !locked.isPending) return { refusal: "closed" };
      const why = await refuseColleague(tx, where, wish);
      if (why !== null) throw new NotPassed(why);
      const record = await withSeats(tx, where, locked);
      const held = placeHeld(record, wish);
      if (typeof held === "string") throw new NotPassed(held);
      if (!locked.hasSeats) {
        // Its page shows no place, and seats are never taken away.
        if (wish.place !== null) throw new NotPassed("The page can’t have shown this place.");
      } else if (wish.place !== placeNow(record, wish)) return otherSeat(record, held);
      const seat = seatOf(record, held, wish);
      if (typeof seat === "string") throw new NotPassed(seat);
      return { record: await pass(tx, keyring, { record, seat, wish }) };
    });
  } catch (error) {
    if (!(error instanceof NotPassed)) throw error;
    return { refusal: "refused", message: `${error.message} Nothing was handed over.` };
  }
}

/** Undoes the transaction: a plain request that isn't handed over stays plain. Never seen outside. */
class NotPassed extends Error {}

async function refuseColleague(
  tx: Transaction,
  { workspaceId }: votings.Where,
  { fromEmail, toEmail }: HandOver,
): Promise<string | null> {
  if (personOf(fromEmail) === personOf(toEmail)) return "This is you.";
  const rule = await colleagues.findRule(tx, workspaceId);
  if (rule.handOver === "off") return "This workspace doesn’t let people hand over.";
  const relation = await colleagues.findRelation(tx, workspaceId, { fromEmail, toEmail });
  // The same words for a stranger: whoever is in no group could otherwise try out who works there.
  if (rule.handOver === "group" && !relation.sharesGroup) {
    return `${toEmail} is in no group with you, and this workspace lets people hand over within a group only.`;
  }
  if (!relation.isColleague)
    return `${toEmail} is not in this workspace, nor in one of its groups.`;
  const isAllowed = isApproverAllowed(rule.approvers, toEmail, relation.isColleague);
  return isAllowed ? null : `This workspace doesn’t let ${toEmail} be asked.`;
}

type Held = { stage: number; person: string; voter: string };

/** What could be passed on just now, or why nothing can. */
function placeHeld(record: VotingRecord, { fromEmail }: HandOver): Held | string {
  const voter = personOf(fromEmail);
  const held = placeFor(rulesOf(record), voter);
  if (!("refusal" in held)) return { ...held, voter };
  return held.refusal === "already_voted"
    ? "You have voted already."
    : "You are not asked just now, so there is nothing to hand over.";
}

function placeNow(record: VotingRecord, { fromEmail }: HandOver): string | null {
  return placeToHandOver({ stage: openStageOf(record), you: placeOf(record, fromEmail) });
}

function otherSeat(record: VotingRecord, held: Held): OtherSeat {
  const { stage } = held;
  return { refusal: "other_place", record, stage: stage + 1, forEmail: forWhom(record, held) };
}

/** The seat that is passed on, or why it can't be. */
function seatOf(
  record: VotingRecord,
  held: Held,
  { fromEmail, toEmail }: HandOver,
): SeatRecord | string {
  const from = personOf(fromEmail);
  const to = personOf(toEmail);
  if (record.excluded.includes(to)) {
    return `The agent acts for ${toEmail}, or with their key, so they can’t decide about this.`;
  }
  const current = record.votes.filter(({ revision }) => revision === record.revision);
  if (current.some(({ voter }) => voter === to)) {
    return `${toEmail} has voted already, and one person counts once.`;
  }
  if (current.some(({ person }) => person === to)) {
    return `Somebody has voted for ${toEmail} already, and one person counts once.`;
  }
  const rows = record.seats.filter(
    ({ stage, person }) => stage === held.stage + 1 && person === held.person,
  );
  if (rows.some((row) => row.voter === to && !standsInNoMore(row))) {
    return `${toEmail} may vote in this place already, or has passed it on.`;
  }
  if (rows.filter(({ reason }) => reason === "handed_over").length >= handOversMax) {
    return `This was handed over ${handOversMax} times already.`;
  }
  const seat = rows.find(({ voter }) => voter === from);
  if (seat === undefined) return "You are not asked just now.";
  const isLost = canBeComplete(record) && !canBeComplete(afterPassing(record, seat, toEmail));
  return isLost
    ? `Then too few different people would be left: ${toEmail} is needed in this request already.`
    : seat;
}

function afterPassing(record: VotingRecord, given: SeatRecord, toEmail: string): VotingRecord {
  const passed: SeatRecord = {
    ...given,
    ...{ voter: personOf(toEmail), voterEmail: toEmail, reason: "handed_over" },
  };
  const others = record.seats.map((seat) =>
    seat === given ? { ...seat, givenTo: toEmail } : seat,
  );
  return { ...record, seats: [...others, passed] };
}

type Passing = { record: VotingRecord; seat: SeatRecord; wish: HandOver };

async function pass(
  tx: Transaction,
  keyring: Keyring,
  { record, seat, wish }: Passing,
): Promise<VotingRecord> {
  const { toEmail, fromEmail: byEmail } = wish;
  const { stage, personEmail: forEmail } = seat;
  const where = { workspaceId: record.workspaceId, approvalId: record.approvalId };
  await seats.give(tx, where, seat, toEmail);
  const away = await seats.listAway(tx, where.workspaceId);
  const others = record.seats.filter(
    (each) => each.person === seat.person && !standsInNoMore(each),
  );
  const delegate = delegateFor(personOf(toEmail), away, [
    ...record.excluded,
    ...others.map(({ voter }) => voter),
  ]);
  const seating = seatingOfPassed(seat, toEmail, delegate);
  const reviewerIds = await seatPeople(tx, keyring, { ...where, stage }, seating);
  const after = await votings.publish(tx, where);
  await votingEvents.insert(tx, where, {
    kind: "request.reassigned",
    at: record.now,
    detail: { stage, byEmail, toEmail, forEmail, reason: "handed_over" },
    reviewerIds,
  });
  // It may be possible again by that.
  return checkPeople(tx, where, after);
}

/** Whoever takes it over may be away themselves. */
function seatingOfPassed(seat: SeatRecord, toEmail: string, delegate: StandIn | null): Seating {
  const { person, personEmail, groupId, absenceIds = null } = seat;
  const place = { person, personEmail, groupId };
  // Who takes it over from a delegate has it as long as they would have had it.
  const taken = { ...place, absenceIds, voter: personOf(toEmail), voterEmail: toEmail };
  return {
    seats: [
      { ...taken, reason: "handed_over" },
      ...(delegate === null ? [] : [withDelegate({ ...place, absenceIds }, delegate)]),
    ],
    mailed: [delegate?.voterEmail ?? toEmail],
  };
}
