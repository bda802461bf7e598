// Each event reaches each endpoint, signed, with the expected bytes, at most three times and once more for each crash;
// and what receivers saw is what the attempts say.

import { createHmac, timingSafeEqual } from "node:crypto";
import type {
  AttemptRow,
  DeliveryRow,
  EventRow,
  Evidence,
  Flaw,
  Heard,
  RequestRow,
} from "../evidence.ts";
import { membersOf } from "./json-text.ts";

const attemptsMax = 3;
const interrupted = "interrupted";
/** The sender doesn't know what the receiver did. */
const unknownOutcomes = new Set([interrupted, "connection_failed", "timed_out"]);

export function flawsOfWebhooks(evidence: Evidence): Flaw[] {
  const { workspaces, events, heard } = evidence;
  const deliveries = evidence.deliveries.filter(({ endpointId }) => endpointId !== null);
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  const attemptsOf = Map.groupBy(evidence.attempts, ({ deliveryId }) => deliveryId);
  const heardOf = Map.groupBy(heard, deliveryOf);
  const known = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const endpoints = new Map(
    workspaces.flatMap(({ id, endpoints: own }) =>
      own.map((endpoint) => [endpoint.id, { ...endpoint, workspaceId: id }] as const),
    ),
  );
  const eventOf = new Map(events.map((event) => [event.id, event]));
  const requestOf = new Map(evidence.requests.map((request) => [request.id, request]));
  return [
    ...workspaces.flatMap(({ id, endpoints: own }) =>
      events
        .filter(({ workspaceId }) => workspaceId === id)
        .flatMap((event) => flawsOfEvent(event, own, byEvent.get(event.id) ?? [])),
    ),
    ...deliveries.flatMap((delivery) =>
      flawsOfDelivery(delivery, attemptsOf.get(delivery.id) ?? [], heardOf.get(delivery.id) ?? []),
    ),
    ...heard.flatMap((each) => {
      const delivery = known.get(deliveryOf(each));
      const endpoint = endpoints.get(each.endpointId);
      if (delivery === undefined || endpoint === undefined) {
        return [recorded(`${deliveryOf(each)} came to ${each.endpointId} from nowhere`)];
      }
      const event = eventOf.get(delivery.eventId);
      const request = event === undefined ? undefined : requestOf.get(event.requestId);
      if (event === undefined || request === undefined)
        return [recorded(`${delivery.id} is about nothing`)];
      return flawsOfHeard(each, { delivery, endpoint, event, request });
    }),
  ];
}

function flawsOfEvent(
  event: EventRow,
  endpoints: { id: string }[],
  deliveries: DeliveryRow[],
): Flaw[] {
  return endpoints.flatMap(({ id }) => {
    const count = deliveries.filter(({ endpointId }) => endpointId === id).length;
    if (count === 1) return [];
    return [reached(`${event.kind} of ${event.requestId} has ${count} deliveries to ${id}`)];
  });
}

function flawsOfDelivery(
  { id, state, attempts: count }: DeliveryRow,
  attempts: AttemptRow[],
  heard: Heard[],
): Flaw[] {
  const inOrder = attempts.toSorted((one, other) => one.number - other.number);
  const outcomes = inOrder.map(({ outcome }) => outcome);
  const crashes = outcomes.filter((outcome) => outcome === interrupted).length;
  const delivered = outcomes.filter((outcome) => outcome === "delivered").length;
  const accepted = heard.filter(({ answered }) => answered !== null && answered < 300).length;
  const flaws: Flaw[] = [];
  if (inOrder.some(({ number }, at) => number !== at + 1) || count !== inOrder.length) {
    flaws.push(recorded(`${id} counts ${count} attempts: ${inOrder.map(({ number }) => number)}`));
  }
  if (outcomes.length - crashes > attemptsMax) {
    flaws.push(thrice(`${id} had ${outcomes.length} attempts, ${crashes} of them interrupted`));
  }
  // A kept connection that ends without a word may have been closed before: it is sent once more, on a connection of its own.
  const again = heard.filter(({ headers }) => headers.connection === "close").length;
  if (heard.length - again > inOrder.length || again > inOrder.length) {
    flaws.push(recorded(`${id} was heard ${heard.length} times in ${inOrder.length} attempts`));
  }
  if (delivered > 1 || (delivered === 1 && outcomes.at(-1) !== "delivered")) {
    flaws.push(thrice(`${id} was sent again after it had been delivered: ${outcomes}`));
  }
  if (delivered > accepted) flaws.push(recorded(`${id} is delivered, and nobody accepted it`));
  // One that was accepted and is not recorded so was cut off by a crash, or its answer was lost on the way.
  const unknown = outcomes.filter((each) => each === null || unknownOutcomes.has(each)).length;
  if (accepted > delivered + unknown + again) {
    flaws.push(recorded(`${id} was accepted ${accepted} times, and its attempts say ${outcomes}`));
  }
  if (state === "delivered" && delivered === 0)
    flaws.push(recorded(`${id} is delivered by no attempt`));
  if (state === "failed" && outcomes.length - crashes < attemptsMax) {
    flaws.push(reached(`${id} was given up after ${outcomes}`));
  }
  if (state === "skipped") flaws.push(reached(`${id} was skipped`));
  return flaws;
}

