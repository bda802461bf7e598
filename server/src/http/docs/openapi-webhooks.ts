// Webhooks in the OpenAPI document. OpenAPI describes each as a call that the receiver must accept.

import {
  checkpointKind,
  type EventKind,
  eventKinds,
  testEventKind,
} from "../../domain/approval/event.ts";
import { requiredOf } from "./openapi-fields.ts";

const whenByKind: Record<EventKind, string> = {
  "request.created": "A request was created; its approvers are being mailed",
  "request.approved": "A person approved, perhaps with an edited payload",
  "request.rejected": "A person rejected; the note, if any, is in resolutionNote",
  "request.expired": "The time ran out without a decision",
  "request.cancelled": "The request was cancelled by the agent, or by a member on the dashboard",
  "request.vote_recorded": "One of several people voted",
  "request.stage_entered": "The people of another stage are asked",
  "request.escalated": "A stage stayed open for so long that more people were asked",
  "request.reassigned":
    "Somebody passed their vote to a colleague, or a delegate stands in for them",
  "request.unreachable": "No mail to the people of the open stage could be delivered",
};

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

const receipt = {
  ...header(
    "X-Service-Receipt",
    "The signed receipt of the decision. Missing if it has more than 6144 bytes, or the service can't sign just now: then read it by `getReceipt`.",
  ),
  required: false,
};

const headers = [
  header("X-Service-Event", "The event, for routing."),
  header("X-Service-Delivery-Id", "The same on every attempt: use it as an idempotency key."),
  header(
    "X-Service-Signature",
    "`t=<unix time>,v1=<hex>`: v1 is HMAC-SHA256 over `<t>.<raw body>`, keyed with the endpoint's secret. Two v1 while the secret is being rotated.",
  ),
  header("webhook-id", "By Standard Webhooks: the delivery's id."),
  header("webhook-timestamp", "By Standard Webhooks: the time of the attempt."),
  header("webhook-signature", "By Standard Webhooks: signed with the same secret."),
];

/** `approved` is a request as answers carry it: `request.approved` shows it as an example. */
export function describeWebhooks(
  body: object,
  checkpoint: object,
  approved: { createdAt: string; resolvedAt: string },
) {
  const examples: Record<string, object> = {
    "request.approved": eventOf("request.approved", approved),
  };
  const described = [
    ...eventKinds.map((kind) => [kind, whenByKind[kind]] as const),
    [testEventKind, "Somebody wants to see whether the endpoint works"] as const,
  ];
  const ofRequests = described.map(([kind, summary]) => {
    const content = { schema: body, ...(kind in examples ? { example: examples[kind] } : {}) };
    return [kind, { post: describeWebhook(kind, summary, content) }] as const;
  });
  const summary = "Once a day, if the log grew: its newest checkpoint";
  const post = describeWebhook(checkpointKind, summary, { schema: checkpoint });
  return Object.fromEntries([...ofRequests, [checkpointKind, { post }]]);
}

/** The outcome at the address that the request itself named. */
export function describeCallback(body: object) {
  const content = { schema: body };
  const summary =
    "The request that named this address was approved, rejected, expired or cancelled";
  const post = describeWebhook("callback", summary, content);
  const responses = { ...post.responses, "410": { description: "Given up at once." } };
  const description =
    "The same as an endpoint gets, signed with the workspace's callback secret. `request.created` isn't sent here.";
  return {
    outcome: { "{$request.body#/callbackUrl}": { post: { ...post, description, responses } } },
  };
}

function eventOf(event: EventKind, answered: { createdAt: string; resolvedAt: string }) {
  const { object: _, createdAt, ...shared } = { object: null, ...answered };
  return {
    event,
    createdAt: answered.resolvedAt,
    data: { ...shared, createdAtRequest: createdAt },
  };
}

const kindsWithReceipt = new Set(["request.approved", "request.rejected", "callback"]);

function describeWebhook(kind: string, summary: string, content: object) {
  return {
    operationId: `receive.${kind}`,
    tags: ["Webhooks"],
    summary,
    security: [],
    parameters: kindsWithReceipt.has(kind) ? [...headers, receipt] : headers,
    requestBody: { required: true, content: { "application/json": content } },
    responses: {
      "2XX": { description: "Delivered." },
      "410": { description: "The endpoint is disabled." },
      default: { description: "Tried again, three times in all. Redirects are not followed." },
    },
  };
}

export const checkpointEventSchema = {
  type: "object",
  required: ["event", "createdAt", "checkpoint"],
  properties: {
    event: { type: "string", const: checkpointKind },
    createdAt: { type: "string", format: "date-time", description: "When it was sent first." },
    checkpoint: {
      type: "string",
      description: "A signed note (c2sp.org/tlog-checkpoint) of the workspace's log.",
    },
  },
  additionalProperties: false,
};

/** A request without `object`, with its time of creation under another name. */
export function webhookEventSchema(requestFields: Record<string, object>) {
  const { object, createdAt, ...shared } = requestFields;
  const data = { ...shared, id: { type: "string" }, createdAtRequest: createdAt };
  return {
    type: "object",
    required: ["event", "createdAt", "data"],
    properties: {
      event: { type: "string", enum: [...eventKinds, testEventKind] },
      createdAt: { type: "string", format: "date-time", description: "When it happened." },
      data: {
        type: "object",
        required: requiredOf(data),
        properties: data,
        additionalProperties: false,
        description:
          "The request: in its final state in the event of its outcome, and pending in every other, with `approvals` as they were then.",
      },
    },
    additionalProperties: false,
  };
}
