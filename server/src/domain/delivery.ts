// Deliveries: when a failed attempt is followed by another, and how long to wait for it.

import { type AttemptOutcome, interrupted } from "./attempt.ts";
import { interruptionsMax, retryAfterSecondsMax, retryJitter } from "./limits.ts";

export type DeliveryState = "due" | "delivered" | "failed" | "skipped";

export type NextStep =
  | { state: "delivered" }
  | { state: "failed" }
  | { state: "due"; delayMs: number };

export type EndedAttempt = {
  outcome: AttemptOutcome;
  /** Counted from 1 within the round; interrupted ones count too. */
  numberInRound: number;
  /** What the receiver asked for, or null. */
  retryAfterSeconds: number | null;
  /** The waits before the second attempt, the third, and so on. */
  delaysMs: readonly number[];
  /** From 0 to 1: spreads those who failed together. */
  chance: number;
};

export function nextStep(attempt: EndedAttempt): NextStep {
  const { outcome, numberInRound, retryAfterSeconds, delaysMs, chance } = attempt;
  if (outcome === "delivered" || outcome === "kept") return { state: "delivered" };
  if (outcome === interrupted) return { state: "due", delayMs: 0 };
  const delayMs = delaysMs[numberInRound - 1];
  if (outcome === "refused" || delayMs === undefined) return { state: "failed" };
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
 * Interrupted attempts are repeated whatever their number, because nobody knows whether they arrived. But one
 * that takes its worker down each time must end somewhere.
 */
export function isInterruptedTooOften(numberInRound: number, delaysMs: readonly number[]): boolean {
  return numberInRound > delaysMs.length + 1 + interruptionsMax;
}
