// The text of a webhook's body: a pure function of the approval, the kind of event and its time. Nothing is stored for
// it but what `approvals` was at the moment of a kind that repeats, and yet every attempt sends the same bytes: the
// content of `request.created`, and that of every other kind, never changes.

import type { CheckpointEvent, WebhookData, WebhookEvent } from "../../../../sdk/src/contract.ts";
import { type JsonText, toJsonText } from "../shown/json-text.ts";
import { nothingElse } from "../shown/submitted-fields.ts";
import type { Approval } from "./approval.ts";
import { approvalFields, type JsonFields, joinFields } from "./approval-json.ts";
import { checkpointKind, type EventKind, isVotingKind, testEventKind } from "./event.ts";
import { firstApprovals } from "./voting-record.ts";

/** `approval` as it is now: pending, or in its one final state. `voting` is what the event has kept of its moment. */
export function eventText(
  kind: EventKind,
  at: Date,
  approval: Approval,
  voting: JsonText | null = null,
): JsonText {
  return envelope(kind, at, snapshotOf(kind, approval, voting));
}

function snapshotOf(kind: EventKind, approval: Approval, voting: JsonText | null): Approval {
  if (isVotingKind(kind)) return { ...approval, state: { kind: "PENDING" }, voting };
  if (kind !== "request.created") return approval;
  return { ...approval, state: { kind: "PENDING" }, voting: firstVoting(approval) };
}

function firstVoting({ voting }: Approval): JsonText | null {
  if (voting === null) return null;
  return JSON.stringify(firstApprovals(JSON.parse(voting))) as JsonText;
}

/** Has the form of every other event, so that a receiver's own parsing is tried too. No request stands behind it. */
export function testEventText(at: Date): JsonText {
  return envelope(testEventKind, at, {
    id: "req_test",
    summary: "A test event. No request stands behind it, and there is nothing to do.",
    ...nothingElse,
    payload: '{"test":true}' as JsonText,
    agentName: "countersign",
    approver: { kind: "address", email: "nobody@example.com" },
    createdAt: at,
    expiresAt: at,
    state: { kind: "PENDING" },
    voting: null,
  });
}

/** The checkpoint of the day: a signed note. */
export function checkpointEventText(at: Date, checkpoint: string): JsonText {
  return joinFields({
    event: toJsonText(checkpointKind),
    createdAt: toJsonText(at.toISOString()),
    checkpoint: toJsonText(checkpoint),
  } satisfies JsonFields<CheckpointEvent>);
}

function envelope(kind: EventKind | typeof testEventKind, at: Date, approval: Approval): JsonText {
  const data = joinFields({
    id: toJsonText(approval.id),
    ...approvalFields(approval),
    createdAtRequest: toJsonText(approval.createdAt.toISOString()),
  } satisfies JsonFields<WebhookData>);
  return joinFields({
    event: toJsonText(kind),
    createdAt: toJsonText(at.toISOString()),
    data,
  } satisfies JsonFields<WebhookEvent>);
}
