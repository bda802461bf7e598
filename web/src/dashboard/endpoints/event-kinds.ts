// The kinds of events that an endpoint can choose, each with its meaning.

import type {
  CheckpointEventKind,
  EndpointEventKind,
  VotingEventKind,
} from "../../../../sdk/src/contract.ts";

/** A record, so that the compiler finds a missing kind. In the order in which they happen. */
const meanings: Record<EndpointEventKind, string> = {
  "request.created": "An agent asked, and its approvers are being mailed",
  "request.approved": "A person approved, perhaps with an edited payload",
  "request.rejected": "A person rejected",
  "request.expired": "The time ran out without a decision",
  "request.cancelled": "The agent or a member cancelled it",
  "request.vote_recorded": "One of several people voted",
  "request.stage_entered": "The people of another stage are asked",
  "request.escalated": "A stage stayed open, so more people are asked",
  "request.reassigned": "A vote was handed over, or a delegate stands in",
  "request.unreachable": "No mail of the open stage could be delivered",
  "log.checkpoint": "Once a day, if the log grew: its newest checkpoint",
};

export const eventKinds: readonly { kind: EndpointEventKind; meaning: string }[] = Object.entries(
  meanings,
).map(([kind, meaning]) => ({ kind: kind as EndpointEventKind, meaning }));

const namedKinds: ReadonlySet<EndpointEventKind> = new Set<VotingEventKind | CheckpointEventKind>([
  "request.vote_recorded",
  "request.stage_entered",
  "request.escalated",
  "request.reassigned",
  "request.unreachable",
  "log.checkpoint",
]);

/** What an endpoint gets that names no kinds. Others are sent only to endpoints that name them. */
export const usualKinds: readonly EndpointEventKind[] = eventKinds
  .map(({ kind }) => kind)
  .filter((kind) => !namedKinds.has(kind));

/** "The usual kinds" is stored as null. */
export function describeKinds(kinds: readonly EndpointEventKind[] | null): string {
  if (kinds === null) return "Created and every outcome";
  if (kinds.length === 0) return "No event";
  return kinds.map((kind) => kind.replace(/^request\./, "")).join(", ");
}
