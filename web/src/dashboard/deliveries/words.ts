// The words of the deliveries pages, in one place. Agents' words are never in here.

import { destinationWords } from "../../../../server/src/domain/shown/destination.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
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

export function isDeleted(destination: Delivery["destination"]): boolean {
  return destination.kind === "endpoint" && destination.isDeleted === true;
}

export function skippedSentence(destination: Delivery["destination"]): string {
  return isDeleted(destination)
    ? "Not sent: the endpoint was deleted."
    : destinationWords[destination.kind].skipped;
}
