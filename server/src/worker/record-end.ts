// Records how an attempt ended, with patience: the database may be away just now, and what was sent was sent.

import { setTimeout as pause } from "node:timers/promises";
import { leaseSeconds } from "../domain/limits.ts";
import { isUnavailable } from "../storage/database.ts";

const pauseMs = 500;
/** After this the lease has run out or is about to, and another will repeat the attempt. */
const patienceMs = (leaseSeconds - 2) * 1_000;

/** Answers whether the lease was still held. Recording twice does no harm: the second time it is not. */
export async function recordEnd<End, WasHeld>(
  complete: (end: End) => Promise<WasHeld>,
  end: End,
  claimedAtMs: number,
): Promise<WasHeld> {
  for (;;) {
    try {
      return await complete(end);
    } catch (error) {
      const isLate = performance.now() - claimedAtMs > patienceMs;
      if (!isUnavailable(error) || isLate) throw error;
      await pause(pauseMs);
    }
  }
}
