// The operations of the API in OpenAPI: what each call takes and answers. The schemas that they name are in openapi.ts.

import { listLimitDefault, listLimitMax, waitSecondsMax } from "../../domain/limits.ts";
import { idempotencyKeyCharactersMax } from "../../domain/shown/field-limits.ts";
import { describeCallback } from "./openapi-webhooks.ts";

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const json = (schema: object, example?: object) => ({
  "application/json": example === undefined ? { schema } : { schema, example },
});

export const requestId = {
  "X-Request-Id": {
    description: "Names this call in our logs. Quote it when you report a problem.",
    schema: { type: "string" },
  },
};

export const refusal = (description: string, headers: object = {}) => ({
  description,
  headers: { ...requestId, ...headers },
  content: json(ref("Error")),
});

const retryAfter = {
  "Retry-After": { description: "Seconds to wait.", schema: { type: "string" } },
};

export const common = {
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

/** Only parameters with an example are part of the samples in the reference. */
export const query = (name: string, schema: object, description: string, example?: unknown) => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});

/** A redeem has no example: two runs with a copied key would both be let through. */
const idempotencyKey = (description: string, example?: string) => ({
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description,
  schema: { type: "string", minLength: 1, maxLength: idempotencyKeyCharactersMax },
  ...(example === undefined ? {} : { example }),
});

const replayed = (description: string) => ({
  "Idempotent-Replayed": { description, schema: { type: "string", const: "true" } },
});

export const requestIdParameter = (example: string) => ({
  name: "id",
  in: "path",
  required: true,
  description: "The id of the request.",
  schema: { type: "string" },
  example,
});

/** Whole requests, as answers carry them. */
export type ExampleRequests = {
  pending: { id: string; agentName: string };
  approved: object;
  cancelled: object;
  redeemed: object;
};

