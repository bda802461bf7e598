// The deliveries that the page of an endpoint shows first, and what it says where there are none. While attempts fail,
// deliveries are on their way until they are given up, so "none failed" would contradict the note that all do.

import type { EndpointDetail } from "../../../../server/src/wire/dashboard-endpoints.ts";
import type { DeliveryState } from "../../../../server/src/wire/dashboard-filters.ts";

export type EndpointFacts = Pick<EndpointDetail, "disabledAt" | "failingSince" | "unsuccessful">;

export function usualState(endpoint: EndpointFacts): DeliveryState {
  return isFailing(endpoint) && endpoint.unsuccessful.count === 0 ? "due" : "failed";
}

export function wordsForNone(state: DeliveryState, endpoint: EndpointFacts): string {
  switch (state) {
    case "failed":
      return isFailing(endpoint)
        ? "No delivery was given up yet. Those whose attempts failed are on their way, and are tried again."
        : "No delivery was given up. Nothing needs to be sent again.";
    case "skipped":
      return "No event was skipped while the endpoint was disabled.";
    case "due":
      return "No delivery is on its way.";
    case "delivered":
      return "Nothing has been delivered yet.";
    default:
      return state satisfies never;
  }
}

function isFailing({ disabledAt, failingSince }: EndpointFacts): boolean {
  return disabledAt === null && failingSince !== null;
}
