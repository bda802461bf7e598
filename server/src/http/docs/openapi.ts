// The API described in OpenAPI 3.1. A test checks every answer of the suite against it, so it stays true.

import { approvalStatuses } from "../../domain/approval/approval.ts";
import { listLimitDefault, listLimitMax, waitSecondsMax } from "../../domain/limits.ts";
import {
  agentNameCharactersMax,
  emailCharactersMax,
  idempotencyKeyCharactersMax,
  reasoningCharactersMax,
  recentActionCharactersMax,
  recentActionsMax,
  summaryCharactersMax,
  ttlMinutesMax,
  ttlMinutesMin,
} from "../../domain/shown/field-limits.ts";
import { describeWebhooks, webhookEventSchema } from "./openapi-webhooks.ts";

const opaque = (description: string) => ({ description });
const nullable = (type: string, description: string) => ({ type: [type, "null"], description });
const time = (description: string) => ({ type: "string", format: "date-time", description });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const json = (schema: object, example?: object) => ({
  "application/json": example === undefined ? { schema } : { schema, example },
});

const requestId = {
  "X-Request-Id": {
    description: "Names this call in our logs. Quote it when you report a problem.",
    schema: { type: "string" },
  },
};

const exampleRequest = {
  id: "req_019a862d4f1b7a3e9c5d2f8061b4e7a9",
  object: "approval_request",
  status: "PENDING",
  summary: "Refund order 1042 (49.00 EUR)",
  payload: { orderId: 1042, amount: 49.0 },
  modifiedPayload: null,
  effectivePayload: { orderId: 1042, amount: 49.0 },
  metadata: null,
  agentState: null,
  reasoning: "The parcel was returned unopened.",
  recentActions: ["Read the return note"],
  agentName: "refund-agent",
  approverEmail: "ann@example.com",
  approverGroup: null,
  resolvedAt: null,
  resolvedByEmail: null,
  resolutionNote: null,
  expiresAt: "2026-02-01T12:00:00.000Z",
  createdAt: "2026-01-31T12:00:00.000Z",
};

const answer = (description: string, headers: object = {}) => ({
  description,
  headers: { ...requestId, ...headers },
  content: json(ref("ApprovalRequest"), exampleRequest),
});

const refusal = (description: string, headers: object = {}) => ({
  description,
  headers: { ...requestId, ...headers },
  content: json(ref("Error")),
});

const retryAfter = {
  "Retry-After": { description: "Seconds to wait.", schema: { type: "string" } },
};

const common = {
  "401": refusal("`unauthorized`: no key, or one that is malformed, unknown or revoked.", {
    "WWW-Authenticate": { description: "Always Bearer.", schema: { type: "string" } },
  }),
  "429": refusal(
    "`rate_limited`: this key makes too many calls a second, or its workspace has too many large bodies or unread answers under way.",
    retryAfter,
  ),
  "500": refusal("`internal_error`: a fault of ours; the message names this call."),
  "503": refusal(
    "`unavailable`: the database is out of reach, or too many large calls are under way. Safe to retry.",
    retryAfter,
  ),
};

const idParameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The id of the request.",
  schema: { type: "string" },
};

const query = (name: string, schema: object, description: string) => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

