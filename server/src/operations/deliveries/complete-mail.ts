// Records how the attempt of a mail to a reviewer ended, where something must follow: its owners are told of a mail that
// failed for good, and of a request that has reached nobody.

import { type Database, inTransaction, type Transaction } from "../../database/database.ts";
import * as attempts from "../../storage/deliveries/attempts.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as unreachable from "../../storage/deliveries/unreachable.ts";

/**
 * The owners are told of one of a digest's requests: they hear of an address once a day. They hear of a request that has
 * reached nobody instead.
 */
export async function completeFailedMail(
  db: Database,
  ends: attempts.AttemptEnd[],
): Promise<boolean[]> {
  return inTransaction(db, async (tx) => {
    const wereHeld = await attempts.completeAttempts(tx, ends);
    const failed = ends.filter((_, at) => wereHeld[at]);
    const [first] = failed;
    if (first === undefined) return wereHeld;
    const { workspaceId } = first.lease;
    const deliveryIds = failed.map(({ lease }) => lease.deliveryId);
    const answer = first.responseStart;
    const isTold = await tellOfUnreached(tx, { workspaceId, deliveryIds, answer });
    if (!isTold) {
      await newDeliveries.insertMailNotice(tx, { workspaceId, deliveryIds }, { answer });
    }
    return wereHeld;
  });
}

/** The requests are locked first: of mails that fail at once, the last one must see that the others have failed. */
async function tellOfUnreached(tx: Transaction, failed: unreachable.FailedMails): Promise<boolean> {
  const ids = await unreachable.lockAsking(tx, failed);
  if (ids.length === 0) return false;
  const { events, mails } = await unreachable.note(tx, { ...failed, ids });
  if (events > 0) await newDeliveries.announceDue(tx);
  return mails > 0;
}

/** A mail has arrived where none had: somebody of the open stage knows now. */
export async function completeReachingMail(
  db: Database,
  ends: attempts.AttemptEnd[],
): Promise<boolean[]> {
  return inTransaction(db, async (tx) => {
    const wereHeld = await attempts.completeAttempts(tx, ends);
    const reached = ends.filter((_, at) => wereHeld[at]);
    for (const { lease } of reached) await unreachable.clear(tx, lease);
    return wereHeld;
  });
}
