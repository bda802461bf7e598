// What the checker must notice, each shown by evidence of a clean run in which one thing is wrong.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import type { Evidence } from "../evidence.ts";
import { check } from "./check.ts";
import { membersOf } from "./json-text.ts";
import { expectedBody } from "./webhooks.ts";

const secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ";
const payload = String.raw`{"order": 1, "amount": 9007199254740993, "note": "caf\u00e9 \/ bar"}`;
const edit = '{"amount": 1.0}';
const [createdAt, decidedAt, expiresAt] = [1_000_000, 1_005_000, 1_060_000];
const iso = (at: number) => `"${new Date(at).toISOString()}"`;

const common = `"metadata":null,"agentState":null,"reasoning":null,"recentActions":[],"agentName":null,"approverEmail":"ann@example.com","approverGroup":null`;
const head = '{"id":"req_1","object":"approval_request",';
const pending = `${head}"status":"PENDING","summary":"Refund tag-1-1","payload":${payload},"modifiedPayload":null,"effectivePayload":${payload},${common},"resolvedAt":null,"resolvedByEmail":null,"resolutionNote":null,"expiresAt":${iso(expiresAt)},"createdAt":${iso(createdAt)}}`;
const approved = `${head}"status":"APPROVED","summary":"Refund tag-1-1","payload":${payload},"modifiedPayload":${edit},"effectivePayload":${edit},${common},"resolvedAt":${iso(decidedAt)},"resolvedByEmail":"ann@example.com","resolutionNote":null,"expiresAt":${iso(expiresAt)},"createdAt":${iso(createdAt)}}`;

/** One request that was asked for twice under one key, approved with an edit, told to one receiver, and read. */
function cleanRun(): Evidence {
  const asked = { workspaceId: "ws_1", idempotencyKey: "k1", summary: "Refund tag-1-1", payload };
  const ids = { workspaceId: "ws_1", requestId: "req_1" };
  const request = {
    ...{ id: "req_1", workspaceId: "ws_1", idempotencyKey: "k1", status: "APPROVED" },
    ...{ summary: asked.summary, payload, edit, createdAt, expiresAt, resolvedAt: decidedAt },
    ...{ resolvedBy: "ann@example.com", answer: approved },
  };
  const events = [
    { ...ids, id: "evt_1", kind: "request.created", createdAt },
    { ...ids, id: "evt_2", kind: "request.approved", createdAt: decidedAt },
  ];
  const settled = { workspaceId: "ws_1", state: "delivered", dueAt: createdAt, leasedUntil: null };
  const heardOf = (n: number, event: (typeof events)[number], answered: number | null) => {
    const body = expectedBody(event, request);
    const v1 = createHmac("sha256", secret).update(`7.${body}`).digest("hex");
    const headers = { "x-service-delivery-id": `dlv_${n}`, "x-service-signature": `t=7,v1=${v1}` };
    return { at: createdAt, endpointId: "we_1", headers, body, answered };
  };
  const attempt = (deliveryId: string, number: number, outcome: string) => ({
    ...{ deliveryId, number, outcome, startedAt: createdAt },
  });
  const [first, second] = events as [(typeof events)[number], (typeof events)[number]];
  const by = { at: decidedAt - 100, endedAt: decidedAt + 100, node: 0 };
  return {
    ...{ faultsEndedAt: 2_000_000, readAt: 2_100_000 },
    workspaces: [
      { id: "ws_1", endpoints: [{ id: "we_1", secret }] },
      { id: "ws_2", endpoints: [] },
    ],
    creates: [null, 201].map((status) => ({
      ...{ ...asked, approver: "ann@example.com", at: createdAt, endedAt: createdAt + 9, node: 0 },
      ...{ status, answer: status === null ? null : pending },
    })),
    reads: [
      {
        ...ids,
        ...by,
        at: decidedAt + 200,
        endedAt: decidedAt + 300,
        status: 200,
        answer: approved,
      },
    ],
    cancels: [],
    opens: [],
    decisions: [
      {
        ...{ summary: asked.summary, email: "ann@example.com", verdict: "approve", edit, ...by },
        ...{ status: 200, answer: "{}" },
      },
    ],
    heard: [heardOf(1, first, 200), heardOf(2, second, null), heardOf(2, second, 204)],
    mails: [
      { at: createdAt, to: "ann@example.com", text: "Subject: Refund tag-1-1", isTaken: true },
    ],
    requests: [request],
    events,
    deliveries: [
      { ...settled, id: "dlv_1", eventId: "evt_1", endpointId: "we_1", attempts: 1 },
      { ...settled, id: "dlv_2", eventId: "evt_2", endpointId: "we_1", attempts: 2 },
      { ...settled, id: "dlv_3", eventId: "evt_1", endpointId: null, attempts: 1 },
    ],
    attempts: [
      attempt("dlv_1", 1, "delivered"),
      attempt("dlv_2", 1, "interrupted"),
      attempt("dlv_2", 2, "delivered"),
      attempt("dlv_3", 1, "delivered"),
    ],
    outputs: [{ process: "api 1", text: "listening" }],
    secrets: [{ name: "an endpoint's secret", value: secret }],
  };
}