/** The fields of a request, which answers and webhooks have in common. */
const requestFields = {
  id: {
    type: "string",
    pattern: "^req_[0-9a-f]{32}$",
    description: "The request's identifier.",
  },
  object: { type: "string", const: "approval_request" },
  status: ref("Status"),
  summary: { type: "string", description: "As submitted." },
  payload: opaque("As submitted; null when none was."),
  modifiedPayload: opaque("As edited by the approver; null when it was not edited."),
  effectivePayload: opaque("What to execute: the edit when there is one, else the payload."),
  metadata: opaque("As submitted; null when none was."),
  agentState: opaque("As submitted; null when none was."),
  reasoning: nullable("string", "As submitted."),
  recentActions: { type: "array", items: { type: "string" }, description: "As submitted." },
  agentName: nullable("string", "As submitted."),
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
  createdAt: time("When it was created."),
};

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
    "/v1/requests": {
      post: {
        operationId: "createRequest",
        tags: ["Requests"],
        summary: "Create a request",
        description:
          "Persists the request as PENDING, notifies the approver and emits `request.created`. A 201 means that it is durable. A refused call uses no quota, sends no mail and emits nothing.",
        parameters: [
          {
            name: "Idempotency-Key",
            in: "header",
            required: false,
            description:
              "Makes a retry safe: the same key with the same body answers the original request in its current state.",
            schema: { type: "string", minLength: 1, maxLength: idempotencyKeyCharactersMax },
          },
        ],
        requestBody: { required: true, content: json(ref("CreateRequest")) },
        responses: {
          "201": answer("Created, or replayed under the same Idempotency-Key.", {
            Location: { description: "The path of the request.", schema: { type: "string" } },
            "Idempotent-Replayed": {
              description: "`true` when an earlier call created it.",
              schema: { type: "string", const: "true" },
            },
          }),
          "400": refusal(
            "`invalid_json`, `validation_error` (the message names the field), `state_too_large` or `empty_group`.",
          ),
          "402": refusal("`quota_exceeded`: the month's volume or safety cap is used up."),
          "403": refusal("`plan_required`: approver groups are not part of the plan."),
          "404": refusal("`unknown_group`: no such group in this workspace."),
          "413": refusal("`body_too_large`: more than 4 MiB."),
          "422": refusal("`idempotency_key_reused`: the key was used with another body."),
          ...common,
        },
      },
      get: {
        operationId: "listRequests",
        tags: ["Requests"],
        summary: "List requests, newest first",
        description:
          "Pages by cursor. A page may hold fewer than `limit` requests when they are large; `hasMore` tells whether there are more.",
        parameters: [
          query("status", ref("Status"), "Only requests in this status."),
          query("agentName", { type: "string" }, "Only requests of this agent, by its exact name."),
          query("createdAfter", { type: "string" }, "Only requests created after this time."),
          query("createdBefore", { type: "string" }, "Only requests created before this time."),
          query(
            "limit",
            { type: "integer", minimum: 1, maximum: listLimitMax, default: listLimitDefault },
            "How many at most.",
          ),
          query("cursor", { type: "string" }, "`nextCursor` of the page before."),
        ],
        responses: {
          "200": {
            description: "One page.",
            headers: requestId,
            content: json(ref("ApprovalRequestList")),
          },
          "400": refusal("`validation_error`: the message names the parameter."),
          ...common,
        },
      },
    },
    "/v1/requests/{id}": {
      get: {
        operationId: "getRequest",
        tags: ["Requests"],
        summary: "Read a request",
        description:
          "Never answers PENDING for a request whose `expiresAt` has passed. With `wait` the answer is held until the request leaves PENDING or the seconds are over.",
        parameters: [
          idParameter,
          query(
            "wait",
            { type: "integer", minimum: 0, maximum: waitSecondsMax, default: 0 },
            "Seconds to wait for a decision.",
          ),
          {
            name: "If-None-Match",
            in: "header",
            required: false,
            description: "An `ETag` of an earlier answer.",
            schema: { type: "string" },
          },
        ],
        responses: {
          "200": answer("The request in its current state.", {
            ETag: { description: "Changes with the status.", schema: { type: "string" } },
          }),
          "304": {
            description: "Nothing has changed since the answer with this `ETag`.",
            headers: requestId,
          },
          "400": refusal("`validation_error`: `wait` is not a number of seconds."),
          "404": refusal("`not_found`: unknown, malformed or of another workspace."),
          ...common,
        },
      },
    },
    "/v1/requests/{id}/cancel": {
      post: {
        operationId: "cancelRequest",
        tags: ["Requests"],
        summary: "Withdraw a pending request",
        description: "Emits `request.cancelled`. Nobody can decide the request afterwards.",
        parameters: [idParameter],
        responses: {
          "200": answer("The request, now CANCELLED."),
          "404": refusal("`not_found`: unknown, malformed or of another workspace."),
          "409": refusal("`already_resolved`: it is final; the message says what became of it."),
          "413": refusal("`body_too_large`: this call takes no body."),
          ...common,
        },
      },
    },
    "/v1/openapi.json": {
      get: {
        operationId: "getOpenApi",
        tags: ["Service"],
        summary: "Read this document",
        security: [],
        responses: {
          "200": {
            description: "The API in OpenAPI 3.1.",
            headers: requestId,
            content: json({ type: "object" }),
          },
          "4XX": refusal("The call was malformed."),
        },
      },
    },
    "/healthz": {
      get: {
        operationId: "getHealth",
        tags: ["Service"],
        summary: "Whether the process lives",
        security: [],
        responses: {
          "200": {
            description: "It does.",
            headers: requestId,
            content: json({
              type: "object",
              required: ["status"],
              properties: { status: { const: "ok" } },
            }),
          },
          "4XX": refusal("The call was malformed."),
        },
      },
    },
    "/readyz": {
      get: {
        operationId: "getReadiness",
        tags: ["Service"],
        summary: "Whether the service can do its work",
        security: [],
        responses: {
          "200": {
            description: "The database is reachable and migrated.",
            headers: requestId,
            content: json({
              type: "object",
              required: ["status"],
              properties: { status: { const: "ready" } },
            }),
          },
          "4XX": refusal("The call was malformed."),
          "503": refusal(
            "`unavailable`: the database is out of reach or not migrated.",
            retryAfter,
          ),
        },
      },
    },
  },
  webhooks: describeWebhooks(ref("WebhookEvent")),
  components: {
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "An API key of one workspace." },
    },
    schemas: {
      Status: {
        type: "string",
        enum: approvalStatuses,
        description:
          "PENDING until a person decides, the time runs out, or the agent withdraws it. The others are final.",
      },
      CreateRequest: {
        type: "object",
        required: ["summary", "notify"],
        description:
          "Unknown fields are ignored; an optional field given as null counts as not given; a duplicate key anywhere is refused. Lengths count Unicode code points.",
        properties: {
          summary: {
            type: "string",
            minLength: 1,
            maxLength: summaryCharactersMax,
            description: "What the agent wants to do. The approver reads it first.",
          },
          payload: opaque("The exact action. Shown to the approver, who may edit it."),
          notify: {
            type: "string",
            maxLength: emailCharactersMax,
            description: "One plain e-mail address, or `group:<key>`.",
          },
          agentName: {
            ...nullable("string", "Shown to the approver."),
            maxLength: agentNameCharactersMax,
          },
          metadata: opaque("Opaque; echoed in reads and webhooks."),
          agentState: opaque(
            "Serialized agent context, at most 256KB of JSON. Never shown to the approver.",
          ),
          reasoning: {
            ...nullable("string", "Why the agent wants it. Shown above the payload."),
            maxLength: reasoningCharactersMax,
          },
          recentActions: {
            ...nullable("array", "What the agent did just before."),
            maxItems: recentActionsMax,
            items: { type: "string", maxLength: recentActionCharactersMax },
          },
          ttlMinutes: {
            ...nullable("integer", "Minutes until it expires; by default the workspace's expiry."),
            minimum: ttlMinutesMin,
            maximum: ttlMinutesMax,
          },
        },
        example: {
          summary: "Refund order 1042 (49.00 EUR)",
          payload: { orderId: 1042, amount: 49.0 },
          notify: "ann@example.com",
        },
      },
      ApprovalRequest: {
        type: "object",
        required: Object.keys(requestFields),
        properties: requestFields,
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
      WebhookEvent: webhookEventSchema(requestFields),
      Error: {
        type: "object",
        required: ["error"],
        properties: {
          error: {
            type: "object",
            required: ["code", "message"],
            properties: {
              code: { type: "string", description: "Stable, for programs." },
              message: {
                type: "string",
                description: "What was wrong and what to do, for people.",
              },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
  },
};

export const openApiText = JSON.stringify(openApi);
