// The errors, as classes that a caller can tell apart. A refused approval, a wait that took too long and a failed call
// are three different things, and none is ever reported as another.

import type { ApprovalRequest, RedemptionFacts } from "./contract.ts";

export type ErrorFacts = {
  /** The HTTP status, or 0 if there was no answer. */
  status?: number;
  /** A stable word: one of the service's codes, or one of the SDK's own. */
  code: string;
  /** The `X-Request-Id` of the call: the operator finds it in the service's log. */
  requestId?: string | null;
  cause?: unknown;
};

/** A call that the service refused, or that got no answer. */
export class CountersignError extends Error {
  /** Set explicitly, because a bundler may rename the class. */
  override readonly name: string = "CountersignError";
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(message: string, { status = 0, code, requestId = null, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** The approver said no. Their reason, if they gave one, is `request.resolutionNote`. */
export class ApprovalRejectedError extends CountersignError {
  override readonly name = "ApprovalRejectedError";
  readonly request: ApprovalRequest;

  constructor(request: ApprovalRequest) {
    const note = request.resolutionNote === null ? "" : `: ${request.resolutionNote}`;
    super(`${request.id} was rejected${note}`, { code: "approval_rejected" });
    this.request = request;
  }
}

/** Nobody decided in time. This is not a "no": asking again is fine. */
export class ApprovalExpiredError extends CountersignError {
  override readonly name = "ApprovalExpiredError";
  readonly request: ApprovalRequest;

  constructor(request: ApprovalRequest) {
    super(`nobody decided about ${request.id} before ${request.expiresAt}`, {
      code: "approval_expired",
    });
    this.request = request;
  }
}

/** The request was cancelled. */
export class ApprovalCancelledError extends CountersignError {
  override readonly name = "ApprovalCancelledError";
  readonly request: ApprovalRequest;

  constructor(request: ApprovalRequest) {
    super(`${request.id} was cancelled`, { code: "approval_cancelled" });
    this.request = request;
  }
}

/** Somebody else may run the action, or has run it. This call must not. */
export class AlreadyRedeemedError extends CountersignError {
  override readonly name = "AlreadyRedeemedError";
  declare readonly code: "already_redeemed";
  readonly redeemedAt: string;
  /** The API key with which it was redeemed. */
  readonly redeemedBy: { id: string; name: string };

  constructor(message: string, facts: ErrorFacts & RedemptionFacts) {
    super(message, facts);
    this.redeemedAt = facts.redeemedAt;
    this.redeemedBy = facts.redeemedBy;
  }
}

/** A value of the payload would not be the one that a person approved. Nothing was sent, or nothing was redeemed. */
export class InexactPayloadError extends CountersignError {
  override readonly name = "InexactPayloadError";

  constructor(value: string, why: string, key = "") {
    const place = key === "" ? value : `${key}: ${value}`;
    super(
      `the payload has a value that would not run as it was approved: ${place}. ${why}. Send such values as text or as plain JSON, or give the client a parse and a stringify that keep them.`,
      { code: "inexact_payload" },
    );
  }
}

/** The payload, or what the approver made of it, is not what the action takes. Nothing was sent, or nothing was run. */
export class InvalidPayloadError extends CountersignError {
  override readonly name = "InvalidPayloadError";

  constructor(whose: string, problem: string) {
    super(`${whose} is not what this action takes: ${problem}`, { code: "invalid_payload" });
  }
}

/** Only your own `timeoutMs` is over: keep waiting with the request's id, now or in another process. */
export class WaitTimeoutError extends CountersignError {
  override readonly name = "WaitTimeoutError";
  readonly approvalId: string;

  constructor(approvalId: string, timeoutMs: number, cause?: unknown) {
    super(
      `no decision about ${approvalId} was heard of within ${timeoutMs} ms. That is no answer: call waitForDecision("${approvalId}") to wait on.`,
      { code: "wait_timeout", cause },
    );
    this.approvalId = approvalId;
  }
}

export type WebhookFlaw =
  | "signature_missing"
  | "signature_malformed"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "signature_mismatch"
  | "body_not_raw"
  | "body_malformed"
  | "event_mismatch"
  | "secret_missing";

/** The webhook can't be trusted. `code` says why. */
export class WebhookVerificationError extends CountersignError {
  override readonly name = "WebhookVerificationError";
  declare readonly code: WebhookFlaw;

  constructor(code: WebhookFlaw, message: string) {
    super(message, { code });
  }
}