test("a clean run has no flaw", () => {
  assert.deepEqual(check(cleanRun()), []);
});

test("a run that noted nothing is no clean run", () => {
  const run = cleanRun();
  run.heard = [];
  run.decisions = [];
  const broken = check(run).filter(({ promise }) => promise === "there is something to judge");
  assert.equal(broken.length, 2);
});

const nth = <Value>(values: Value[], n: number): Value => values[n] as Value;
const late = expiresAt + 1;

/** What is done to the evidence, and the promise that is then broken. */
const wrongs: Record<string, [spoil: (run: Evidence) => void, promise: RegExp]> = {
  "an acknowledged request is gone": [
    (run) => run.requests.splice(0),
    /acknowledged create is there/,
  ],
  "a request is there twice": [
    (run) => run.requests.push({ ...nth(run.requests, 0), id: "req_2" }),
    /one request for each idempotency key/,
  ],
  "one key made two requests": [
    (run) => {
      const answer = pending.replace("req_1", "req_2");
      run.creates.push({ ...nth(run.creates, 1), answer });
    },
    /one request for each idempotency key/,
  ],
  "a request that nobody asked for": [
    (run) => run.requests.push({ ...nth(run.requests, 0), id: "req_2", idempotencyKey: "k2" }),
    /bytes are as they were sent/,
  ],
  "a digit of the stored payload is another": [
    (run) => Object.assign(nth(run.requests, 0), { payload: payload.replace("993", "992") }),
    /bytes are as they were sent/,
  ],
  "a spelling of the payload is another": [
    (run) => {
      const row = nth(run.requests, 0);
      row.answer = row.answer.replace(String.raw`caf\u00e9`, "café");
    },
    /bytes are as they were sent/,
  ],
  "an approval without a decision": [
    (run) => run.decisions.splice(0),
    /nothing is decided but by a person/,
  ],
  "an approval by somebody else": [
    (run) => Object.assign(nth(run.requests, 0), { resolvedBy: "eve@example.com" }),
    /nothing is decided but by a person/,
  ],
  "an approval of another edit": [
    (run) => Object.assign(nth(run.decisions, 0), { edit: '{"amount": 1}', status: null }),
    /nothing is decided but by a person/,
  ],
  "an approval after the end": [
    (run) => {
      Object.assign(nth(run.requests, 0), { resolvedAt: late });
      Object.assign(nth(run.decisions, 0), { at: late });
    },
    /nothing is decided after its end/,
  ],
  "a decision that was sent after the end": [
    (run) => Object.assign(nth(run.decisions, 0), { at: late }),
    /nothing is decided after its end/,
  ],
  "an accepted decision is lost": [
    (run) => Object.assign(nth(run.requests, 0), { status: "REJECTED" }),
    /what was acknowledged stays/,
  ],
  "an accepted cancellation is lost": [
    (run) => run.cancels.push({ ...nth(run.reads, 0), status: 200, answer: "{}" }),
    /what was acknowledged stays/,
  ],
  "a final state is read as pending later": [
    (run) => run.reads.push({ ...nth(run.reads, 0), at: late, endedAt: late, answer: pending }),
    /what was acknowledged stays/,
  ],
  "a final state is read as another later": [
    (run) => Object.assign(nth(run.reads, 0), { answer: approved.replace("APPROVED", "REJECTED") }),
    /what was acknowledged stays/,
  ],
  "two outcomes": [
    (run) => run.events.push({ ...nth(run.events, 1), id: "evt_3", kind: "request.expired" }),
    /one final state and one event/,
  ],
  "no event of the outcome": [(run) => run.events.splice(1), /one final state and one event/],
  "a request that expired at another moment": [
    (run) => Object.assign(nth(run.requests, 0), { status: "EXPIRED" }),
    /nothing is decided but by a person/,
  ],
  "a delivery was dropped": [
    (run) => run.deliveries.splice(1, 1),
    /each event reaches each endpoint/,
  ],
  "an event has two deliveries to one endpoint": [
    (run) => run.deliveries.push({ ...nth(run.deliveries, 0), id: "dlv_9" }),
    /each event reaches each endpoint/,
  ],
  "a delivery was skipped": [
    (run) => Object.assign(nth(run.deliveries, 0), { state: "skipped" }),
    /each event reaches each endpoint/,
  ],
  "a delivery was given up too early": [
    (run) => {
      Object.assign(nth(run.deliveries, 0), { state: "failed" });
      Object.assign(nth(run.attempts, 0), { outcome: "http_status" });
    },
    /each event reaches each endpoint/,
  ],
  "it is delivered, and nobody heard it": [
    (run) => run.heard.splice(0, 1),
    /attempts say what receivers saw/,
  ],
  "it was heard twice in one attempt": [
    (run) => run.heard.push(nth(run.heard, 0)),
    /attempts say what receivers saw/,
  ],
  "it was accepted and is recorded as refused": [
    (run) => Object.assign(nth(run.attempts, 0), { outcome: "http_status" }),
    /attempts say what receivers saw/,
  ],
  "it was sent again after it had been delivered": [
    (run) => Object.assign(nth(run.attempts, 1), { outcome: "delivered" }),
    /three attempts/,
  ],
  "a fourth attempt": [
    (run) => {
      const delivered = nth(run.attempts, 0);
      for (const number of [1, 2, 3])
        run.attempts.push({ ...delivered, number, outcome: "http_status" });
      delivered.number = 4;
    },
    /three attempts/,
  ],
  "a byte of a webhook is another": [
    (run) =>
      Object.assign(nth(run.heard, 0), { body: nth(run.heard, 0).body.replace("993", "992") }),
    /webhooks verify/,
  ],
  "a webhook is signed with another secret": [
    (run) => Object.assign(nth(nth(run.workspaces, 0).endpoints, 0), { secret: "whsec_b3RoZXI" }),
    /webhooks verify/,
  ],
  "a webhook came to another workspace": [
    (run) => {
      nth(run.workspaces, 1).endpoints.push({ id: "we_2", secret });
      Object.assign(nth(run.heard, 0), { endpointId: "we_2" });
    },
    /workspaces don't cross/,
  ],
  "a webhook came from nowhere": [
    (run) => {
      const heard = nth(run.heard, 0);
      run.heard.push({ ...heard, headers: { ...heard.headers, "x-service-delivery-id": "dlv_8" } });
    },
    /attempts say what receivers saw/,
  ],
  "an attempt has no end": [
    (run) => Object.assign(nth(run.attempts, 0), { outcome: null }),
    /nothing is stuck/,
  ],
  "a delivery is due and nobody takes it": [
    (run) => Object.assign(nth(run.deliveries, 0), { state: "due" }),
    /nothing is stuck/,
  ],
  "a request is pending after its end": [
    (run) => Object.assign(nth(run.requests, 0), { status: "PENDING", resolvedAt: null }),
    /nothing is stuck/,
  ],
  "a mail is said to be sent and never came": [(run) => run.mails.splice(0), /people are asked/],
  "a mail went to somebody else": [
    (run) => Object.assign(nth(run.mails, 0), { to: "eve@example.com" }),
    /people are asked/,
  ],
  "a secret is in a log": [
    (run) => run.outputs.push({ process: "worker 1", text: `key=${secret}` }),
    /no secret in any log/,
  ],
};

describe("it is noticed that", () => {
  for (const [wrong, [spoil, promise]] of Object.entries(wrongs)) {
    test(wrong, () => {
      const run = cleanRun();
      spoil(run);
      const broken = check(run).map((flaw) => flaw.promise);
      assert.ok(
        broken.some((each) => promise.test(each)),
        `${promise} isn't among ${broken}`,
      );
    });
  }
});

test("members of an object are answered as they are spelled", () => {
  const text = String.raw` { "a" : 1.0 , "b\u0063":{"x":[1,{"y":"}"}]},"d":"\"," , "e":[ ] ,"f":null}`;
  assert.deepEqual(Object.fromEntries(membersOf(text)), {
    ...{ a: "1.0", bc: '{"x":[1,{"y":"}"}]}', d: String.raw`"\","`, e: "[ ]", f: "null" },
  });
  assert.deepEqual([...membersOf("{}")], []);
  assert.throws(() => membersOf('{"a":1'));
});
