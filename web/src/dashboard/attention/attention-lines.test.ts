import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  Attention,
  AttentionEndpoint,
} from "../../../../server/src/wire/dashboard-attention.ts";
import { linesOf, marksOf } from "./attention-lines.ts";

const at = "2026-11-17T09:00:00.000Z";
const few = (count: number) => ({ count, isMore: false });
const calm: Attention = {
  now: at,
  endpoints: { named: [], count: 0 },
  expiring: null,
  failedMails: { ...few(0), named: [] },
  quota: null,
};

const failing: AttentionEndpoint = {
  id: "we_1",
  url: "https://hook.example",
  trouble: "failing",
  since: at,
  missed: few(12),
  waiting: few(3),
};

test("nothing to tell is no line and no mark", () => {
  assert.deepEqual(linesOf(calm), []);
  assert.deepEqual(marksOf(calm), {});
});

test("an endpoint's line says since when and how much, and leads to the endpoint", () => {
  const [line] = linesOf({ ...calm, endpoints: { named: [failing], count: 1 } });
  assert.deepEqual(line, {
    key: "we_1",
    place: "webhooks",
    what: "Webhook endpoint failing",
    theirs: "https://hook.example",
    when: { word: "First failed", at },
    notes: ["12 deliveries given up", "3 waiting"],
    target: { page: "endpoint", endpointId: "we_1" },
  });
});

test("an endpoint that has a name is called by it, with its URL behind", () => {
  const named = [{ ...failing, name: "Ledger" }];
  const [line] = linesOf({ ...calm, endpoints: { named, count: 1 } });
  assert.equal(line?.theirs, "Ledger, https://hook.example");
});

test("what is beyond the named ones is one line that leads to their list", () => {
  const endpoints = { named: [failing], count: 3 };
  assert.deepEqual(
    linesOf({ ...calm, endpoints }).map(({ what, target }) => [what, target.page]),
    [
      ["Webhook endpoint failing", "endpoint"],
      ["2 more endpoints need attention", "endpoints"],
    ],
  );
  const mail = { deliveryId: "dlv_1", email: "ann@example.com", failedAt: at };
  assert.deepEqual(
    linesOf({ ...calm, failedMails: { count: 100, isMore: true, named: [mail] } }).map(
      ({ what, target }) => [what, target.page],
    ),
    [
      ["Mail to an approver failed", "delivery"],
      ["More than 99 other mails to approvers failed", "pending"],
    ],
  );
});

test("one request that expires soon is opened itself, several as their list", () => {
  const first = { requestId: "req_1", expiresAt: at };
  const [one] = linesOf({ ...calm, expiring: { ...few(1), first } });
  assert.deepEqual([one?.what, one?.target.page], ["1 request expires soon", "request"]);
  const [many] = linesOf({ ...calm, expiring: { ...few(1_200), first } });
  assert.deepEqual([many?.what, many?.target.page], ["1,200 requests expire soon", "pending"]);
});

test("callbacks that were given up are told by their host, and lead to a delivery that shows why", () => {
  const named = [
    { deliveryId: "dlv_1", host: "workflows.example", failedAt: at, count: 1 },
    { deliveryId: "dlv_2", host: "n8n.example:5678", failedAt: at, count: 4 },
  ];
  const lines = linesOf({ ...calm, failedCallbacks: { ...few(5), named } });
  assert.deepEqual(lines[0], {
    key: "dlv_1",
    place: "requests",
    what: "Callback failed",
    theirs: "workflows.example",
    when: { word: "Failed", at },
    notes: ["the workflow may still wait for the outcome"],
    target: { page: "delivery", deliveryId: "dlv_1" },
  });
  assert.equal(lines[1]?.what, "4 callbacks failed");
  assert.equal(lines.length, 2);
  const more = { ...few(7), named, otherDeliveryId: "dlv_3" };
  const last = linesOf({ ...calm, failedCallbacks: more }).at(-1);
  assert.deepEqual(
    [last?.what, last?.target],
    ["2 more callbacks failed", { page: "delivery", deliveryId: "dlv_3" }],
  );
  const most = { count: 100, isMore: true, named, otherDeliveryId: "dlv_3" };
  assert.equal(
    linesOf({ ...calm, failedCallbacks: most }).at(-1)?.what,
    "More than 95 other callbacks failed",
  );
});

test("the quota is told before and when it is used up", () => {
  const near = { used: 95, limit: 100, isUsedUp: false };
  assert.equal(linesOf({ ...calm, quota: near })[0]?.what, "Monthly volume nearly used up");
  const [over] = linesOf({ ...calm, quota: { used: 100, limit: 100, isUsedUp: true } });
  assert.deepEqual(over?.notes, [
    "100 of 100 requests this month",
    "new requests are refused until the next month (UTC)",
  ]);
});

test("each place with lines has one mark, which says each thing once", () => {
  const other = { ...failing, id: "we_2" };
  const attention: Attention = {
    ...calm,
    endpoints: { named: [failing, other], count: 2 },
    expiring: { ...few(2), first: { requestId: "req_1", expiresAt: at } },
    failedMails: {
      ...few(1),
      named: [{ deliveryId: "dlv_1", email: "ann@example.com", failedAt: at }],
    },
  };
  assert.deepEqual(marksOf(attention), {
    requests: "2 requests expire soon; Mail to an approver failed",
    webhooks: "Webhook endpoint failing",
  });
});

test("a connection that Slack refuses leads to the channels, and says that people are asked by mail", () => {
  const [line] = linesOf({ ...calm, brokenSlack: { teamName: "Acme", at } });
  assert.deepEqual([line?.what, line?.theirs], ["Slack refuses the connection", "Acme"]);
  assert.deepEqual([line?.place, line?.target.page], ["settings", "channels"]);
  assert.match(line?.notes.join() ?? "", /asked by mail/);
});
