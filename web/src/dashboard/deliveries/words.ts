// What the pages of deliveries call things, in one place. What agents wrote is never in here.

import type { DeliveryState } from "../../../../server/src/wire/dashboard-contract.ts";

export const stateWords: Record<DeliveryState, string> = {
  due: "On its way",
  delivered: "Delivered",
  failed: "Failed",
  skipped: "Skipped",
};

/** Mails are named by their purpose; events by the names that receivers know. */
export function mailTitle(event: string): string {
  switch (event) {
    case "request.created":
      return "Review mail";
    case "request.expiring":
      return "Reminder mail";
    default:
      return `Mail about ${event}`;
  }
}

export function attemptsWord(count: number): string {
  if (count === 0) return "no attempt yet";
  return `${count} ${count === 1 ? "attempt" : "attempts"}`;
}
