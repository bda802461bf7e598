// Each event reaches each endpoint, signed, with the expected bytes, at most three times and once more for each crash;
// and what receivers saw is what the attempts say.

import { createHmac } from "node:crypto";
import {
  type AttemptRow,
  byClock,
  type DeliveryRow,
  type EventRow,
  type Evidence,
  type Flaw,
  type Heard,
  type RequestRow,
} from "../evidence.ts";
import { membersOf } from "./json-text.ts";

const attemptsMax = 3;
const interrupted = "interrupted";
/** The sender doesn't know what the receiver did. */
const unknownOutcomes = new Set([interrupted, "connection_failed", "timed_out", "broken_response"]);
/** What can come of an attempt in a run, beside these. */
const plainOutcomes = new Set(["delivered", "http_status"]);
/** Longer than a lease, within which all of an attempt happens. */
const attemptMsMax = 40_000;
/** A receiver believes no signature that is older. */
const signatureMsMax = 300_000;
/** Whoever was in the middle of something when the last fault ended is done with it. */
const calmAfterMs = 60_000;

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
      flawsOfDelivery(delivery, {
        attempts: attemptsOf.get(delivery.id) ?? [],
        heard: heardOf.get(delivery.id) ?? [],
        calmAt: evidence.faultsEndedAt + calmAfterMs,
      }),
    ),
    ...heard.flatMap((each) => {
      const delivery = known.get(deliveryOf(each));
      const endpoint = endpoints.get(each.endpointId);
      // Requests go on expiring: what came after the rows were read may be of a row that nobody has read.
      if (delivery === undefined && each.at > evidence.readAt) return [];
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

type Noted = { attempts: AttemptRow[]; heard: Heard[]; calmAt: number };

function flawsOfDelivery(
  { id, state, attempts: count }: DeliveryRow,
  { attempts, heard, calmAt }: Noted,
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
  if (inOrder.some((each) => each.outcome === interrupted && each.startedAt > calmAt)) {
    flaws.push(byClock(thrice(`${id} was interrupted, and nothing was there to interrupt it`)));
  }
  const strange = outcomes.filter(
    (each) => each !== null && !plainOutcomes.has(each) && !unknownOutcomes.has(each),
  );
  if (strange.length > 0) flaws.push(recorded(`${id} met what nothing here does: ${strange}`));
  // A kept connection that ends without a word may have been closed before: it is sent once more, on a connection of its own.
  const isAgain = ({ headers }: Heard) => headers.connection === "close";
  const again = heard.filter(isAgain).length;
  const first = heard.filter((each) => !isAgain(each));
  if (!haveAttempts(first, inOrder) || !haveAttempts(heard.filter(isAgain), inOrder)) {
    const when = inOrder.map(({ startedAt }) => startedAt);
    const heardAt = heard.map(({ at }) => at);
    const odd = recorded(`${id} was heard at ${heardAt}, in attempts at ${when}`);
    flaws.push(Math.max(first.length, again) > inOrder.length ? odd : byClock(odd));
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
  const refused = heard.filter(({ answered }) => answered !== null && answered >= 300).length;
  const refusals = outcomes.filter((outcome) => outcome === "http_status").length;
  if (refusals > refused) {
    flaws.push(recorded(`${id} was refused ${refused} times, and its attempts say ${outcomes}`));
  }
  if ((state === "delivered") !== delivered > 0)
    flaws.push(recorded(`${id} is ${state}, and its attempts say ${outcomes}`));
  if (state === "failed" && outcomes.length - crashes < attemptsMax) {
    flaws.push(reached(`${id} was given up after ${outcomes}`));
  }
  if (state === "skipped") flaws.push(reached(`${id} was skipped`));
  return flaws;
}

/** Each was heard in an attempt of its own. A worker that stood still may send long after its lease. */
function haveAttempts(heard: readonly Heard[], attempts: readonly AttemptRow[]): boolean {
  const free = attempts
    .map(({ startedAt, outcome }) => ({
      from: Math.floor(startedAt),
      to: outcome === interrupted ? Number.POSITIVE_INFINITY : startedAt + attemptMsMax,
    }))
    .toSorted((one, other) => one.to - other.to);
  return heard
    .toSorted((one, other) => one.at - other.at)
    .every(({ at }) => {
      const place = free.findIndex(({ from, to }) => from <= at && at <= to);
      if (place >= 0) free.splice(place, 1);
      return place >= 0;
    });
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
  if (!isSignedByStandard(heard, endpoint.secret)) {
    flaws.push(exact(`${delivery.id} isn't signed as Standard Webhooks are`));
  }
  const { headers } = heard;
  const times = [timeOf(heard), headers["webhook-timestamp"] ?? ""];
  if (!times.every((seconds) => isFresh(seconds, heard.at))) {
    flaws.push(byClock(exact(`${delivery.id} was signed at ${times}, and heard at ${heard.at}`)));
  }
  if (headers["x-service-event"] !== event.kind || headers["webhook-id"] !== delivery.id) {
    flaws.push(exact(`${delivery.id} has headers of something else: ${JSON.stringify(headers)}`));
  }
  if (heard.body !== expectedBody(event, request)) {
    flaws.push(exact(`${delivery.id} has other bytes: ${heard.body.slice(0, 2_000)}`));
  }
  return flaws;
}

/** From the published contract. The signature's time is that of the attempt, by the database's clock. */
function isSigned(heard: Heard, secret: string): boolean {
  const expected = createHmac("sha256", secret).update(`${timeOf(heard)}.${heard.body}`);
  const v1 = expected.digest("hex");
  return signatureOf(heard).some(([name, hex]) => name === "v1" && hex === v1);
}

function timeOf(heard: Heard): string {
  return signatureOf(heard).find(([name]) => name === "t")?.[1] ?? "";
}

function signatureOf({ headers }: Heard): string[][] {
  return (headers["x-service-signature"] ?? "").split(",").map((part) => part.split("="));
}

function isSignedByStandard({ headers, body }: Heard, secret: string): boolean {
  const { "webhook-id": id, "webhook-timestamp": time = "", "webhook-signature": given } = headers;
  const bytes = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", bytes).update(`${id}.${time}.${body}`).digest("base64");
  return (given ?? "").split(" ").includes(`v1,${expected}`);
}

function isFresh(seconds: string, at: number): boolean {
  return Math.abs(at - 1_000 * Number(seconds)) <= signatureMsMax;
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
