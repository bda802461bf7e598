// When an endpoint that only fails is given up: its owners are warned at half time, and told when it happens.

import { endpointFailingDaysMax } from "../limits.ts";

export type EndpointHealth = {
  /** The first failure since the last success; null while it works. */
  failingSince: Date | null;
  warnedAt: Date | null;
};

export type HealthStep = "none" | "warn" | "disable";

const msPerDay = 86_400_000;
const halfTimeMs = (endpointFailingDaysMax * msPerDay) / 2;

/**
 * The step after a further failure. Disabling goes by the time of the warning, so that even an endpoint which rarely
 * hears from us is never disabled without one.
 */
export function stepAfterFailure(
  { failingSince, warnedAt }: EndpointHealth,
  now: Date,
): HealthStep {
  if (failingSince === null) return "none";
  if (warnedAt !== null) return isHalfTimeSince(warnedAt, now) ? "disable" : "none";
  return isHalfTimeSince(failingSince, now) ? "warn" : "none";
}

/** When an endpoint that was warned about and goes on failing will be disabled. */
export function disabledAfter(warnedAt: Date): Date {
  return new Date(warnedAt.getTime() + halfTimeMs);
}

function isHalfTimeSince(time: Date, now: Date): boolean {
  return now.getTime() - time.getTime() >= halfTimeMs;
}
