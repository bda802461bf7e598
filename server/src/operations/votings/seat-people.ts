// Gives people their seats in a stage, each voter with a link of their own.

import type { Transaction } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { PlannedSeat, Seating } from "../../domain/approval/seating.ts";
import * as seats from "../../storage/votings/seats.ts";
import type { Where } from "../../storage/votings/votings.ts";
import { newReviewer } from "./new-reviewer.ts";

/** Answers the links of those who are to be mailed. */
export async function seatPeople(
  tx: Transaction,
  keyring: Keyring,
  where: Where & { stage: number },
  seating: Seating,
): Promise<string[]> {
  if (seating.seats.length === 0) return [];
  const linkOf = await linksOf(tx, keyring, where, seating.seats);
  await seats.insert(
    tx,
    where,
    seating.seats.map((seat) => ({
      ...seat,
      stage: where.stage,
      reviewerId: linkOf(seat.voterEmail),
    })),
  );
  return seating.mailed.map(linkOf);
}

async function linksOf(
  tx: Transaction,
  keyring: Keyring,
  where: Where,
  planned: readonly PlannedSeat[],
): Promise<(email: string) => string> {
  const emails = new Map(planned.map(({ voterEmail }) => [voterEmail.toLowerCase(), voterEmail]));
  const reviewers = [...emails.values()].map((email) => newReviewer(email, keyring));
  const links = await seats.ensureReviewers(tx, where, reviewers, keyring.current.id);
  return (email) => {
    const link = links.get(email.toLowerCase());
    if (link === undefined) throw new Error(`${where.approvalId}: a voter has no link`);
    return link;
  };
}
