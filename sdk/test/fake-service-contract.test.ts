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
];

const cases: Record<string, Case> = {
  "a request comes back as it was sent, to the letter": {
    run: async (subject) => {
      const nothing = { payload: null, agentName: null, recentActions: null, ttlMinutes: null };
      const callbackUrl = "https://workflows.invalid/resume/77";
      const withOwnAddress = { ...minimal, callbackUrl };
      const given = [minimal, full, { ...minimal, ...nothing }, { ...minimal, payload: 0 }];
      for (const body of [...given, withOwnAddress]) {
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
      }
      await subject.call("PUT", "/v1/requests", { body: minimal });
      await subject.call("PUT", `/v1/requests/${id}`, { body: minimal });
      await subject.call("GET", `/v1/requests/${id}/cancel`);
      await subject.call("GET", `/v1/requests/${id}/redeem`);
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
  "www-authenticate",
];

function note(told: string[], what: string, status: number, headers: Headers, body: string): void {
  const named = shownHeaders.filter((name) => headers.has(name));
  const lines = named.map((name) => `${name}: ${headers.get(name)}`);
  told.push([`${what} → ${status}`, ...lines, body].join("\n"));
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
  const endpoint = receiver && (await makeEndpoint(db, workspaceId, receiver.url));
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
      if (count === 9) await receiver?.close();
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

function openFake({ plan, monthlyLimit, defaultApprover, groups = [] }: Setting): Subject {
  const fake = new FakeService({
    groups,
    hasGroups: plan !== "hobby",
    onWebhook: () => new Response(null, { status: 204 }),
    ...(monthlyLimit === undefined ? {} : { monthlyLimit }),
    ...(defaultApprover === undefined ? {} : { defaultApprover }),
  });
  const { apiKey, baseUrl } = fake.options;
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
      return text === "" ? null : JSON.parse(text);
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