type About = {
  delivery: DeliveryRow;
  endpoint: { id: string; secret: string; workspaceId: string };
  event: EventRow;
  request: RequestRow;
};

function flawsOfHeard(heard: Heard, { delivery, endpoint, event, request }: About): Flaw[] {
  const flaws: Flaw[] = [];
  if (delivery.endpointId !== endpoint.id)
    flaws.push(crossing(`${delivery.id} came to ${endpoint.id}`));
  if (request.workspaceId !== endpoint.workspaceId) {
    flaws.push(crossing(`${request.id} was told to ${endpoint.id} of another workspace`));
  }
  if (!isSigned(heard, endpoint.secret)) flaws.push(exact(`${delivery.id} isn't signed`));
  if (heard.body !== expectedBody(event, request)) {
    flaws.push(exact(`${delivery.id} has other bytes: ${heard.body.slice(0, 2_000)}`));
  }
  return flaws;
}

/** From the published contract. The signature's time is that of the attempt, by a clock that may be off. */
function isSigned({ headers, body }: Heard, secret: string): boolean {
  const parts = (headers["x-service-signature"] ?? "").split(",").map((part) => part.split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  const expected = createHmac("sha256", secret).update(`${time}.${body}`).digest();
  return parts.some(([name, hex = ""]) => {
    const given = Buffer.from(hex, "hex");
    return name === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const dataNames = [
  ...["id", "status", "summary", "payload", "modifiedPayload", "effectivePayload", "metadata"],
  ...["agentState", "reasoning", "recentActions", "agentName", "approverEmail", "approverGroup"],
  ...["resolvedAt", "resolvedByEmail", "resolutionNote", "expiresAt"],
];

/** The state of the event's moment: the end's, or before anybody had decided. */
export function expectedBody(event: EventRow, request: RequestRow): string {
  const members = membersOf(request.answer);
  if (event.kind === "request.created") {
    members.set("status", '"PENDING"');
    members.set("effectivePayload", members.get("payload") ?? "");
    for (const name of ["modifiedPayload", "resolvedAt", "resolvedByEmail", "resolutionNote"]) {
      members.set(name, "null");
    }
  }
  const data = dataNames.map((name) => `"${name}":${members.get(name)}`).join();
  const at = new Date(event.createdAt).toISOString();
  return `{"event":"${event.kind}","createdAt":"${at}","data":{${data},"createdAtRequest":${members.get("createdAt")}}}`;
}

function deliveryOf({ headers }: Heard): string {
  return headers["x-service-delivery-id"] ?? "";
}

const reached = (what: string): Flaw => ({ promise: "each event reaches each endpoint", what });
const exact = (what: string): Flaw => ({
  promise: "webhooks verify and have the expected bytes",
  what,
});
const recorded = (what: string): Flaw => ({ promise: "attempts say what receivers saw", what });
const thrice = (what: string): Flaw => ({
  promise: "three attempts, and one more for each crash",
  what,
});
const crossing = (what: string): Flaw => ({ promise: "workspaces don't cross", what });
