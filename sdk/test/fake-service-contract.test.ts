// One list of cases, run against the real service and against the fake of the testing kit: what they answer and send must
// be the same to the letter, but for ids and times. So the fake can't drift from the service.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isRefusal } from "../../server/src/domain/refusal.ts";
import { sendTestEvent } from "../../server/src/operations/deliveries/resend-delivery.ts";
import { createGroup } from "../../server/src/operations/people/manage-group.ts";
import { issueKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { until } from "../../server/test/patience.ts";
import { type Choice, decide, findReviewer } from "../../server/test/test-review.ts";
import { makeWorkspace, startService, type TestService } from "../../server/test/test-service.ts";
import {
  makeEndpoint,
  startReceiver,
  startWorker,
  type TestWorker,
} from "../../server/test/test-worker.ts";
import type { EventKind } from "../src/contract.ts";
import { FakeService } from "../src/testing/fake-service.ts";

type Sent = { key?: string | null; headers?: Record<string, string>; body?: string | object };

type Subject = {
  /** Notes what is answered, and gives the answer as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the cases look into answers that the two sides are compared by
  call(method: "GET" | "POST" | "PUT", path: string, sent?: Sent): Promise<any>;
  /** Notes a refusal. */
  decide(id: string, choice: Choice & { by?: string }): Promise<void>;
  expire(id: string): Promise<void>;
  /** Another key of the same workspace. */
  otherKey(name: string): Promise<string>;
  /** Notes the webhooks, once there are so many. */
  webhooks(count: number): Promise<void>;
  sendTestEvent(): Promise<void>;
  /** The noted answers. */
  told: string[];
};

type Setting = {
  plan?: "hobby";
  monthlyLimit?: number;
  defaultApprover?: string;
  groups?: { key: string; name: string; members: string[] }[];
  /** Events are to be sent. */
  isHeard?: true;
  /** Those that the endpoint names. */
  events?: EventKind[];
  /** The owner of the API key. */
  keyOwner?: string;
};

type Case = { setting?: Setting; run(subject: Subject): Promise<void> };

const minimal = { summary: "Refund order 1042", notify: "ann@example.com" };
const full =
  '{"summary":"Pay \\u00fcber 500","payload":{"amount":120.50,"__proto__":{"admin":true},"to":[9007199254740993,1E400,-0]},"notify":"Ann@Example.com","agentName":"payer","metadata":{ "a" : 1 },"agentState":[],"reasoning":"due\\ntoday","recentActions":["read"],"ttlMinutes":30,"unknown":true}';

const post = (subject: Subject, body: string | object, headers: Record<string, string> = {}) =>
  subject.call("POST", "/v1/requests", { body, headers });

const ask = async (subject: Subject, body: string | object = minimal): Promise<string> =>
  (await post(subject, body)).id;

const flawedBodies: (string | object)[] = [
  "",
  "{",
  "[]",
  '"text"',
  "null",
  '{"summary":"a","summary":"b","notify":"a@b.c"}',
  '{"summary":"a","notify":"a@b.c","payload":{"x":{"y":1,"y":2}}}',
  '{"summary":"a","notify":"a@b.c","other":{"y":1,"y":2}}',
  `{"summary":"a","notify":"a@b.c","payload":${"[".repeat(129)}${"]".repeat(129)}}`,
  '{"summary":"a","notify":"a@b.c","payload":01}',
  '{"summary":"a","notify":"a@b.c"} x',
  {},
  { ...minimal, summary: null },
  { ...minimal, summary: " \u200b" },
  { ...minimal, summary: 7 },
  { ...minimal, summary: "x".repeat(501) },
  { ...minimal, summary: "a\u0007b" },
  '{"summary":"\\ud800","notify":"a@b.c"}',
  { summary: "a" },
  { ...minimal, notify: "" },
  { ...minimal, notify: ["a@b.c"] },
  { ...minimal, notify: "Ann <ann@example.com>" },
  { ...minimal, notify: "a@b.c, d@e.f" },
  { ...minimal, notify: `${"a".repeat(250)}@b.c` },
  { ...minimal, notify: "group:" },
  { ...minimal, notify: "group:Up" },
  { ...minimal, agentName: "x".repeat(101) },
  { ...minimal, agentName: {} },
  { ...minimal, reasoning: "x".repeat(2_001) },
  { ...minimal, recentActions: "read" },
  { ...minimal, recentActions: Array(11).fill("x") },
  { ...minimal, recentActions: ["x", 1] },
  { ...minimal, recentActions: ["x".repeat(301)] },
  { ...minimal, ttlMinutes: 4 },
  { ...minimal, ttlMinutes: 10_081 },
  { ...minimal, ttlMinutes: 5.5 },
  { ...minimal, ttlMinutes: "60" },
  { ...minimal, agentState: "x".repeat(262_143) },
  { ...minimal, agentState: "é".repeat(131_072) },
  { ...minimal, callbackUrl: 7 },
  { ...minimal, callbackUrl: "example.com/resume" },
  { ...minimal, callbackUrl: "https://a:b@example.com/" },
  { ...minimal, callbackUrl: "https://example.com/#part" },
  { ...minimal, callbackUrl: "http://example.com/resume" },
  { ...minimal, callbackUrl: `https://example.com/${"x".repeat(2_029)}` },
  { ...minimal, payload: "x".repeat(4 * 1024 * 1024) },
  { ...minimal, quorum: 0 },
  { ...minimal, quorum: 21 },
  { ...minimal, quorum: "2" },
  { ...minimal, then: {} },
  { ...minimal, then: ["ann@example.com"] },
  { ...minimal, then: [{}] },
  { ...minimal, then: [{ notify: "a@b.c", quorom: 2 }] },
  { ...minimal, then: [{ notify: "a@b.c", quorum: 1.5 }] },
  { ...minimal, then: Array(5).fill({ notify: "a@b.c" }) },
  '{"summary":"a","notify":"a@b.c","then":[{"notify":"a@b.c","notify":"b@b.c"}]}',
  { ...minimal, requestedBy: "Ann" },
  { ...minimal, requestedBy: 7 },
  { ...minimal, escalate: [{ notify: "a@b.c" }] },
  { ...minimal, escalate: [{ afterMinutes: 0, notify: "a@b.c" }] },
  { ...minimal, escalate: Array(6).fill({ afterMinutes: 5, notify: "a@b.c" }) },
  { ...minimal, channels: "mail" },
  { ...minimal, channels: [] },
  { ...minimal, channels: ["slack"] },
  { ...minimal, channels: ["mail", "mail"] },
  { ...minimal, channels: ["mail", "sms"] },
  { ...minimal, channels: ["mail", "slack", "slack_link"] },
  { ...minimal, audience: "ledger" },
  { ...minimal, audience: [] },
  { ...minimal, audience: ["a", "a"] },
  { ...minimal, audience: ["a b"] },
  { ...minimal, audience: ["a", 1] },
  { ...minimal, audience: ["a".repeat(201)] },
  { ...minimal, audience: ["a", "b", "c", "d", "e", "f"] },
  { ...minimal, requireSignature: "yes" },
  { ...minimal, requireSignature: 0 },
];

const people = {
  groups: [
    {
      key: "finance",
      name: "Finance",
      members: ["ann@x.example", "ben@x.example", "cat@x.example"],
    },
    { key: "board", name: "The board", members: ["cat@x.example", "dan@x.example"] },
    { key: "empty", name: "Nobody", members: [] },
  ],
};

const payment = {
  summary: "Pay 40000",
  payload: { amount: 40_000 },
  notify: "group:finance",
  quorum: 2,
  then: [{ notify: "dan@x.example" }],
  requestedBy: "eve@x.example",
};

const cases: Record<string, Case> = {
  "a request comes back as it was sent, to the letter": {
    run: async (subject) => {
      const nothing = { payload: null, agentName: null, recentActions: null, ttlMinutes: null };
      const callbackUrl = "https://workflows.invalid/resume/77";
      const withOwnAddress = { ...minimal, callbackUrl };
      const given = [minimal, full, { ...minimal, ...nothing }, { ...minimal, payload: 0 }];
      const withChannels = { ...minimal, channels: ["slack_link", "mail"] };
      const withProof = {
        ...minimal,
        audience: ["https://pay.example", "b"],
        requireSignature: true,
      };
      const unsigned = { ...minimal, requireSignature: false };
      for (const body of [...given, withOwnAddress, withChannels, withProof, unsigned]) {
        const { id } = await post(subject, body);
        await subject.call("GET", `/v1/requests/${id}`);
      }
    },
  },
  "a flawed body is refused with the same sentence": {
    run: async (subject) => {
      for (const body of flawedBodies) await post(subject, body);
      await subject.call("GET", "/v1/requests");
    },
  },
  "the longest values are taken": {
    run: async (subject) => {
      await post(subject, { ...minimal, summary: "😀".repeat(500), reasoning: "x".repeat(2_000) });
      await post(subject, { ...minimal, agentState: "x".repeat(262_142), ttlMinutes: 10_080 });
      await post(subject, {
        ...minimal,
        payload: JSON.parse(`${"[".repeat(128)}${"]".repeat(128)}`),
      });
    },
  },
  "an idempotency key makes one request of many calls": {
    run: async (subject) => {
      const key = { "idempotency-key": "one" };
      const { id } = await post(subject, minimal, key);
      await post(subject, minimal, key);
      await post(subject, { ...minimal, summary: "Another" }, key);
      await post(subject, { ...minimal, notify: "group:none" }, key);
      await subject.decide(id, { verdict: "approve" });
      await post(subject, minimal, key);
      for (const flawed of ["", "é", "x".repeat(256)]) {
        await post(subject, minimal, { "idempotency-key": flawed });
      }
      await subject.call("GET", "/v1/requests");
    },
  },
  "a call needs a key that is known": {
    run: async (subject) => {
      for (const authorization of ["Basic abc", "Bearer", "Bearer a b"]) {
        await subject.call("GET", "/v1/requests", { key: null, headers: { authorization } });
      }
      await subject.call("POST", "/v1/requests", { key: null, body: "{" });
    },
  },
  "unknown paths, ids and methods are told as such": {
    run: async (subject) => {
      const id = await ask(subject);
      for (const path of ["/v1", "/v1/requests/", "/v1/other", `/v1/requests/${id}/other`]) {
        await subject.call("GET", path);
      }
      for (const other of ["req_1", `req_${"0".repeat(32)}`, "%2e%2e", "req_0123 4"]) {
        await subject.call("GET", `/v1/requests/${other}`);
        await subject.call("POST", `/v1/requests/${other}/cancel`);
        await subject.call("POST", `/v1/requests/${other}/redeem`);
        await subject.call("POST", `/v1/requests/${other}/remind`);
      }
      await subject.call("PUT", "/v1/requests", { body: minimal });
      await subject.call("PUT", `/v1/requests/${id}`, { body: minimal });
      await subject.call("GET", `/v1/requests/${id}/cancel`);
      await subject.call("GET", `/v1/requests/${id}/redeem`);
      await subject.call("GET", `/v1/requests/${id}/remind`);
      await subject.call("POST", "/v1/default-approver", { body: {} });
    },
  },
  "a read tells its entity tag, and a known one gets 304": {
    run: async (subject) => {
      const id = await ask(subject);
      const path = `/v1/requests/${id}`;
      for (const tag of ['"1-pending"', 'W/"1-pending"', '"x", "1-pending"', "*", '"1-approved"']) {
        await subject.call("GET", path, { headers: { "if-none-match": tag } });
      }
      for (const wait of ["0", "61", "-1", "1.5", "x", ""]) {
        await subject.call("GET", `${path}?wait=${wait}`);
      }
      await subject.call("GET", `${path}?wait=1&wait=2`);
    },
  },
  "an approval keeps the edit exactly, and an edit that changes nothing is none": {
    run: async (subject) => {
      const payload = '{"amount":12.10,"n":1}';
      for (const edit of [
        undefined,
        '{ "amount" : 12.10, "n":1 }',
        '{"amount":12.1,"n":1}',
        '{"n":1,"amount":12.10}',
        '{"amount":9007199254740993}',
        "[]",
        "0",
        '""',
        "null",
        '{"a":1,"a":2}',
        `${"[".repeat(129)}${"]".repeat(129)}`,
      ]) {
        const id = await ask(subject, `{"summary":"a","notify":"a@b.c","payload":${payload}}`);
        await subject.decide(id, { verdict: "approve", ...(edit === undefined ? {} : { edit }) });
        await subject.call("GET", `/v1/requests/${id}`);
      }
      const id = await ask(subject);
      await subject.decide(id, { verdict: "approve", edit: '{"now":"a payload"}' });
      await subject.call("GET", `/v1/requests/${id}?wait=5`);
    },
  },
  "a decision is final, and its note is kept by the rules of notes": {
    run: async (subject) => {
      for (const note of [
        "no",
        " ",
        "two\nlines",
        "x".repeat(2_000),
        "x".repeat(2_001),
        "\u0007",
      ]) {
        const id = await ask(subject);
        await subject.decide(id, { verdict: "reject", note });
        await subject.call("GET", `/v1/requests/${id}`);
      }
      const id = await ask(subject);
      await subject.decide(id, { verdict: "reject", edit: "{}" });
      await subject.decide(id, { verdict: "approve", note: "fine" });
      await subject.decide(id, { verdict: "reject" });
      await subject.call("POST", `/v1/requests/${id}/cancel`);
      await subject.call("GET", `/v1/requests/${id}`);
    },
  },
  "a cancelled request stays cancelled, and nobody decides it": {
    run: async (subject) => {
      const id = await ask(subject);
      await subject.call("POST", `/v1/requests/${id}/cancel`);
      await subject.call("POST", `/v1/requests/${id}/cancel`);
      await subject.decide(id, { verdict: "approve" });
      await subject.call("GET", `/v1/requests/${id}`);
    },
  },
  "an expired request stays expired, and nobody decides or cancels it": {
    run: async (subject) => {
      const id = await ask(subject);
      await subject.expire(id);
      await subject.decide(id, { verdict: "approve" });
      await subject.call("POST", `/v1/requests/${id}/cancel`);
      await subject.call("POST", `/v1/requests/${id}/redeem`);
      await subject.call("GET", `/v1/requests/${id}`);
      await subject.call("GET", "/v1/requests?status=EXPIRED");
    },
  },
  "an approved request is redeemed once": {
    run: async (subject) => {
      const id = await ask(subject, full);
      const path = `/v1/requests/${id}/redeem`;
      await subject.call("POST", path);
      await subject.decide(id, { verdict: "approve", edit: '{"amount":1.50}' });
      const other = await subject.otherKey("worker");
      const headers = { "idempotency-key": "run-1" };
      await subject.call("POST", path, { headers: { "idempotency-key": "é" } });
      await subject.call("POST", path, { headers });
      await subject.call("POST", path, { headers });
      await subject.call("POST", path, { headers, key: other });
      await subject.call("POST", path, { headers: { "idempotency-key": "run-2" } });
      await subject.call("POST", path);
      await subject.call("GET", `/v1/requests/${id}`);
      const plain = await ask(subject);
      await subject.decide(plain, { verdict: "approve" });
      await subject.call("POST", `/v1/requests/${plain}/redeem`, { key: other });
      await subject.call("POST", `/v1/requests/${plain}/redeem`, { key: other });
      const rejected = await ask(subject);
      await subject.decide(rejected, { verdict: "reject" });
      await subject.call("POST", `/v1/requests/${rejected}/redeem`);
    },
  },
  "receipts and the bytes that were approved are answered alike": {
    setting: people,
    run: async (subject) => {
      const show = async (id: string, headers: Record<string, string> = {}) => {
        for (const what of ["receipt", "receipt?embed=payload", "effective-payload"]) {
          await subject.call("GET", `/v1/requests/${id}/${what}`, { headers });
        }
      };
      const id = await ask(subject, full);
      await show(id);
      await subject.decide(id, { verdict: "approve", edit: '{"amount":1.50}' });
      await show(id);
      await show(id, { "if-none-match": "*" });
      for (const query of ["?embed=", "?embed=all", "?embed=payload&embed=payload"]) {
        await subject.call("GET", `/v1/requests/${id}/receipt${query}`);
      }
      await subject.call("POST", `/v1/requests/${id}/receipt`);
      await subject.call("PUT", `/v1/requests/${id}/effective-payload`);
      await subject.call("GET", `/v1/requests/${id}/receipt`, { key: null });
      const rejected = await ask(subject, full);
      await subject.decide(rejected, { verdict: "reject" });
      await show(rejected);
      const plain = await ask(subject);
      await subject.decide(plain, { verdict: "approve" });
      await show(plain);
      const voted = await ask(subject, payment);
      for (const by of ["ann@x.example", "ben@x.example", "dan@x.example"]) {
        await subject.decide(voted, { verdict: "approve", by });
      }
      await show(voted);
      for (const other of ["req_x", `req_${"0".repeat(32)}`]) await show(other);
      await subject.call("GET", "/.well-known/jwks.json", { key: null });
      await subject.call("POST", "/.well-known/jwks.json", { key: null });
    },
  },
  "lists are filtered and paged alike": {
    run: async (subject) => {
      const times: string[] = [];
      for (const agentName of ["a", "b", "a", null, "a"]) {
        times.push((await post(subject, { ...minimal, agentName })).createdAt);
        await nextMillisecond();
      }
      const [, , third = ""] = times;
      const list = (query: string) => subject.call("GET", `/v1/requests?${query}`);
      let cursor: string | null = "";
      while (cursor !== null) {
        const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
        cursor = (await list(`limit=2${from}`)).nextCursor;
      }
      await list("agentName=a");
      await list("agentName=A");
      await list("status=PENDING&agentName=b");
      await list(`createdAfter=${third}`);
      await list(`createdBefore=${third}`);
      for (const flawed of [
        "status=pending",
        "status=PENDING&status=EXPIRED",
        "limit=0",
        "limit=101",
        "limit=x",
        "cursor=abc",
        "cursor=%FF",
        "createdAfter=yesterday",
        "createdBefore=2026-02-30",
        "agentName=%00",
      ]) {
        await list(flawed);
      }
    },
  },
  "groups are asked, and a group that can't be is refused": {
    setting: {
      groups: [
        { key: "people", name: "The people", members: ["ann@example.com", "ben@example.com"] },
        { key: "empty", name: "Nobody", members: [] },
      ],
    },
    run: async (subject) => {
      const id = await ask(subject, { ...minimal, notify: "group:people" });
      await subject.decide(id, { verdict: "approve", by: "ben@example.com" });
      await subject.call("GET", `/v1/requests/${id}`);
      for (const key of ["empty", "none"]) {
        await post(subject, { ...minimal, notify: `group:${key}` });
      }
    },
  },
  "several people decide in stages, and an edit begins again": {
    setting: people,
    run: async (subject) => {
      const id = await ask(subject, payment);
      const read = () => subject.call("GET", `/v1/requests/${id}`);
      await read();
      await subject.decide(id, { verdict: "approve", by: "ann@x.example", note: "fine" });
      await read();
      await subject.decide(id, { verdict: "approve", by: "ann@x.example" });
      await subject.decide(id, { verdict: "approve", by: "ann@x.example", edit: '{"amount":1}' });
      const edit = '{"amount":39999.90}';
      await subject.decide(id, { verdict: "approve", by: "ben@x.example", edit });
      await read();
      await subject.decide(id, { verdict: "approve", by: "ann@x.example" });
      await read();
      await subject.decide(id, { verdict: "reject", by: "ben@x.example" });
      await subject.decide(id, { verdict: "approve", by: "cat@x.example" });
      // The last one edits, so that everybody is asked again.
      await subject.decide(id, {
        verdict: "approve",
        by: "dan@x.example",
        edit: '{"amount":40000}',
      });
      await read();
      for (const by of ["ann@x.example", "cat@x.example"]) {
        await subject.decide(id, { verdict: "approve", by });
      }
      await read();
      await subject.decide(id, { verdict: "approve", by: "dan@x.example" });
      await subject.call("POST", `/v1/requests/${id}/redeem`);
      await subject.call("GET", "/v1/requests");
    },
  },
  "one rejection ends it, and time and the agent end it as ever": {
    setting: people,
    run: async (subject) => {
      const rejected = await ask(subject, payment);
      await subject.decide(rejected, { verdict: "approve", by: "ben@x.example" });
      await subject.decide(rejected, { verdict: "reject", by: "ann@x.example", note: "no" });
      await subject.decide(rejected, { verdict: "approve", by: "cat@x.example" });
      const cancelled = await ask(subject, payment);
      await subject.call("POST", `/v1/requests/${cancelled}/cancel`);
      const expired = await ask(subject, { ...payment, quorum: 1 });
      await subject.decide(expired, { verdict: "approve", by: "cat@x.example" });
      await subject.expire(expired);
      for (const id of [rejected, cancelled, expired]) {
        await subject.call("GET", `/v1/requests/${id}`);
      }
    },
  },
  "nobody counts twice, nor the requester, nor the owner of the key": {
    setting: { ...people, keyOwner: "Ann+agent@x.example" },
    run: async (subject) => {
      const two = { ...payment, quorum: 1, then: [{ notify: "group:board", quorum: 2 }] };
      const id = await ask(subject, { ...two, requestedBy: "Ben@x.example" });
      await subject.call("GET", `/v1/requests/${id}`);
      await post(subject, { ...payment, notify: "ann@x.example", quorum: null, then: null });
      await post(subject, { ...minimal, notify: "ANN@x.example" });
      await post(subject, { ...minimal, notify: "eve+1@x.example", requestedBy: "eve@x.example" });
      const plain = await ask(subject, { ...minimal, requestedBy: "eve@x.example" });
      await subject.decide(plain, { verdict: "approve" });
      await subject.call("GET", `/v1/requests/${plain}`);
    },
  },
  "who is needed later can't approve now": {
    setting: people,
    run: async (subject) => {
      const id = await ask(subject, { ...payment, quorum: 1, then: [{ notify: "cat@x.example" }] });
      await subject.decide(id, { verdict: "approve", by: "cat@x.example" });
      await subject.decide(id, { verdict: "approve", by: "ann@x.example" });
      await subject.decide(id, { verdict: "approve", by: "cat@x.example" });
      await subject.call("GET", `/v1/requests/${id}`);
    },
  },
  "stages that can't be complete, and people who can't be asked, are refused": {
    setting: people,
    run: async (subject) => {
      const escalate = [{ afterMinutes: 60, notify: "group:board" }];
      for (const more of [
        { quorum: 4 },
        { quorum: 4, escalate },
        { quorum: 4, escalate, ttlMinutes: 60 },
        { quorum: 3, then: [{ notify: "ann+2@x.example" }] },
        { quorum: 3, then: [], requestedBy: "cat+1@x.example" },
        { then: [{ notify: "group:none" }] },
        { then: [{ notify: "group:empty" }] },
        { then: [], escalate: [{ afterMinutes: 5, notify: "group:none" }] },
        { quorum: null, then: null, escalate: null },
        { quorum: null, then: [], escalate: [] },
        { quorum: 1, then: [] },
      ]) {
        await post(subject, { ...payment, ...more });
      }
    },
  },
  "people are reminded once in an hour": {
    setting: people,
    run: async (subject) => {
      const ids = [await ask(subject, payment), await ask(subject)];
      for (const id of [...ids, ...ids]) await subject.call("POST", `/v1/requests/${id}/remind`);
      for (const id of ids) await subject.call("POST", `/v1/requests/${id}/cancel`);
      for (const id of ids) await subject.call("POST", `/v1/requests/${id}/remind`);
    },
  },
  "an entity tag says how far people are": {
    setting: people,
    run: async (subject) => {
      const id = await ask(subject, payment);
      for (const tag of ['"1-pending"', "*"]) {
        const headers = { "if-none-match": tag };
        await subject.call("GET", `/v1/requests/${id}?wait=60`, tag === "*" ? {} : { headers });
        if (tag === '"1-pending"') await subject.decide(id, { verdict: "reject" });
      }
    },
  },
  "votes and stages are sent to an endpoint that names them": {
    setting: {
      ...people,
      isHeard: true,
      events: ["request.vote_recorded", "request.stage_entered", "request.approved"],
    },
    run: async (subject) => {
      const id = await ask(subject, payment);
      for (const by of ["ann@x.example", "ben@x.example", "dan@x.example"]) {
        await subject.decide(id, { verdict: "approve", by });
      }
      await subject.webhooks(5);
    },
  },
  "a plan without groups refuses them": {
    setting: { plan: "hobby" },
    run: async (subject) => void (await post(subject, { ...minimal, notify: "group:people" })),
  },
  "the quota is used up exactly": {
    setting: { plan: "hobby", monthlyLimit: 2 },
    run: async (subject) => {
      await post(subject, { ...minimal, summary: "" });
      const key = { "idempotency-key": "one" };
      await post(subject, minimal, key);
      await post(subject, minimal);
      await post(subject, minimal);
      await post(subject, minimal, key);
    },
  },
  "nobody is the default approver": {
    run: async (subject) => void (await subject.call("GET", "/v1/default-approver")),
  },
  "the default approver is told, and a create still needs one": {
    setting: { defaultApprover: "ann@example.com" },
    run: async (subject) => {
      await subject.call("GET", "/v1/default-approver");
      await post(subject, { summary: "a" });
    },
  },
  "each change sends its webhook, with the same body and headers": {
    setting: { isHeard: true },
    run: async (subject) => {
      const ids = [await ask(subject, full), await ask(subject), await ask(subject)];
      const [approved = "", rejected = "", cancelled = ""] = ids;
      const expired = await ask(subject);
      await subject.webhooks(4);
      await subject.decide(approved, { verdict: "approve", edit: '{"amount":9007199254740993}' });
      await subject.decide(rejected, { verdict: "reject", note: "no" });
      await subject.call("POST", `/v1/requests/${cancelled}/cancel`);
      await subject.expire(expired);
      await subject.webhooks(8);
      await subject.sendTestEvent();
      await subject.webhooks(9);
    },
  },
};

let service: TestService;
let worker: TestWorker;

before(async () => {
  service = await startService();
  worker = startWorker(service.database);
});
after(async () => {
  await worker.stop();
  await service.stop();
});

for (const [name, { setting = {}, run }] of Object.entries(cases)) {
  test(`${name}, in the service and in its fake`, async () => {
    const real = await openReal(setting);
    await run(real);
    const fake = openFake(setting);
    await run(fake);
    const [expected = [], found = []] = [real, fake].map(({ told }) => comparable(told));
    assert.ok(expected.length > 0);
    for (const [at, each] of expected.entries()) assert.equal(found[at], each);
    assert.equal(found.length, expected.length);
  });
}

const shownHeaders = [
  "allow",
  "cache-control",
  "content-type",
  "etag",
  "idempotent-replayed",
  "location",
  "repr-digest",
  "retry-after",
  "www-authenticate",
];

function note(told: string[], what: string, status: number, headers: Headers, body: string): void {
  const named = shownHeaders.filter((name) => headers.has(name));
  const lines = named.map((name) => `${name}: ${headers.get(name)}`);
  told.push([`${what} → ${status}`, ...lines, withReadableTokens(body)].join("\n"));
}

/** Only claims that both sides know. The fake's key is its own, and nobody opened a page. */
function withReadableTokens(body: string): string {
  return body.replaceAll(/\beyJ[\w-]+\.([\w-]+)\.[\w-]{86}\b/g, (_, part: string) => {
    const claims = JSON.parse(Buffer.from(part, "base64url").toString());
    const { iss: _iss, aud, ws, jti, iat, nbf, exp, shown, log, ...same } = claims;
    assert.deepEqual([aud, nbf, exp], [[ws], iat, iat + 24 * 3_600]);
    assert.match(jti, /^evt_[0-9a-f]{32}$/);
    const by = same.by.map(({ amr: _amr, ...each }: { amr: string[] }) => each);
    return JSON.stringify([Object.keys(claims), { ...same, by }]);
  });
}

/** Ids by the order in which they first appear, and times by name. */
function comparable(told: string[]): string[] {
  const ids = new Map<string, string>();
  const anonymous = (text: string) =>
    text
      .replaceAll(/\b(req|key|dlv)_[0-9a-f]{32}\b/g, (id, kind) => {
        if (!ids.has(id)) ids.set(id, `${kind}_#${ids.size + 1}`);
        return ids.get(id) ?? "";
      })
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
      // A receipt's times and key are in its tag, and so is the key in the set.
      .replaceAll(/^etag: "[\w-]{43}"$/gm, "etag: <digest>")
      .replaceAll(/"(x|kid)":"[\w-]{43}"/g, '"$1":"<key>"')
      .replaceAll(/"iat":\d+/g, '"iat":<time>')
      .replaceAll(/retry-after: 3(?:600|5\d\d)\b/g, "retry-after: <hour>")
      // Over the times of the votes.
      .replaceAll(/(etag: "1-[a-z]+-)[0-9a-f]{16}"/g, '$1<hash>"')
      .replaceAll(/(nextCursor":|cursor=)"?[\w-]{48}"?/g, "$1<cursor>");
  return told.map(anonymous);
}

async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  await until(() => Date.now() > now);
}

async function openReal(setting: Setting): Promise<Subject> {
  const { db } = service;
  const { plan, monthlyLimit, defaultApprover = null, groups = [] } = setting;
  const { id: workspaceId, key } = await makeWorkspace(db, {
    defaultApprover,
    ...(plan === undefined ? {} : { plan }),
    ...(monthlyLimit === undefined ? {} : { included: monthlyLimit }),
  });
  for (const group of groups) await createGroup(db, { workspaceId, ...group });
  const receiver = setting.isHeard === true ? await startReceiver() : null;
  const endpoint =
    receiver && (await makeEndpoint(db, workspaceId, receiver.url, setting.events ?? null));
  if (setting.keyOwner !== undefined) {
    await db.query("update api_keys set owner_email = $2 where workspace_id = $1", [
      workspaceId,
      setting.keyOwner,
    ]);
  }
  const told: string[] = [];
  return {
    told,
    call: async (method, path, sent = {}) => {
      const reply = await service.call(method, path, {
        ...(sent.key === null ? {} : { key: sent.key ?? key }),
        ...(sent.headers === undefined ? {} : { headers: sent.headers }),
        ...(sent.body === undefined ? {} : { body: sent.body }),
      });
      const headers = new Headers(Object.entries(reply.headers).map(([n, v]) => [n, String(v)]));
      worker.worker.wake();
      note(told, `${method} ${path}`, reply.status, headers, reply.text);
      return reply.json;
    },
    decide: async (id, { by, ...choice }) => {
      const { token } = await findReviewer(db, id, by === undefined ? {} : { email: by });
      const { status, json } = await decide(service.app, token, choice);
      worker.worker.wake();
      if (status !== 200) told.push(json.error.message);
    },
    expire: async (id) => {
      await db.query(
        "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() where id = $1",
        [id],
      );
      await service.call("GET", `/v1/requests/${id}`, { key });
      worker.worker.wake();
    },
    otherKey: async (name) => {
      const issued = await issueKey(db, { workspaceId, name });
      if (isRefusal(issued)) throw new Error(issued.message);
      return issued.key;
    },
    webhooks: async (count) => {
      const heard = await until(() => {
        const all = receiver?.heard ?? [];
        return all.length >= count ? all : null;
      }, `${count} webhooks`);
      if (count === 9 || setting.events !== undefined) await receiver?.close();
      told.push(
        ...heard.map(({ headers, body }) => tellWebhook(headers, body.toString())).toSorted(),
      );
    },
    sendTestEvent: async () => {
      await sendTestEvent(db, endpoint?.id ?? "");
      worker.worker.wake();
    },
  };
}

function openFake(setting: Setting): Subject {
  const { plan, monthlyLimit, defaultApprover, groups = [], events, keyOwner } = setting;
  const fake = new FakeService({
    groups,
    hasGroups: plan !== "hobby",
    onWebhook: () => new Response(null, { status: 204 }),
    ...(monthlyLimit === undefined ? {} : { monthlyLimit }),
    ...(defaultApprover === undefined ? {} : { defaultApprover }),
    ...(events === undefined ? {} : { webhookEvents: events }),
  });
  const { baseUrl } = fake.options;
  const apiKey =
    keyOwner === undefined ? fake.options.apiKey : fake.addKey("Test key", { owner: keyOwner });
  const told: string[] = [];
  return {
    told,
    call: async (method, path, { key = apiKey, headers = {}, body } = {}) => {
      const response = await fake.fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      note(told, `${method} ${path}`, response.status, response.headers, text);
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      return text === "" || isJson !== true ? null : JSON.parse(text);
    },
    decide: async (id, { verdict, edit, ...options }) => {
      try {
        if (verdict === "approve") {
          fake.approve(id, { ...options, ...(edit === undefined ? {} : { editText: edit }) });
        } else if (edit === undefined) fake.reject(id, options);
        else throw new Error(editOfRejection);
      } catch (error) {
        told.push((error as Error).message);
      }
    },
    expire: async (id) => void fake.expire(id),
    otherKey: async (name) => fake.addKey(name),
    webhooks: async (count) => {
      await fake.delivered();
      assert.equal(fake.webhooks.length, count);
      const requests = await Promise.all(fake.webhooks.map((each) => each.toRequest()));
      const tellings = requests.map(async (request) =>
        tellWebhook(Object.fromEntries(request.headers), await request.text()),
      );
      told.push(...(await Promise.all(tellings)).toSorted());
    },
    sendTestEvent: () => fake.sendTestEvent(),
  };
}

/** The fake's `reject` takes no edit, so the compiler says it. */
const editOfRejection =
  "edit: goes with an approval only: what is rejected is not executed. Undo it.";

/** Only the headers that a verifier may look at, without the values that differ at each attempt. */
function tellWebhook(headers: Record<string, unknown>, body: string): string {
  const names = Object.keys(headers).filter((name) =>
    /^(x-service|webhook|content-type)/.test(name),
  );
  const event = `${headers["x-service-event"]} ${headers["content-type"]}`;
  // Sorted by their text, so the ids must not decide the order.
  const anonymous = body.replaceAll(/req_[0-9a-f]{32}/g, "req_…");
  return `${anonymous}\n${event}\n${names.toSorted().join(" ")}`;
}
