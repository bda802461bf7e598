// The kinds of events that an endpoint can choose, each with its meaning.

import type { EventKind } from "../../../../sdk/src/contract.ts";

/** A record, so that the compiler finds a missing kind. In the order in which they happen. */
const meanings: Record<EventKind, string> = {
  "request.created": "An agent asked, and its approvers are being mailed",
  "request.approved": "A person approved, perhaps with an edited payload",
  "request.rejected": "A person rejected",
  "request.expired": "The time ran out without a decision",
  "request.cancelled": "The agent or a member cancelled it",
};

export const eventKinds: readonly { kind: EventKind; meaning: string }[] = Object.entries(
  meanings,
).map(([kind, meaning]) => ({ kind: kind as EventKind, meaning }));

/** "Every kind" is stored as null, so that kinds added later are sent, too. */
export function describeKinds(kinds: readonly EventKind[] | null): string {
  if (kinds === null) return "Every event";
  if (kinds.length === 0) return "No event";
  return kinds.map((kind) => kind.replace(/^request\./, "")).join(", ");
}
