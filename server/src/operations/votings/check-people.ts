// Looks at requests whose people have changed: somebody was removed, or became the owner of the key. A stage that is no
// longer complete is open again. When too few different people are left, the workspace's owners are told. Nothing is
// approved by that: the number of required people never falls.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import { askedIn } from "../../domain/approval/seating.ts";
import {
  canBeComplete,
  openStageOf,
  type VotingRecord,
} from "../../domain/approval/voting-record.ts";
import * as votingChecks from "../../storage/votings/voting-checks.ts";
import * as votingEvents from "../../storage/votings/voting-events.ts";
import * as votings from "../../storage/votings/votings.ts";
import { eachAlone, noFaults, type RowFaults } from "./each-alone.ts";

/** The record as it is then. */
export async function checkPeople(
  tx: Transaction,
  where: votings.Where,
  record: VotingRecord,
): Promise<VotingRecord> {
  const isStuck = !canBeComplete(record);
  const isNews = await votings.setStuck(tx, where, isStuck);
  if (isStuck && isNews) {
    const { now: at } = record;
    const detail = { stage: openStageOf(record) };
    await votingEvents.insert(tx, where, { kind: "request.stuck", at, detail, isForOwners: true });
  }
  return { ...record, isStuck };
}

/** Looks at up to `limit` requests whose people have changed. Answers how many. */
export async function checkRemoved(
  db: Database,
  limit: number,
  faults: RowFaults = noFaults,
): Promise<number> {
  const due = await votingChecks.list(db, limit, faults.list());
  return (await eachAlone(due, (where) => check(db, where), faults)).length;
}

async function check(db: Database, where: votings.Where): Promise<void> {
  await inTransaction(db, async (tx) => {
    const locked = await votings.lock(tx, where);
    if (!(await votingChecks.take(tx, where))) return;
    if (locked === null || !locked.isPending || !locked.hasSeats) return;
    await votings.noteKeyOwner(tx, where);
    await checkPeople(tx, where, await reopened(tx, where));
  });
}

/** Whoever became the key's owner after their vote doesn't count any more, and somebody else is asked for it. */
async function reopened(tx: Transaction, where: votings.Where): Promise<VotingRecord> {
  const record = await votings.get(tx, where);
  const stage = openStageOf(record);
  const wasComplete = record.stages.some(
    ({ number, completedAt }) => number === stage && completedAt !== null,
  );
  if (!wasComplete) return record;
  const { now: at } = record;
  await votings.setStage(tx, where, { open: stage, at });
  await votings.enterStage(tx, where, { stage, at });
  const after = await votings.publish(tx, where);
  await votingEvents.insert(tx, where, {
    ...{ kind: "request.stage_entered", at, detail: { stage }, reviewerIds: askedIn(after, stage) },
  });
  return after;
}
