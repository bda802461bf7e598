// Mails everybody who can still vote once more, because an agent or a member asks for it. Once an hour at most.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { askedIn } from "../../domain/approval/seating.ts";
import { openStageOf } from "../../domain/approval/voting-record.ts";
import * as reminders from "../../storage/votings/reminders.ts";
import * as votingEvents from "../../storage/votings/voting-events.ts";
import * as votings from "../../storage/votings/votings.ts";

export type Reminded =
  | { kind: "reminded"; people: number }
  | { kind: "not_found" | "closed" | "nobody" }
  | { kind: "too_early"; retryAfterSeconds: number };

/** The caller calls `onDue` when somebody was reminded. */
export async function remind(db: Database, where: votings.Where): Promise<Reminded> {
  return inTransaction(db, (tx) => remindIn(tx, where));
}

/** Part of a larger change. */
export async function remindIn(tx: Transaction, where: votings.Where): Promise<Reminded> {
  const locked = await votings.lock(tx, where);
  if (locked === null) return { kind: "not_found" };
  if (!locked.isPending) return { kind: "closed" };
  const { now, retryAfterSeconds } = await reminders.findPause(tx, where);
  if (retryAfterSeconds > 0) return { kind: "too_early", retryAfterSeconds };
  const record = locked.hasSeats ? await votings.get(tx, where) : null;
  const stage = record === null ? 1 : openStageOf(record);
  const reviewerIds =
    record === null ? await reminders.listAsked(tx, where) : askedIn(record, stage);
  if (reviewerIds.length === 0) return { kind: "nobody" };
  await votingEvents.insert(tx, where, {
    ...{ kind: "request.reminded", at: now, detail: { stage }, reviewerIds },
  });
  return { kind: "reminded", people: reviewerIds.length };
}
