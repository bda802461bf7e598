// What the checker must notice of webhooks, attempts and rest, each shown by evidence in which one thing is wrong.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Evidence } from "../evidence.ts";
import { check } from "./check.ts";
import {
  cleanRun,
  createdAt,
  nth,
  secret,
  signedHeaders,
  testEach,
  type Wrongs,
} from "./clean-run.ts";

const minute = 60_000;

/** The first delivery's attempts, in place of one that delivered. */
function attemptsOf(run: Evidence, state: string, outcomes: (string | null)[]): void {
  const [first] = run.attempts.splice(0, 1);
  Object.assign(nth(run.deliveries, 0), { state, attempts: outcomes.length });
  for (const [at, outcome] of outcomes.entries()) {
    const { deliveryId = "", startedAt = 0 } = first ?? {};
    run.attempts.push({ deliveryId, number: at + 1, startedAt: startedAt + 1_000 * at, outcome });
  }
}

/** The first webhook, as its receiver took it. */
function heardAs(run: Evidence, change: object): void {
  Object.assign(nth(run.heard, 0), change);
}

function changeHeader(run: Evidence, name: string, value: string): void {
  nth(run.heard, 0).headers[name] = value;
}

const wrongs: Wrongs = {
  "an attempt says that a receiver refused, and none did": [
    (run) => {
      attemptsOf(run, "delivered", ["http_status", "delivered"]);
    },
    /attempts say what receivers saw/,
  ],
  "it is failed, and was delivered": [
    (run) => attemptsOf(run, "failed", ["timed_out", "timed_out", "delivered"]),
    /attempts say what receivers saw/,
  ],
  "it is due, and was delivered": [
    (run) => {
      attemptsOf(run, "due", ["delivered"]);
      nth(run.deliveries, 0).dueAt = run.readAt;
    },
    /attempts say what receivers saw/,
  ],
  "it was heard twice in the first attempt, and never in the second": [
    (run) => {
      attemptsOf(run, "delivered", ["connection_failed", "delivered"]);
      run.heard.push({ ...nth(run.heard, 0), at: createdAt + 5 });
    },
    /attempts say what receivers saw/,
  ],
  "it was heard long after its only attempt": [
    (run) => heardAs(run, { at: createdAt + 2 * minute }),
    /attempts say what receivers saw/,
  ],
  "it was sent, and an attempt says that nothing could be": [
    (run) => attemptsOf(run, "delivered", ["secret_unreadable", "delivered"]),
    /attempts say what receivers saw/,
  ],
  "its event header names another event": [
    (run) => changeHeader(run, "x-service-event", "request.approved"),
    /webhooks verify/,
  ],
  "its second id is another": [
    (run) => changeHeader(run, "webhook-id", "dlv_2"),
    /webhooks verify/,
  ],
  "its second signature is another's": [
    (run) =>
      changeHeader(run, "webhook-signature", nth(run.heard, 1).headers["webhook-signature"] ?? ""),
    /webhooks verify/,
  ],
  "its signature is too old for a receiver to believe": [
    (run) => {
      const { body } = nth(run.heard, 0);
      const at = createdAt - 6 * minute;
      heardAs(run, { headers: signedHeaders({ id: "dlv_1", kind: "request.created", body, at }) });
    },
    /webhooks verify/,
  ],
  "a delivery is another workspace's than its event": [
    (run) => {
      nth(run.deliveries, 2).workspaceId = "ws_2";
    },
    /workspaces don't cross/,
  ],
  "a delivery's endpoint is another workspace's": [
    (run) => {
      nth(run.workspaces, 1).endpoints.push({ id: "we_2", secret });
      run.deliveries.push({ ...nth(run.deliveries, 0), id: "dlv_9", endpointId: "we_2" });
    },
    /workspaces don't cross/,
  ],
  "a delivery is leased for an hour": [
    (run) => {
      attemptsOf(run, "due", [null]);
      nth(run.deliveries, 0).leasedUntil = run.readAt + 60 * minute;
      nth(run.attempts, run.attempts.length - 1).startedAt = run.readAt;
      run.heard.splice(0, 1);
    },
    /nothing is stuck/,
  ],
  "a webhook is due in an hour": [
    (run) => {
      attemptsOf(run, "due", ["timed_out"]);
      nth(run.deliveries, 0).dueAt = run.readAt + 60 * minute;
    },
    /nothing is stuck/,
  ],
  "an attempt was cut off long after the last fault": [
    (run) => {
      const at = run.faultsEndedAt + 2 * minute;
      run.readAt = at + 2 * minute;
      for (const attempt of run.attempts.slice(1, 3)) attempt.startedAt = at;
      for (const heard of run.heard.slice(1)) {
        const { headers, body } = heard;
        const id = headers["webhook-id"] ?? "";
        heard.at = at;
        heard.headers = signedHeaders({ id, kind: "request.approved", body, at });
      }
    },
    /three attempts/,
  ],
  "a receiver never accepted anything": [
    (run) => {
      for (const heard of run.heard) heard.answered = null;
    },
    /something to judge/,
  ],
  "a process wrote nothing": [
    (run) => {
      nth(run.outputs, 0).text = "";
    },
    /something to judge/,
  ],
  "a secret is too short to be looked for": [
    (run) => run.secrets.push({ name: "SECRET_KEY", value: "" }),
    /something to judge/,
  ],
  ...secretsAs({
    "as part of an address": (text) => encodeURIComponent(text),
    "as JSON": (text) => JSON.stringify(text).slice(1, -1),
    "in base64": (text) => Buffer.from(text).toString("base64"),
    "in hex": (text) => Buffer.from(text).toString("hex"),
    "without what names its kind": (text) => text.slice("whsec_".length),
  }),
};

function secretsAs(spellings: Record<string, (text: string) => string>): Wrongs {
  const awkward = 'whsec_c2Vj"cmV0/LXN+lY3\\ldA==';
  return Object.fromEntries(
    Object.entries(spellings).map(([name, spell]) => [
      `a secret is in a log ${name}`,
      [
        (run) => {
          run.secrets.push({ name: "an endpoint's secret", value: awkward });
          nth(run.outputs, 0).text += ` ${spell(awkward)}\n`;
        },
        /no secret in any log/,
      ],
    ]),
  );
}

describe("it is noticed that", () => testEach(wrongs));

test("a webhook that came after the rows were read may be of a row that nobody has read", () => {
  const run = cleanRun();
  const heard = nth(run.heard, 0);
  const headers = { ...heard.headers, "x-service-delivery-id": "dlv_9" };
  run.heard.push({ ...heard, at: run.readAt + 1, headers });
  assert.deepEqual(check(run), []);
});
