// The reader's place in the first steps. It is derived only from the workspace's data, so that a reload, or coming back
// tomorrow, finds the same place.

import type { RequestPage, RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import type { ApiKey } from "../../../../server/src/wire/dashboard-keys.ts";

/** With more requests than this a workspace is in use and needs no guide. */
export const requestsMax = 3;

export type Place =
  /** There is no key to ask with. */
  | { kind: "key" }
  /** There is a key. `lapsed` is an earlier request that ended without a decision. */
  | { kind: "ask"; key: ApiKey; lapsed: RequestRow | null }
  | { kind: "approve"; request: RequestRow }
  | { kind: "done"; request: RequestRow }
  /** The workspace is in use. */
  | { kind: "over" };

type Held = { keys: readonly ApiKey[]; page: Pick<RequestPage, "items" | "nextCursor"> };

export function placeOf({ keys, page }: Held): Place {
  const { items, nextCursor } = page;
  if (nextCursor !== null || items.length > requestsMax) return { kind: "over" };
  const decided = withStatus(items, "APPROVED") ?? withStatus(items, "REJECTED");
  if (decided !== null) return { kind: "done", request: decided };
  const waiting = withStatus(items, "PENDING");
  if (waiting !== null) return { kind: "approve", request: waiting };
  const key = keys.find(({ revokedAt }) => revokedAt === null);
  return key === undefined ? { kind: "key" } : { kind: "ask", key, lapsed: items[0] ?? null };
}

/** The first one is the newest: lists are newest first. */
function withStatus(items: readonly RequestRow[], status: RequestRow["status"]): RequestRow | null {
  return items.find((item) => item.status === status) ?? null;
}

export type StepState = "done" | "now" | "later";

/** The states of the three steps, in order. */
export function stepStates(place: Place): [StepState, StepState, StepState] {
  switch (place.kind) {
    case "key":
      return ["now", "later", "later"];
    case "ask":
      return ["done", "now", "later"];
    case "approve":
      return ["done", "done", "now"];
    case "done":
    case "over":
      return ["done", "done", "done"];
    default:
      return place satisfies never;
  }
}
