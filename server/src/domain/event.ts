// Events: facts about an approval, one of each kind at most, written in the transaction that makes them true.

import type { ApprovalStatus } from "./approval.ts";

export const eventKinds = [
  "request.created",
  "request.approved",
  "request.rejected",
  "request.expired",
  "request.cancelled",
] as const;

export type EventKind = (typeof eventKinds)[number];

const kindByStatus: Record<ApprovalStatus, EventKind> = {
  PENDING: "request.created",
  APPROVED: "request.approved",
  REJECTED: "request.rejected",
  EXPIRED: "request.expired",
  CANCELLED: "request.cancelled",
};

/** The event that is emitted when an approval enters a state. */
export function eventOfStatus(status: ApprovalStatus): EventKind {
  return kindByStatus[status];
}

export function isEventKind(text: string): text is EventKind {
  return eventKinds.some((kind) => kind === text);
}
