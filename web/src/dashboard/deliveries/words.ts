// The words of the deliveries pages, in one place. Agents' words are never in here.

import type { DeliveryState } from "../../../../server/src/wire/dashboard-filters.ts";

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
