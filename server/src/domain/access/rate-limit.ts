// How many calls a key may make: a bucket of `burst` calls that refills at `perSecond`.
// Kept as one number, the time at which the bucket would be full again (the GCRA of ATM networks).

export type RateLimit = { perSecond: number; burst: number };

export type RateDecision = {
  allowed: boolean;
  /** Calls that could still be made at once. */
  remaining: number;
  /** Until the bucket is full again. */
  resetMs: number;
  /** Until the next call would be allowed; 0 when it is allowed now. */
  retryAfterMs: number;
  /** Kept for the next decision. */
  fullAtMs: number;
};

/** A thousandth of a call absorbs rounding errors of sums, so that a burst of N allows exactly N. */
const dust = 0.001;

export function decideRate(limit: RateLimit, fullAtMs: number, nowMs: number): RateDecision {
  const callMs = 1000 / limit.perSecond;
  const bucketMs = callMs * limit.burst;
  const debtMs = Math.max(0, fullAtMs - nowMs);
  const debtAfterMs = debtMs + callMs;
  const allowed = debtAfterMs <= bucketMs + callMs * dust;
  const kept = allowed ? debtAfterMs : debtMs;
  return {
    allowed,
    remaining: Math.max(0, Math.floor((bucketMs - kept) / callMs + dust)),
    resetMs: kept,
    retryAfterMs: allowed ? 0 : debtAfterMs - bucketMs,
    fullAtMs: nowMs + kept,
  };
}
