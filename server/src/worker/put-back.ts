// Puts back deliveries whose secret key is not here, as if they had never been claimed, so that no attempt is used up
// while the operator adds the key. During a rotation another node may have it already.

import type { Logger } from "pino";
import { type Database, inOneStatement } from "../database/database.ts";
import { awaitedKeyDelayMs } from "../domain/limits.ts";
import * as attempts from "../storage/deliveries/attempts.ts";

export type PutBackOptions = { db: Database; log: Logger };

export type PutBack = (leases: readonly attempts.Lease[], secretKeyId: string) => Promise<void>;

/** The log names each missing key now and then, not each delivery. */
const tellEveryMs = 30_000;

export function makePutBack({ db, log }: PutBackOptions): PutBack {
  const toldAtMs = new Map<string, number>();
  return async (leases, secretKeyId) => {
    // No alarm is set for it: this worker would be the first to claim it again, and another may have the key.
    await attempts.putBack(inOneStatement(db), leases, awaitedKeyDelayMs);
    const told = toldAtMs.get(secretKeyId);
    if (told !== undefined && performance.now() - told < tellEveryMs) return;
    toldAtMs.set(secretKeyId, performance.now());
    log.error(
      { secretKeyId, deliveryId: leases[0]?.deliveryId },
      "deliveries wait for a key that is not in SECRET_KEY, and no attempt is used up; add the key to the list and start again",
    );
  };
}
