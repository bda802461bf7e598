// Turns a plain request into one with seats, when somebody passes their vote on or is away: whoever was asked keeps their
// link, and one of them still decides.

import type { Transaction } from "../../database/database.ts";
import type { VotingRecord } from "../../domain/approval/voting-record.ts";
import * as seats from "../../storage/votings/seats.ts";
import * as votings from "../../storage/votings/votings.ts";

/** The request as one with seats. It is pending, and its lock is held. */
export async function withSeats(
  tx: Transaction,
  where: votings.Where,
  locked: votings.LockedApproval,
): Promise<VotingRecord> {
  if (!locked.hasSeats) await giveSeats(tx, where, locked);
  return votings.get(tx, where);
}

async function giveSeats(
  tx: Transaction,
  where: votings.Where,
  { notify, groupId, groupName, approverLimit }: votings.LockedApproval,
): Promise<void> {
  await seats.insertVoting(tx, where, {
    requester: null,
    keyOwner: null,
    approverLimit,
    stages: [{ notify, groupId, groupName, required: 1 }],
    steps: [],
  });
  await seats.insertForReviewers(tx, where, groupId);
}
