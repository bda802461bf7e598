// The text of a webhook's body: a pure function of the approval, the kind of event and its time. Nothing is stored for
// it, and yet every attempt sends the same bytes: the content of `request.created`, and that of every other
// kind, never changes.

import type { WebhookData, WebhookEvent } from "../../../../sdk/src/contract.ts";
import { type JsonText, toJsonText } from "../shown/json-text.ts";
import { nothingElse } from "../shown/submitted-fields.ts";
import type { Approval } from "./approval.ts";
import { approvalFields, type JsonFields, joinFields } from "./approval-json.ts";
import { type EventKind, testEventKind, type WebhookEventKind } from "./event.ts";

/** `approval` as it is now: pending, or in its one final state. */
export function eventText(kind: EventKind, at: Date, approval: Approval): JsonText {
  const snapshot: Approval =
    kind === "request.created" ? { ...approval, state: { kind: "PENDING" } } : approval;
  return envelope(kind, at, snapshot);
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
  });
}

function envelope(kind: WebhookEventKind, at: Date, approval: Approval): JsonText {
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
