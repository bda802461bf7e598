// Records how attempts ended, many at once under load. A delivery that failed for good is told to the owners in the
// transaction that says so.

import { type Database, inOneStatement, inTransaction } from "../../database/database.ts";
import { gather } from "../../database/gathering.ts";
import { endedAttemptsMax } from "../../domain/limits.ts";
import type { Recorder } from "../../domain/recorder.ts";
import * as attempts from "../../storage/deliveries/attempts.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import { type GivenUp, tellOfGivenUp } from "./note-endpoint-health.ts";

/** Answers whether the attempt's lease was still held; if not, another has taken over and nothing was changed. */
export type CompleteAttempt = (end: attempts.AttemptEnd) => Promise<boolean>;

export function makeCompleteAttempt(
  db: Database,
  recorder: Recorder | null = null,
): CompleteAttempt {
  return gather(
    (ends: attempts.AttemptEnd[]) => attempts.completeAttempts(inOneStatement(db), ends),
    {
      itemsMax: endedAttemptsMax,
      batchesInFlightMax: 1,
      onBatch: recorder === null ? undefined : (items) => recorder.gathered("attempt", items),
    },
  );
}

/** Attempts of one digest end together: were some of them recorded alone, the others would be sent as another mail. */
export async function completeTogether(
  db: Database,
  ends: attempts.AttemptEnd[],
): Promise<boolean[]> {
  return attempts.completeAttempts(inOneStatement(db), ends);
}

/** The owners hear of a host once a day, and of few hosts: a thousand requests with a bad address are one mail. */
export async function completeGivenUpCallback(
  db: Database,
  ends: attempts.AttemptEnd[],
  givenUp: { host: string; event: string; reason: string },
): Promise<boolean[]> {
  return inTransaction(db, async (tx) => {
    const wereHeld = await attempts.completeAttempts(tx, ends);
    const told = ends.find((_, at) => wereHeld[at]);
    if (told === undefined) return wereHeld;
    const turn = { workspaceId: told.lease.workspaceId, host: givenUp.host };
    if (await newDeliveries.lockCallbackNotices(tx, turn)) {
      await newDeliveries.insertCallbackNotice(tx, told.lease, givenUp);
    }
    return wereHeld;
  });
}

/** The owners are told of the first that is given up since the endpoint last worked. */
export async function completeGivenUpWebhook(
  db: Database,
  ends: attempts.AttemptEnd[],
  givenUp: GivenUp,
): Promise<boolean[]> {
  return inTransaction(db, async (tx) => {
    const wereHeld = await attempts.completeAttempts(tx, ends);
    if (wereHeld.includes(true)) await tellOfGivenUp(tx, givenUp);
    return wereHeld;
  });
}
