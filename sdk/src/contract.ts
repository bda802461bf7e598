// The wire contract of /v1 as types: what the service answers and what an agent may send.
// The server's answers are checked against these by the compiler, and against OpenAPI by the tests.

export type ApprovalStatus = "PENDING" | "APPROVED" | "REJECTED" | "EXPIRED" | "CANCELLED";

export type EventKind =
  | "request.created"
  | "request.approved"
  | "request.rejected"
  | "request.expired"
  | "request.cancelled";

/** Sent to one endpoint on demand, to see whether it works. */
export type TestEventKind = "webhook.test";

/** Any JSON value: opaque to the service, echoed exactly as it was sent. */
export type Opaque = unknown;

/** The body of `POST /v1/requests`. */
export type CreateRequest<Payload = Opaque, Metadata = Opaque, AgentState = Opaque> = {
  summary: string;
  payload?: Payload;
  notify: string;
  agentName?: string | null;
  metadata?: Metadata;
  agentState?: AgentState;
  reasoning?: string | null;
  recentActions?: string[] | null;
  ttlMinutes?: number | null;
  /** Where this request's outcome is POSTed, signed with the workspace's callback secret. No answer repeats it. */
  callbackUrl?: string | null;
};

/** One approval request as it is created, read, listed and cancelled. */
export type ApprovalRequest<Payload = Opaque, Metadata = Opaque, AgentState = Opaque> = {
  id: string;
  object: "approval_request";
  status: ApprovalStatus;
  summary: string;
  payload: Payload;
  /** The approver's version; null if they changed nothing. */
  modifiedPayload: Payload | null;
  /** Execute this once the status is APPROVED. */
  effectivePayload: Payload;
  metadata: Metadata;
  agentState: AgentState;
  reasoning: string | null;
  recentActions: string[];
  agentName: string | null;
  approverEmail: string | null;
  approverGroup: { key: string; name: string } | null;
  resolvedAt: string | null;
  resolvedByEmail: string | null;
  resolutionNote: string | null;
  expiresAt: string;
  createdAt: string;
};

/** When an approved request was redeemed, and with which API key. */
export type RedemptionFacts = {
  redeemedAt: string;
  /** The API key as the dashboard names it. */
  redeemedBy: { id: string; name: string };
};

/** The answer of `POST /v1/requests/:id/redeem`: execute its `effectivePayload`, once. */
export type RedeemedRequest<
  Payload = Opaque,
  Metadata = Opaque,
  AgentState = Opaque,
> = ApprovalRequest<Payload, Metadata, AgentState> & RedemptionFacts & { status: "APPROVED" };

/** The answer of `GET /v1/requests`, newest first. */
export type ApprovalRequestList<Payload = Opaque, Metadata = Opaque, AgentState = Opaque> = {
  data: ApprovalRequest<Payload, Metadata, AgentState>[];
  hasMore: boolean;
  nextCursor: string | null;
};

/** The answer of `GET /v1/default-approver`: whom to ask when nobody was named. */
export type DefaultApprover = {
  object: "default_approver";
  /** An address or `group:<key>`, to be sent as `notify`; null when none is set. */
  notify: string | null;
  setFor: "key" | "workspace" | null;
};

/** The snapshot inside a webhook: a request without `object`, its creation time named `createdAtRequest`. */
export type WebhookData<Payload = Opaque, Metadata = Opaque, AgentState = Opaque> = Omit<
  ApprovalRequest<Payload, Metadata, AgentState>,
  "object" | "createdAt"
> & {
  createdAtRequest: string;
};

/** The body of every webhook. */
export type WebhookEvent<Payload = Opaque, Metadata = Opaque, AgentState = Opaque> = {
  event: EventKind | TestEventKind;
  createdAt: string;
  data: WebhookData<Payload, Metadata, AgentState>;
};

export type ErrorCode =
  | "invalid_json"
  | "validation_error"
  | "state_too_large"
  | "empty_group"
  | "unauthorized"
  | "quota_exceeded"
  | "plan_required"
  | "unknown_group"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "already_resolved"
  | "not_approved"
  | "already_redeemed"
  | "body_too_large"
  | "idempotency_key_reused"
  | "rate_limited"
  | "internal_error"
  | "unavailable";

/** The one envelope of every error. `already_redeemed` also tells when, and with which API key. */
export type ErrorBody = {
  error: { code: ErrorCode; message: string } & Partial<RedemptionFacts>;
};
