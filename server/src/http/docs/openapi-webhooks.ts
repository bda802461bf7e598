// Webhooks in the OpenAPI document. OpenAPI describes each as a call that the receiver must accept.

import { type EventKind, eventKinds, testEventKind } from "../../domain/approval/event.ts";
import { requiredOf } from "./openapi-fields.ts";

const whenByKind: Record<EventKind, string> = {
  "request.created": "A request was created; its approvers are being mailed",
  "request.approved": "A person approved, perhaps with an edited payload",
  "request.rejected": "A person rejected; the note, if any, is in resolutionNote",
  "request.expired": "The time ran out without a decision",
  "request.cancelled": "The request was cancelled by the agent, or by a member on the dashboard",
};

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

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
  approved: { createdAt: string; resolvedAt: string },
) {
  const examples: Record<string, object> = {
    "request.approved": eventOf("request.approved", approved),
  };
  const described = [
    ...eventKinds.map((kind) => [kind, whenByKind[kind]] as const),
    [testEventKind, "Somebody wants to see whether the endpoint works"] as const,
  ];
  return Object.fromEntries(
    described.map(([kind, summary]) => {
      const content = { schema: body, ...(kind in examples ? { example: examples[kind] } : {}) };
      return [kind, { post: describeWebhook(kind, summary, content) }];
    }),
  );
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

function describeWebhook(kind: string, summary: string, content: object) {
  return {
    operationId: `receive.${kind}`,
    tags: ["Webhooks"],
    summary,
    security: [],
    parameters: headers,
    requestBody: { required: true, content: { "application/json": content } },
    responses: {
      "2XX": { description: "Delivered." },
      "410": { description: "The endpoint is disabled." },
      default: { description: "Tried again, three times in all. Redirects are not followed." },
    },
  };
}

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
        description: "The request: pending in `request.created`, else in its final state.",
      },
    },
    additionalProperties: false,
  };
}
