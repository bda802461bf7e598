// The filter of an endpoint's deliveries, as the address stores it and as people choose it.

import type { EndpointEventKind, TestEventKind } from "../../../../sdk/src/contract.ts";
import type {
  DeliveryFilter,
  DeliveryState,
} from "../../../../server/src/wire/dashboard-filters.ts";
import { type EndpointFacts, usualState, wordsForNone } from "./usual-state.ts";

export const deliveryChoices: readonly { value: DeliveryState | "all"; word: string }[] = [
  { value: "failed", word: "Failed" },
  { value: "skipped", word: "Skipped" },
  { value: "due", word: "On their way" },
  { value: "delivered", word: "Delivered" },
  { value: "all", word: "All" },
];

/** A record, so that the compiler finds a missing kind. */
const events: Record<EndpointEventKind | TestEventKind, true> = {
  "request.created": true,
  "request.approved": true,
  "request.rejected": true,
  "request.expired": true,
  "request.cancelled": true,
  "request.vote_recorded": true,
  "request.stage_entered": true,
  "request.escalated": true,
  "request.reassigned": true,
  "request.unreachable": true,
  "log.checkpoint": true,
  "webhook.test": true,
};
export const deliveryEvents = Object.keys(events);

export type DeliverySearch = { [Key in "state" | "event" | "from" | "to"]?: string };

/** The chosen state, or the usual one of this endpoint, and the words where there are none. */
export function chosenDeliveries(
  search: DeliverySearch,
  endpoint: EndpointFacts,
): { state: DeliveryState | "all"; none: string } {
  const chosen = deliveryChoices.find(({ value }) => value === search.state);
  const state = chosen?.value ?? usualState(endpoint);
  return {
    state,
    none: isNarrowed(search) ? "No delivery fits all filters." : none(state, endpoint),
  };
}

function isNarrowed({ event, from, to }: DeliverySearch): boolean {
  return [event, from, to].some((each) => each !== undefined);
}

function none(state: DeliveryState | "all", endpoint: EndpointFacts): string {
  return state === "all" ? "There has been nothing to deliver yet." : wordsForNone(state, endpoint);
}

export function filterOfDeliveries(
  search: DeliverySearch,
  endpoint: EndpointFacts & { id: string },
): DeliveryFilter {
  const { state } = chosenDeliveries(search, endpoint);
  const { event, from, to } = search;
  return {
    endpoint: endpoint.id,
    ...(state === "all" ? {} : { state }),
    ...(event === undefined ? {} : { event }),
    ...(isInstant(from) ? { from } : {}),
    ...(isInstant(to) ? { to } : {}),
  };
}

function isInstant(at: string | undefined): at is string {
  return at !== undefined && !Number.isNaN(Date.parse(at));
}
