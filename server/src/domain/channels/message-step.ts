// When a message that could not be sent is tried again, and when it is given up.

import { retryAfterSecondsMax, retryJitter } from "../limits.ts";
import { messageRetryDelaysMs } from "./message-limits.ts";

export type RetryStep =
  | { kind: "due"; delayMs: number; failure: string }
  | { kind: "failed"; failure: string };

/** `attempts` counts this one, and `chance` from 0 to 1 spreads messages that failed together. */
export function stepAfterRefusal(
  { afterSeconds, failure }: { afterSeconds: number; failure: string },
  attempts: number,
  chance: number,
): RetryStep {
  const ownMs = messageRetryDelaysMs[attempts - 1];
  if (ownMs === undefined) return { kind: "failed", failure };
  const spreadMs = ownMs * (1 - retryJitter + 2 * retryJitter * chance);
  return { kind: "due", delayMs: Math.round(Math.max(spreadMs, askedMs(afterSeconds))), failure };
}

/** The wait that a service asked for, within bounds. */
export function askedMs(seconds: number): number {
  return Math.min(Math.max(seconds, 0), retryAfterSecondsMax) * 1_000;
}

/** A message that takes its worker down each time is never answered; it must end somewhere, too. */
export function isTriedTooOften(attempts: number): boolean {
  return attempts > messageRetryDelaysMs.length + 1;
}
