// When somebody's absence begins, their delegate is asked about what is open already. A request is never asked about
// twice: the delegate's seat is there or not. When it ends, its requests are looked at again.

import { type Database, inOneStatement, inTransaction } from "../../database/database.ts";
import { delegateFor, type StandIn, withDelegate } from "../../domain/approval/seating.ts";
import {
  openStageOf,
  type SeatRecord,
  standsInNoMore,
  type VotingRecord,
} from "../../domain/approval/voting-record.ts";
import { delegateStepsMax } from "../../domain/shown/field-limits.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import * as openSeats from "../../storage/votings/open-seats.ts";
import * as seats from "../../storage/votings/seats.ts";
import * as votingEvents from "../../storage/votings/voting-events.ts";
import * as votings from "../../storage/votings/votings.ts";
import type { VotingParts } from "./cast-vote.ts";
import { checkPeople } from "./check-people.ts";
import { eachAlone, noFaults, type RowFaults } from "./each-alone.ts";
import { withSeats } from "./give-seats.ts";
import { seatPeople } from "./seat-people.ts";

/**
 * Asks delegates about up to `limit` requests that are open already, one absence after the other. Answers how much it
 * did: where an absence was left unfinished, the next call goes on behind the last request.
 */
export async function beginAbsences(
  parts: VotingParts,
  limit: number,
  faults: RowFaults = noFaults,
): Promise<number> {
  let left = limit;
  let done = 0;
  for (const absence of await openSeats.listBeginning(parts.db, limit, faults.list())) {
    if (left === 0) break;
    const { workspaceId, upTo } = absence;
    const behind = faults.lookedUpTo(absence.id) ?? upTo;
    const ids = await openSeats.listOpenFor(parts.db, { ...absence, upTo: behind }, left);
    const places = ids.map((approvalId) => ({ workspaceId, approvalId }));
    const asked = await eachAlone(places, (where) => standIn(parts, where, absence), faults);
    const failed = places.findIndex((place) => !asked.includes(place));
    const last = ids.length === left ? (ids.at(-1) ?? null) : null;
    const isFailed = failed !== -1 || faults.lookedUpTo(absence.id) !== null;
    // Once it is over, nobody stands in any more, and nothing is left to be tried again.
    if (isFailed && !absence.isOver) {
      await noteFailed(parts.db, absence, { before: ids[failed - 1], last, faults });
    } else await noteProgress(parts.db, absence, { last, faults });
    left -= ids.length;
    done += 1;
  }
  return done;
}

type Progress = {
  /** The last request that was looked at; null where all were. */
  last: string | null;
  faults: RowFaults;
};

async function noteProgress(
  db: Database,
  absence: openSeats.Absence,
  { last, faults }: Progress,
): Promise<void> {
  faults.noteLookedUpTo(absence.id, null);
  const tx = inOneStatement(db);
  if (last === null) await openSeats.noteBegun(tx, absence);
  else await openSeats.noteUpTo(tx, absence, last);
}

/**
 * What is stored stays in front of the first request that failed: another process doesn't know of it. This one looks at the
 * rest first, and then again after a pause.
 */
async function noteFailed(
  db: Database,
  absence: openSeats.Absence,
  { before, last, faults }: Progress & { before: string | undefined },
): Promise<void> {
  const isFirst = faults.lookedUpTo(absence.id) === null;
  if (isFirst && before !== undefined) {
    await openSeats.noteUpTo(inOneStatement(db), absence, before);
  }
  faults.noteLookedUpTo(absence.id, last);
  if (last === null) faults.pause(absence.id);
}

/** Looks anew at the requests for which somebody stood in whose absences are over. Answers how many absences. */
export function endAbsences(db: Database, limit: number): Promise<number> {
  return openSeats.queueEnded(inOneStatement(db), limit);
}

async function standIn(
  { db, keyring }: VotingParts,
  where: votings.Where,
  { email }: openSeats.Absence,
): Promise<void> {
  const person = personOf(email);
  await inTransaction(db, async (tx) => {
    const locked = await votings.lock(tx, where);
    if (locked === null || !locked.isPending) return;
    const away = await seats.listAway(tx, where.workspaceId);
    if (delegateFor(person, away, []) === null) return;
    const record = await withSeats(tx, where, locked);
    // They would choose who approves their own request, also in a place that somebody handed to them.
    if (record.excluded.includes(person)) return;
    const delegate = delegateFor(person, away, record.excluded);
    if (delegate === null) return;
    const mailed = new Set<string>();
    for (const seat of record.seats.filter((each) =>
      needsStandIn(record, each, person, delegate),
    )) {
      const { stage, personEmail } = seat;
      const seating = { seats: [withDelegate(seat, delegate)], mailed: [delegate.voterEmail] };
      const reviewerIds = await seatPeople(tx, keyring, { ...where, stage }, seating);
      // One mail tells of all places in a request.
      const asked = isAwaited(record, seat) ? reviewerIds.filter((id) => !mailed.has(id)) : [];
      for (const id of asked) mailed.add(id);
      const told = { stage, byEmail: email, toEmail: delegate.voterEmail, forEmail: personEmail };
      await votingEvents.insert(tx, where, {
        kind: "request.reassigned",
        at: record.now,
        detail: { ...told, reason: "away" },
        reviewerIds: asked,
      });
    }
    await checkPeople(tx, where, await votings.get(tx, where));
  });
}

/** Also for what was passed to them: whoever votes there is away just as much. */
function needsStandIn(
  record: VotingRecord,
  seat: SeatRecord,
  voter: string,
  delegate: StandIn,
): boolean {
  if (!isHeld(seat, voter)) return false;
  const others = record.seats.filter((each) => isSameSeat(seat, each) && !standsInNoMore(each));
  const delegates = others.filter(({ reason }) => reason === "away");
  return (
    !others.some((each) => each.voter === delegate.voter) && delegates.length < delegateStepsMax
  );
}

function isAwaited(record: VotingRecord, { stage, person }: SeatRecord): boolean {
  const { votes, revision } = record;
  const hasVoted = votes.some((vote) => vote.revision === revision && vote.person === person);
  return stage === openStageOf(record) && !hasVoted;
}

function isHeld(seat: SeatRecord, voter: string): boolean {
  return seat.voter === voter && seat.givenTo === null && seat.isValid;
}

function isSameSeat(one: SeatRecord, other: SeatRecord): boolean {
  return one.stage === other.stage && one.person === other.person;
}
