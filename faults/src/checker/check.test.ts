// What the checker must notice, each shown by evidence of a clean run in which one thing is wrong.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import {
  addCancelled,
  addExpired,
  approved,
  cleanRun,
  expiresAt,
  nth,
  payload,
  pending,
  secret,
  testEach,
  type Wrongs,
} from "./clean-run.ts";
import { membersOf } from "./json-text.ts";

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

for (const offMs of [3_600_000, -3_600_000]) {
  test(`a clock of PostgreSQL that is off by ${offMs} ms breaks what compares clocks, and nothing else`, () => {
    const run = cleanRun();
    addExpired(run);
    addCancelled(run);
    for (const call of [...run.creates, ...run.reads, ...run.cancels, ...run.decisions]) {
      call.at -= offMs;
      call.endedAt -= offMs;
    }
    for (const attempt of run.attempts) attempt.startedAt += offMs;
    const flaws = check(run);
    assert.notDeepEqual(flaws, []);
    assert.deepEqual(
      flaws.filter(({ isByClock }) => !isByClock),
      [],
    );
  });
}

const late = expiresAt + 1;

const wrongs: Wrongs = {
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

describe("it is noticed that", () => testEach(wrongs));

test("members of an object are answered as they are spelled", () => {
  const text = String.raw` { "a" : 1.0 , "b\u0063":{"x":[1,{"y":"}"}]},"d":"\"," , "e":[ ] ,"f":null}`;
  assert.deepEqual(Object.fromEntries(membersOf(text)), {
    ...{ a: "1.0", bc: '{"x":[1,{"y":"}"}]}', d: String.raw`"\","`, e: "[ ]", f: "null" },
  });
  assert.deepEqual([...membersOf("{}")], []);
  assert.throws(() => membersOf('{"a":1'));
});
