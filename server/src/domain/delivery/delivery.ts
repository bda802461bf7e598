// Deliveries: when a failed attempt is followed by another, and how long to wait for it.

import { crashesInRowMax, retryAfterSecondsMax, retryJitter } from "../limits.ts";
import {
  type AttemptOutcome,
  type interrupted,
  isFinalFailure,
  isSuccess,
} from "../shown/attempt.ts";

export type DeliveryState = "due" | "delivered" | "failed" | "skipped";

export type NextStep =
  | { state: "delivered" }
  | { state: "failed" }
  | { state: "due"; delayMs: number };

export type EndedAttempt = {
  outcome: Exclude<AttemptOutcome, typeof interrupted>;
  /** Counted from 1 within the round; interrupted ones don't count. */
  numberInRound: number;
  /** The wait that the receiver asked for, or null. */
  retryAfterSeconds: number | null;
  /** The waits before the second attempt, the third, and so on. */
  delaysMs: readonly number[];
  /** From 0 to 1: spreads deliveries that failed together. */
  chance: number;
};

export function nextStep(attempt: EndedAttempt): NextStep {
  const { outcome, numberInRound, retryAfterSeconds, delaysMs, chance } = attempt;
  if (isSuccess(outcome)) return { state: "delivered" };
  const delayMs = delaysMs[numberInRound - 1];
  if (isFinalFailure(outcome) || delayMs === undefined) return { state: "failed" };
  if (retryAfterSeconds !== null) {
    const seconds = Math.min(Math.max(retryAfterSeconds, 1), retryAfterSecondsMax);
    return { state: "due", delayMs: seconds * 1000 };
  }
  return {
    state: "due",
    delayMs: Math.round(delayMs * (1 - retryJitter + 2 * retryJitter * chance)),
  };
}

/**
 * Interrupted attempts don't count, because nobody knows how they went. But a delivery that takes its worker down each
 * time must end somewhere.
 */
export function isCrashedTooOften(crashesInRow: number): boolean {
  return crashesInRow >= crashesInRowMax;
}
