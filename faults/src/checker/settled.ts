// Nothing stands still once the faults are over.

import { byClock, type Evidence, type Flaw } from "../evidence.ts";

const stuckAfterMs = 60_000;

export function flawsOfRest({ requests, deliveries, attempts, readAt }: Evidence): Flaw[] {
  const since = readAt - stuckAfterMs;
  // A lease and the wait for another attempt are shorter, and no receiver of a run asks for more.
  const until = readAt + stuckAfterMs;
  const due = deliveries.filter(({ state }) => state === "due");
  return [
    ...requests
      .filter(({ status, expiresAt }) => status === "PENDING" && expiresAt < since)
      .map(({ id }) => stuck(`${id} is pending after its end`)),
    ...due
      .filter(({ dueAt, leasedUntil }) => dueAt < since && (leasedUntil ?? 0) < since)
      .map(({ id }) => stuck(`${id} is due and nobody takes it`)),
    ...due
      .filter(({ dueAt, endpointId }) => endpointId !== null && dueAt > until)
      .map(({ id }) => stuck(`${id} is due in a long time`)),
    ...due
      .filter(({ leasedUntil }) => (leasedUntil ?? 0) > until)
      .map(({ id }) => stuck(`${id} is leased for a long time`)),
    ...attempts
      .filter(({ outcome, startedAt }) => outcome === null && startedAt < since)
      .map(({ deliveryId }) => stuck(`${deliveryId} has an attempt without an end`)),
  ];
}

const stuck = (what: string): Flaw =>
  byClock({ promise: "nothing is stuck a minute after the faults", what });
