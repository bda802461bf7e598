// What the pages of deliveries call things, in one place. What agents wrote is never in here.

import type { DeliveryState } from "../../../../server/src/wire/dashboard-contract.ts";

export const stateWords: Record<DeliveryState, string> = {
  due: "On its way",
  delivered: "Delivered",
  failed: "Failed",
  skipped: "Skipped",
};

export function attemptsWord(count: number): string {
  if (count === 0) return "no attempt yet";
  return `${count} ${count === 1 ? "attempt" : "attempts"}`;
}
