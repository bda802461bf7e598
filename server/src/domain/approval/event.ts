// Events: facts about an approval, an endpoint or a mail, written in the transaction that makes them true.

import type { ApprovalStatus } from "./approval.ts";

/** What an endpoint gets that names no kinds: each at most once per approval. */
export const onceKinds = [
  "request.created",
  "request.approved",
  "request.rejected",
  "request.expired",
  "request.cancelled",
] as const;

/** Only endpoints that name them get these. They repeat, so each keeps what `approvals` was at its moment. */
export const votingKinds = [
  "request.vote_recorded",
  "request.stage_entered",
  "request.escalated",
  "request.reassigned",
  "request.unreachable",
] as const;

/** The events of requests. */
export const eventKinds = [...onceKinds, ...votingKinds] as const;

/** The log's checkpoint of the day. Only endpoints that name it get it. */
export const checkpointKind = "log.checkpoint";

/** The events that an endpoint may subscribe to. */
export const endpointKinds = [...eventKinds, checkpointKind] as const;

export type OnceKind = (typeof onceKinds)[number];
export type VotingKind = (typeof votingKinds)[number];
export type EventKind = OnceKind | VotingKind;
export type EndpointKind = (typeof endpointKinds)[number];

/** Sent to one endpoint because somebody wants to see whether it works. */
export const testEventKind = "webhook.test";

export type WebhookEventKind = EndpointKind | typeof testEventKind;

/** Mails that ask a reviewer for a decision, or ask again. */
export const askingKinds = [
  "request.created",
  "request.stage_entered",
  "request.escalated",
  "request.reassigned",
  "request.changed",
  "request.reminded",
  "request.expiring",
] as const;

/** Mails that tell everybody who was asked how it ended. Only where several people were to decide. */
export const outcomeKinds = [
  "request.approved",
  "request.rejected",
  "request.expired",
  "request.cancelled",
] as const;

/** Mails to a workspace's owners: something failed, or can't go on by itself. */
export const noticeKinds = [
  "endpoint.delivery_failed",
  "endpoint.failing",
  "endpoint.disabled",
  "mail.failed",
  "callback.failed",
  "request.unreachable",
  "request.stuck",
] as const;

/**
 * What the row of a voting event keeps for its mails. `request.changed` (asked again because of an edit), `request.reminded`
 * and `request.stuck` (owners hear that too few people are left) go by mail only.
 */
export type VotingDetail = {
  /** From 1 on. */
  stage?: number;
  /** Who edited, or passed their vote on. */
  byEmail?: string;
  /** To whom it was passed. */
  toEmail?: string;
  /** For whom they stand in. */
  forEmail?: string;
  reason?: "away" | "handed_over";
  /** The new one, and the one that its readers approved. */
  revision?: number;
  fromRevision?: number;
  afterMinutes?: number;
};

export type AskingKind = (typeof askingKinds)[number];
export type OutcomeKind = (typeof outcomeKinds)[number];
export type NoticeKind = (typeof noticeKinds)[number];
/** Changes of a passkey that its owner is told of. */
export type PasskeyMailKind = "person.passkey_added" | "person.passkey_removed";
/** Told to the owners of each workspace that knows a person: a passkey can sign decisions in their name. */
export type OwnerMailKind = "owner.passkey_added";
/** Told to owners about the log: its checkpoint of the day, and a witness that has seen another log. */
export type LogMailKind = typeof checkpointKind | "log.contradicted";
/** Mails about a person: a code to sign in with, a passkey, an invitation. */
export type PersonMailKind = "person.signing_in" | PasskeyMailKind | "member.invited";

export type MailEventKind =
  | AskingKind
  | OutcomeKind
  | NoticeKind
  | OwnerMailKind
  | LogMailKind
  | PersonMailKind;

const kindByStatus: Record<ApprovalStatus, OnceKind> = {
  PENDING: "request.created",
  APPROVED: "request.approved",
  REJECTED: "request.rejected",
  EXPIRED: "request.expired",
  CANCELLED: "request.cancelled",
};

/** The event that is emitted when an approval enters a state. */
export function eventOfStatus(status: ApprovalStatus): OnceKind {
  return kindByStatus[status];
}

/** A person approved or rejected: there is a receipt of it. */
export function isDecision(kind: string): boolean {
  return kind === "request.approved" || kind === "request.rejected";
}

export function isVotingKind(kind: string): kind is VotingKind {
  return votingKinds.some((each) => each === kind);
}

export function isAskingKind(text: string): text is AskingKind {
  return askingKinds.some((kind) => kind === text);
}

export function isOutcomeKind(text: string): text is OutcomeKind {
  return outcomeKinds.some((kind) => kind === text);
}

export function isEventKind(text: string): text is EventKind {
  return eventKinds.some((kind) => kind === text);
}

export function isEndpointKind(text: string): text is EndpointKind {
  return endpointKinds.some((kind) => kind === text);
}
