// Events: facts about an approval, an endpoint or a mail, written in the transaction that makes them true.

import type { ApprovalStatus } from "./approval.ts";

/** The events that an endpoint may subscribe to: each at most once per approval. */
export const eventKinds = [
  "request.created",
  "request.approved",
  "request.rejected",
  "request.expired",
  "request.cancelled",
] as const;

export type EventKind = (typeof eventKinds)[number];

/** Sent to one endpoint because somebody wants to see whether it works. */
export const testEventKind = "webhook.test";

export type WebhookEventKind = EventKind | typeof testEventKind;

/** Notices that people get by mail: reviewers are reminded, owners hear of failures. */
export const noticeKinds = [
  "request.expiring",
  "endpoint.delivery_failed",
  "endpoint.failing",
  "endpoint.disabled",
  "mail.failed",
  "callback.failed",
] as const;

export type NoticeKind = (typeof noticeKinds)[number];
/** Changes of a passkey that its owner is told of. */
export type PasskeyMailKind = "person.passkey_added" | "person.passkey_removed";
/** Mails about a person: a code to sign in with, a passkey, an invitation. */
export type PersonMailKind = "person.signing_in" | PasskeyMailKind | "member.invited";

export type MailEventKind = "request.created" | NoticeKind | PersonMailKind;

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
