// The API described in OpenAPI 3.1. A test checks every answer of the suite against it, so it stays true.

import { approvalStatuses } from "../../domain/approval/approval.ts";
import { listLimitMax } from "../../domain/limits.ts";
import {
  answeredProperties,
  approvalsSchema,
  createProperties,
  nullable,
  opaque,
  requiredOf,
} from "./openapi-fields.ts";
import { describeOperations, ref } from "./openapi-operations.ts";
import { describeReceipts, exampleReceipt, keySetSchema } from "./openapi-receipts.ts";
import { checkpointEventSchema, describeWebhooks, webhookEventSchema } from "./openapi-webhooks.ts";

const time = (description: string) => ({ type: "string", format: "date-time", description });
const exampleSubmission = {
  summary: "Refund order 1042 (49.00 EUR)",
  payload: { orderId: 1042, amount: 49.0 },
  notify: "ann@example.com",
  agentName: "refund-agent",
  reasoning: "The parcel was returned unopened.",
  recentActions: ["Read the return note"],
};

const { notify, ...asSubmitted } = exampleSubmission;
const pending = {
  id: "req_019a862d4f1b7a3e9c5d2f8061b4e7a9",
  object: "approval_request",
  status: "PENDING",
  summary: asSubmitted.summary,
  payload: asSubmitted.payload,
  modifiedPayload: null,
  effectivePayload: asSubmitted.payload,
  metadata: null,
  agentState: null,
  reasoning: asSubmitted.reasoning,
  recentActions: asSubmitted.recentActions,
  agentName: asSubmitted.agentName,
  approverEmail: notify,
  approverGroup: null,
  resolvedAt: null,
  resolvedByEmail: null,
  resolutionNote: null,
  expiresAt: "2026-02-01T12:00:00.000Z",
  createdAt: "2026-01-31T12:00:00.000Z",
};
const edit = { ...pending.payload, amount: 45.0 };
const approved = {
  ...pending,
  status: "APPROVED",
  modifiedPayload: edit,
  effectivePayload: edit,
  resolvedAt: "2026-01-31T12:04:10.512Z",
  resolvedByEmail: notify,
  resolutionNote: "Without the shipping.",
};
const redeemed = {
  ...approved,
  redeemedAt: "2026-01-31T12:04:11.090Z",
  redeemedBy: { id: "key_019a862c0d3e7f52b1a4c6d8e0f21324", name: "Refund agent" },
  receipt: exampleReceipt,
};
const cancelled = { ...pending, status: "CANCELLED", resolvedAt: "2026-01-31T12:01:30.007Z" };

const { summary, payload, ...submittedToo } = answeredProperties;

/** The fields of a request, which answers and webhooks have in common. */
const requestFields = {
  id: {
    type: "string",
    pattern: "^req_[0-9a-f]{32}$",
    description: "The request's identifier.",
  },
  object: { type: "string", const: "approval_request" },
  status: ref("Status"),
  summary,
  payload,
  modifiedPayload: opaque("As edited by the approver; null when it was not edited."),
  effectivePayload: opaque("What to execute: the edit when there is one, else the payload."),
  ...submittedToo,
  approverEmail: nullable("string", "The address that was notified; null with a group."),
  approverGroup: {
    oneOf: [
      {
        type: "object",
        required: ["key", "name"],
        properties: { key: { type: "string" }, name: { type: "string" } },
        additionalProperties: false,
      },
      { type: "null" },
    ],
    description: "The group as it was named at creation; null with an address.",
  },
  resolvedAt: { ...nullable("string", "When it left PENDING."), format: "date-time" },
  resolvedByEmail: nullable("string", "Who decided; null unless a person did."),
  resolutionNote: nullable("string", "What that person wrote."),
  expiresAt: time("When it expires, by the service's clock."),
  approvals: ref("Approvals"),
  createdAt: time("When it was created."),
};

/** The last fields of a redeemed request. */
const redemptionFields = {
  redeemedAt: time("When it was redeemed."),
  redeemedBy: {
    type: "object",
    required: ["id", "name"],
    properties: { id: { type: "string" }, name: { type: "string" } },
    additionalProperties: false,
    description: "The API key, as the dashboard names it.",
  },
};

const receipt = nullable(
  "string",
  "The signed receipt of the decision; null while the service can't sign.",
);

const errorFields = {
  code: { type: "string", description: "Stable, for programs." },
  message: { type: "string", description: "What was wrong and what to do, for people." },
};

const errorSchema = (more: object = {}) => ({
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { ...errorFields, ...more },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
});

export const openApi = {
  openapi: "3.1.0",
  info: {
    title: "Countersign",
    version: "1.0.0",
    summary: "An agent pauses before a sensitive action and waits for a person.",
    description:
      "Create a request, let a person decide, execute `effectivePayload` when the status is `APPROVED`, and only then. Opaque JSON (`payload`, `metadata`, `agentState`) comes back exactly as it was sent. Within /v1 changes only add.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: "/", description: "This service" }],
  security: [{ apiKey: [] }],
  tags: [
    { name: "Requests", description: "Asking for a decision, and learning it." },
    { name: "Webhooks", description: "What the service sends to your endpoints." },
    { name: "Service", description: "The service itself." },
  ],
  paths: {
    ...describeOperations({ pending, approved, cancelled, redeemed }),
    ...describeReceipts(approved),
  },
  webhooks: describeWebhooks(ref("WebhookEvent"), ref("CheckpointEvent"), approved),
  components: {
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "An API key of one workspace." },
    },
    schemas: {
      Status: {
        type: "string",
        enum: approvalStatuses,
        description:
          "PENDING until a person decides, the time runs out, or it is cancelled. The others are final.",
      },
      CreateRequest: {
        type: "object",
        required: ["summary", "notify"],
        description:
          "Unknown fields are ignored; an optional field given as null counts as not given; a duplicate key anywhere is refused. Lengths count Unicode code points.",
        properties: createProperties,
        example: exampleSubmission,
      },
      ApprovalRequest: {
        type: "object",
        required: requiredOf(requestFields),
        properties: requestFields,
        additionalProperties: false,
      },
      Approvals: approvalsSchema,
      RedeemedRequest: {
        type: "object",
        required: requiredOf({ ...requestFields, ...redemptionFields, receipt }),
        properties: { ...requestFields, ...redemptionFields, receipt },
        additionalProperties: false,
      },
      ApprovalRequestList: {
        type: "object",
        required: ["data", "hasMore", "nextCursor"],
        properties: {
          data: { type: "array", items: ref("ApprovalRequest"), maxItems: listLimitMax },
          hasMore: { type: "boolean", description: "Whether there are older ones." },
          nextCursor: nullable("string", "Pass it as `cursor` to read on; null at the end."),
        },
        additionalProperties: false,
      },
      DefaultApprover: {
        type: "object",
        required: ["object", "notify", "setFor"],
        properties: {
          object: { type: "string", const: "default_approver" },
          notify: nullable("string", "An address or `group:<key>`; null when none is set."),
          setFor: {
            oneOf: [{ type: "string", enum: ["key", "workspace"] }, { type: "null" }],
            description: "Whether it is this key's own or the workspace's.",
          },
        },
        additionalProperties: false,
      },
      WebhookEvent: webhookEventSchema(requestFields),
      CheckpointEvent: checkpointEventSchema,
      Error: errorSchema(),
      KeySet: keySetSchema,
      RedeemError: errorSchema(redemptionFields),
    },
  },
};

export const openApiText = JSON.stringify(openApi);
