// The wire contract of /v1 as types: what the service answers and what an agent may send.
// The server's answers are checked against these by the compiler, and against OpenAPI by the tests.

export type ApprovalStatus = "PENDING" | "APPROVED" | "REJECTED" | "EXPIRED" | "CANCELLED";

export type EventKind =
  | "request.created"
  | "request.approved"
  | "request.rejected"
  | "request.expired"
  | "request.cancelled"
  | VotingEventKind;

/** Sent only to endpoints that name them. Each may happen more than once. */
export type VotingEventKind =
  | "request.vote_recorded"
  | "request.stage_entered"
  | "request.escalated"
  | "request.reassigned"
  | "request.unreachable";

/** The log's checkpoint of the day. Sent only to endpoints that name it. */
export type CheckpointEventKind = "log.checkpoint";

/** The events that an endpoint can name. */
export type EndpointEventKind = EventKind | CheckpointEventKind;

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
  /** How many different people must approve in the first stage: 1 to 20, by default 1. */
  quorum?: number | null;
  /** Later stages, up to 4. The people of a stage are asked once the stage before it is complete. */
  then?: NewStage[] | null;
  /** The person for whom the agent acts. They can never approve this request. */
  requestedBy?: string | null;
  /** Whom to ask too when a stage stays open, up to 5 steps. */
  escalate?: Escalation[] | null;
  /** The channels by which people may be asked, `mail` among them. By default all that the workspace has. */
  channels?: AskingChannel[] | null;
  /** For whom receipts of this request are valid, up to 5 names. By default the workspace's id. */
  audience?: string[] | null;
  /** `true`: nobody approves without a passkey. `false` doesn't lower what the workspace or a group asks. */
  requireSignature?: boolean | null;
};

/** `slack_link` tells of the request in Slack, without its payload, and leads to the inbox. */
export type AskingChannel = "mail" | "push" | "slack" | "slack_link" | "teams";

/** A later stage: whom it asks, and how many of them must approve (by default 1). */
export type NewStage = { notify: string; quorum?: number | null };

/** If the current stage is still open after so many minutes, these people are asked too. */
export type Escalation = { afterMinutes: number; notify: string };

/** One person's vote. It counts for the revision of the payload that they saw. */
export type Vote = {
  email: string;
  verdict: "approve" | "reject";
  revision: number;
  at: string;
  note: string | null;
  via: "link" | "inbox" | "slack" | "teams";
  /** On whose behalf a delegate voted. */
  for: string | null;
};

export type Stage = {
  notify: string;
  required: number;
  /** All of them: those of earlier revisions no longer count. */
  votes: Vote[];
};

/** How far several people are with a request. */
export type Approvals = {
  /** The open stage, counted from 1. */
  stage: number;
  /** 1 is the agent's payload; each edit by an approver makes the next. */
  revision: number;
  stages: Stage[];
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
  /** Only where it was given. */
  requestedBy?: string;
  /** Only where it was given. */
  channels?: AskingChannel[];
  /** Only where it was given. */
  audience?: string[];
  /** Only where it was given. */
  requireSignature?: boolean;
  /** Only where `quorum`, `then` or `escalate` was given. */
  approvals?: Approvals;
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
> = ApprovalRequest<Payload, Metadata, AgentState> &
  RedemptionFacts & {
    status: "APPROVED";
    /** The signed receipt; null while the service can't sign. */
    receipt: string | null;
  };

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

/** The body of the webhook `log.checkpoint`. */
export type CheckpointEvent = {
  event: CheckpointEventKind;
  createdAt: string;
  /** A signed note (c2sp.org/tlog-checkpoint). */
  checkpoint: string;
};

export type ErrorCode =
  | "invalid_json"
  | "validation_error"
  | "state_too_large"
  | "empty_group"
  | "quorum_unreachable"
  | "unauthorized"
  | "quota_exceeded"
  | "plan_required"
  | "unknown_group"
  | "approver_not_allowed"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "already_resolved"
  | "not_approved"
  | "nobody_to_remind"
  | "already_redeemed"
  | "body_too_large"
  | "idempotency_key_reused"
  | "rate_limited"
  | "reminded_recently"
  | "internal_error"
  | "unavailable";

/** The one envelope of every error. `already_redeemed` also tells when, and with which API key. */
export type ErrorBody = {
  error: { code: ErrorCode; message: string } & Partial<RedemptionFacts>;
};
