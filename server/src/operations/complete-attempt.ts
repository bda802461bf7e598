// Records how attempts ended, many at once under load. A mail that failed for good is told to the owners in the
// transaction that says so.

import { endedAttemptsMax } from "../domain/limits.ts";
import { type Database, inOneStatement, inTransaction } from "../storage/database.ts";
import * as deliveries from "../storage/deliveries.ts";
import { gather } from "../storage/gathering.ts";

/** Answers whether the attempt's lease was still held; if not, another has taken over and nothing was changed. */
export type CompleteAttempt = (end: deliveries.AttemptEnd) => Promise<boolean>;

export function makeCompleteAttempt(db: Database): CompleteAttempt {
  return gather(
    (ends: deliveries.AttemptEnd[]) => deliveries.completeAttempts(inOneStatement(db), ends),
    { itemsMax: endedAttemptsMax, batchesInFlightMax: 1 },
  );
}

export async function completeFailedMail(
  db: Database,
  end: deliveries.AttemptEnd,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const [wasHeld = false] = await deliveries.completeAttempts(tx, [end]);
    if (wasHeld) {
      await deliveries.insertMailNotice(tx, end.lease, { answer: end.responseStart });
    }
    return wasHeld;
  });
}