export function describeOperations({ pending, approved, cancelled, redeemed }: ExampleRequests) {
  const answer = (description: string, example: object, headers: object = {}) => ({
    description,
    headers: { ...requestId, ...headers },
    content: json(ref("ApprovalRequest"), example),
  });
  const idParameter = requestIdParameter(pending.id);
  return {
    "/v1/requests": {
      post: {
        operationId: "createRequest",
        tags: ["Requests"],
        summary: "Create a request",
        description:
          "Persists the request as PENDING, notifies the approver and emits `request.created`. A 201 means that it is durable. A refused call uses no quota, sends no mail and emits nothing.",
        parameters: [
          idempotencyKey(
            "Makes a retry safe: the same key with the same body answers the original request in its current state.",
            "refund-1042",
          ),
        ],
        requestBody: { required: true, content: json(ref("CreateRequest")) },
        responses: {
          "201": answer("Created, or replayed under the same Idempotency-Key.", pending, {
            Location: { description: "The path of the request.", schema: { type: "string" } },
            ...replayed("`true` when an earlier call created it."),
          }),
          "400": refusal(
            "`invalid_json`, `validation_error` (the message names the field), `state_too_large`, `empty_group`, or `quorum_unreachable`: too few different people are asked.",
          ),
          "402": refusal("`quota_exceeded`: the month's volume or safety cap is used up."),
          "403": refusal(
            "`plan_required`: approver groups are not part of the plan; or `approver_not_allowed`: the workspace lets agents ask only certain people.",
          ),
          "404": refusal("`unknown_group`: no such group in this workspace."),
          "413": refusal("`body_too_large`: more than 4 MiB."),
          "422": refusal("`idempotency_key_reused`: the key was used with another body."),
          ...common,
        },
        callbacks: describeCallback(ref("WebhookEvent")),
      },
      get: {
        operationId: "listRequests",
        tags: ["Requests"],
        summary: "List requests, newest first",
        description:
          "Pages by cursor. A page may hold fewer than `limit` requests when they are large; `hasMore` tells whether there are more.",
        parameters: [
          query("status", ref("Status"), "Only requests in this status.", "PENDING"),
          query(
            "agentName",
            { type: "string" },
            "Only requests of this agent, by its exact name.",
            pending.agentName,
          ),
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
            content: json(ref("ApprovalRequestList"), {
              data: [pending],
              hasMore: false,
              nextCursor: null,
            }),
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
            waitSecondsMax,
          ),
          {
            name: "If-None-Match",
            in: "header",
            required: false,
            description:
              "An `ETag` of an earlier answer. With `wait`, the answer also comes as soon as `approvals` differ from it.",
            schema: { type: "string" },
          },
        ],
        responses: {
          "200": answer("The request in its current state.", approved, {
            ETag: {
              description: "Changes with the status, and with `approvals`.",
              schema: { type: "string" },
            },
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
        summary: "Cancel a pending request",
        description: "Emits `request.cancelled`. Nobody can decide the request afterwards.",
        parameters: [idParameter],
        responses: {
          "200": answer("The request, now CANCELLED.", cancelled),
          "404": refusal("`not_found`: unknown, malformed or of another workspace."),
          "409": refusal("`already_resolved`: it is final; the message says what became of it."),
          "413": refusal("`body_too_large`: this call takes no body."),
          ...common,
        },
      },
    },
    "/v1/requests/{id}/remind": {
      post: {
        operationId: "remindRequest",
        tags: ["Requests"],
        summary: "Remind everybody who can still vote",
        description:
          "Mails them again, at most once in an hour. Nothing about the request changes.",
        parameters: [idParameter],
        responses: {
          "200": answer("The request, still PENDING.", pending),
          "404": refusal("`not_found`: unknown, malformed or of another workspace."),
          "409": refusal(
            "`already_resolved`: it is final; or `nobody_to_remind`: nobody can vote on it just now.",
          ),
          "413": refusal("`body_too_large`: this call takes no body."),
          ...common,
          "429": refusal(
            "`reminded_recently`: everybody was reminded within the last hour; or `rate_limited`.",
            retryAfter,
          ),
        },
      },
    },
    "/v1/requests/{id}/log-proof": {
      get: {
        operationId: "getLogProof",
        tags: ["Requests"],
        summary: "Prove that a decision is in the log",
        description:
          "Answers a C2SP tlog-proof: the entry's place, the hashes up to a signed checkpoint, and in `extra` the entry, the fact that it stands for, and its salt.",
        parameters: [idParameter],
        responses: {
          "200": {
            description: "The proof, in the newest checkpoint.",
            headers: requestId,
            content: { "text/plain": { schema: { type: "string" } } },
          },
          "404": refusal("`not_found`: unknown, not decided, or in no checkpoint yet."),
          ...common,
        },
      },
    },
    "/v1/requests/{id}/redeem": {
      post: {
        operationId: "redeemRequest",
        tags: ["Requests"],
        summary: "Redeem an approved request, right before you run its action",
        description:
          "Of any number of calls exactly one gets 200, so an action that is redeemed before it runs, runs at most once. The request itself doesn't change.",
        parameters: [
          idParameter,
          idempotencyKey(
            "Makes a retry safe: the same API key with the same Idempotency-Key gets its 200 again. Make a new one for each run; never derive it from the request or from a webhook.",
          ),
        ],
        responses: {
          "200": {
            description: "You may run `effectivePayload` now. Nobody else gets this answer.",
            headers: {
              ...requestId,
              ...replayed("`true` when this very call redeemed it before."),
            },
            content: json(ref("RedeemedRequest"), redeemed),
          },
          "400": refusal("`validation_error`: the `Idempotency-Key` is malformed."),
          "404": refusal("`not_found`: unknown, malformed or of another workspace."),
          "409": {
            ...refusal(
              "`already_redeemed`: somebody else may run it, with when and with which API key; or `not_approved`: it is pending, or it ended otherwise.",
            ),
            content: json(ref("RedeemError")),
          },
          "413": refusal("`body_too_large`: this call takes no body."),
          ...common,
        },
      },
    },
    "/v1/default-approver": {
      get: {
        operationId: "getDefaultApprover",
        tags: ["Requests"],
        summary: "Read the default approver",
        description:
          "Whom to name as `notify` when nobody was named. The default of the API key wins over the workspace's. The MCP tools ask this; a create itself always needs `notify`.",
        responses: {
          "200": {
            description: "The default approver, or null when none is set.",
            headers: requestId,
            content: json(ref("DefaultApprover"), {
              object: "default_approver",
              notify: "ann@example.com",
              setFor: "workspace",
            }),
          },
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
            description: "The database answers, takes writes, and has this program's schema.",
            headers: requestId,
            content: json({
              type: "object",
              required: ["status"],
              properties: { status: { const: "ready" } },
            }),
          },
          "4XX": refusal("The call was malformed."),
          "503": refusal("`unavailable`: not at present, and why.", retryAfter),
        },
      },
    },
  };
}
