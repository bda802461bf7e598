// The published surface of @countersign/sdk.

export { Countersign, type CountersignOptions } from "./client.ts";
export type {
  ApprovalRequest,
  ApprovalRequestList,
  ApprovalStatus,
  Approvals,
  AskingChannel,
  CheckpointEvent,
  CreateRequest,
  ErrorCode,
  Escalation,
  EventKind,
  NewStage,
  RedeemedRequest,
  Stage,
  Vote,
  WebhookData,
  WebhookEvent,
} from "./contract.ts";
export {
  AlreadyRedeemedError,
  ApprovalCancelledError,
  ApprovalExpiredError,
  ApprovalRejectedError,
  CountersignError,
  InexactPayloadError,
  InvalidPayloadError,
  WaitTimeoutError,
  type WebhookFlaw,
  WebhookVerificationError,
} from "./errors.ts";
export {
  type Action,
  assertApproved,
  type Describe,
  type Gated,
  type GateOptions,
} from "./gate.ts";
export type {
  CallOptions,
  CreateOptions,
  ExactPayload,
  ListFilter,
  PageOptions,
  ReceiptOptions,
  RedeemOptions,
  Requests,
} from "./requests.ts";
export type { StandardSchema } from "./standard-schema.ts";
export type { Fetch } from "./transport.ts";
export type { OnVote, RecordedVote } from "./votes.ts";
export type { DecidedRequest, WaitOptions } from "./wait.ts";
export {
  constructEvent,
  type RawBody,
  type SignatureHeader,
  type VerifyOptions,
  webhooks,
} from "./webhooks.ts";
