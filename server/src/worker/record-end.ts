// Records how an attempt ended, with patience: the database may be away just now, and a sent message stays sent.

import { setTimeout as pause } from "node:timers/promises";
import { isUnavailable } from "../database/faults.ts";
import { leaseSeconds } from "../domain/limits.ts";
import { interrupted } from "../domain/shown/attempt.ts";
import type { AttemptEnd, Lease } from "../storage/deliveries/attempts.ts";

const pauseMs = 500;
/** After this the lease has run out or is about to, and another worker will repeat the attempt. */
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

/**
 * The end of an attempt that a worker gives back because it stops. Its duration tells it from an attempt that a crash
 * cut short.
 */
export function givenBack(lease: Lease, claimedAtMs: number): AttemptEnd {
  return {
    lease,
    outcome: interrupted,
    httpStatus: null,
    responseStart: null,
    durationMs: Math.round(performance.now() - claimedAtMs),
    next: { state: "due", delayMs: 0 },
  };
}
