// Which endpoints and which use of the plan need somebody's attention, and which of them first.

import { quotaNearShare } from "../limits.ts";
import { monthlyLimit, type PlanLimits } from "../shown/plan-limit.ts";

export type EndpointSigns = {
  failingSince: Date | null;
  /** When the service disabled it. */
  disabledAt: Date | null;
  /** When the last delivery to it was given up that nobody resent. */
  lastMissedAt: Date | null;
};

export type Trouble = { trouble: "failing" | "disabled" | "missed"; since: Date };

/** Null for an endpoint that works and missed nothing. */
export function troubleOf(endpoint: EndpointSigns): Trouble | null {
  const { failingSince, disabledAt, lastMissedAt } = endpoint;
  if (disabledAt !== null) return { trouble: "disabled", since: disabledAt };
  if (failingSince !== null) return { trouble: "failing", since: failingSince };
  return lastMissedAt === null ? null : { trouble: "missed", since: lastMissedAt };
}

const urgency = ["failing", "disabled", "missed"];

/** What fails now comes first, and of those what has failed for longest: it is the next to be disabled. */
export function byUrgency(one: Trouble, other: Trouble): number {
  return (
    urgency.indexOf(one.trouble) - urgency.indexOf(other.trouble) ||
    one.since.getTime() - other.since.getTime()
  );
}

export type QuotaNear = { used: number; limit: number; isUsedUp: boolean };

/** Null while much of the monthly limit is left, or there is none. */
export function quotaNear({ used, ...limits }: PlanLimits & { used: number }): QuotaNear | null {
  const limit = monthlyLimit(limits);
  if (limit === null || used < limit * quotaNearShare) return null;
  return { used, limit, isUsedUp: used >= limit };
}
