// What a caller hears of the votes of several people, and what is taken for an approval by all of them.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  type Approvals,
  Countersign,
  CountersignError,
  type CreateRequest,
  type RecordedVote,
  type Vote,
  type WaitOptions,
} from "../src/index.ts";
import { isAskedBy } from "../src/tool-call.ts";

type Answer = (call: { path: string; tag: string | null }) => Response | Promise<Response>;

/** A client whose calls are answered by these, one after the other, and what it called. Pauses take no time. */
function clientOf(t: TestContext, answers: Answer[]) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const calls: { path: string; tag: string | null }[] = [];
  const client = new Countersign({
    apiKey: "key",
    baseUrl: "http://127.0.0.1:1",
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url);
      const call = {
        path: `${init.method} ${pathname}${search}`,
        tag: new Headers(init.headers).get("if-none-match"),
      };
      calls.push(call);
      return answers.shift()?.(call) ?? assert.fail("it was asked once more");
    },
  });
  const wait = async (options: WaitOptions) => {
    let isOver = false;
    const waiting = client.requests.waitForDecision("req_1", options).finally(() => {
      isOver = true;
    });
    waiting.catch(() => {});
    while (!isOver) {
      t.mock.timers.tick(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return waiting;
  };
  return { client, wait, calls };
}

const vote = (email: string, second: number, more: Partial<Vote> = {}): Vote => ({
  email,
  verdict: "approve",
  revision: 1,
  at: `2026-11-16T12:00:0${second}.000Z`,
  note: null,
  via: "link",
  for: null,
  ...more,
});

const approvalsOf = (...stages: Vote[][]): Approvals => ({
  stage: 1,
  revision: 1,
  stages: stages.map((votes, at) => ({ notify: `group:stage-${at + 1}`, required: 2, votes })),
});

const told =
  (tag: string | null, status: string, approvals?: Approvals): Answer =>
  () => {
    const expiresAt = "2999-01-01T00:00:00.000Z";
    const body = JSON.stringify({ id: "req_1", status, expiresAt, approvals });
    return new Response(body, { headers: tag === null ? {} : { etag: tag } });
  };
const unchanged: Answer = () => new Response(null, { status: 304 });
const lost: Answer = () => Promise.reject(new TypeError("fetch failed"));
const away: Answer = () => new Response("<html>", { status: 502 });

const ann = vote("ann@example.com", 1);
const ben = vote("ben@example.com", 2);
const cat = vote("cat@example.com", 3, { revision: 2 });

function listen() {
  const heard: string[] = [];
  const onVote = ({ vote: { email, revision }, stage, request }: RecordedVote) => {
    heard.push(`${email} ${revision} in ${stage}, ${request.status}`);
  };
  return { heard, onVote };
}

test("each vote is told once and in order, over lost calls, early answers and votes that came together", async (t) => {
  const { wait, calls } = clientOf(t, [
    told('"a"', "PENDING", approvalsOf([], [])),
    unchanged,
    told('"b"', "PENDING", approvalsOf([ann], [])),
    lost,
    away,
    told('"b"', "PENDING", approvalsOf([ann], [])),
    told('"c"', "APPROVED", approvalsOf([ann, cat], [ben])),
  ]);
  const { heard, onVote } = listen();
  assert.equal((await wait({ onVote })).status, "APPROVED");
  assert.deepEqual(heard, [
    "ann@example.com 1 in 1, PENDING",
    "ben@example.com 1 in 2, APPROVED",
    "cat@example.com 2 in 1, APPROVED",
  ]);
  assert.deepEqual(
    calls.map(({ tag }) => tag),
    [null, '"a"', '"a"', '"b"', '"b"', '"b"', '"b"'],
  );
});

test("votes that were given before the wait began are told at once", async (t) => {
  const { wait, calls } = clientOf(t, [
    told('"a"', "PENDING", approvalsOf([ann])),
    told('"b"', "REJECTED", approvalsOf([ann, vote("ben@example.com", 2, { verdict: "reject" })])),
  ]);
  const heard: string[] = [];
  await wait({ onVote: ({ vote: { email, verdict } }) => heard.push(`${email}: ${verdict}`) });
  assert.deepEqual(heard, ["ann@example.com: approve", "ben@example.com: reject"]);
  assert.equal(calls[0]?.path, "GET /v1/requests/req_1?wait=0");
  assert.equal(calls[1]?.path, "GET /v1/requests/req_1?wait=50");
});

test("a vote that is listed before others is told all the same", async (t) => {
  const { wait } = clientOf(t, [
    told('"a"', "PENDING", approvalsOf([ben])),
    told('"b"', "APPROVED", approvalsOf([ann, ben])),
  ]);
  const { heard, onVote } = listen();
  await wait({ onVote });
  assert.deepEqual(heard, ["ben@example.com 1 in 1, PENDING", "ann@example.com 1 in 1, APPROVED"]);
});

test("the decision waits for the caller's own function, and its failure ends the wait as it is", async (t) => {
  const answers = [told('"a"', "APPROVED", approvalsOf([ann, ben]))];
  const order: string[] = [];
  const { wait } = clientOf(t, answers);
  await wait({
    onVote: async ({ vote: { email } }) => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(email);
    },
  });
  assert.deepEqual(order, ["ann@example.com", "ben@example.com"]);
  t.mock.timers.reset();
  // It looks like a failure that passes, but it is none of the service.
  const failure = new CountersignError("of another client", { code: "connection_failed" });
  const other = clientOf(t, [told('"a"', "PENDING", approvalsOf([ann]))]);
  const onVote = () => Promise.reject(failure);
  await assert.rejects(other.wait({ onVote }), (error) => error === failure);
});

test("a proxy that drops entity tags, or a request for one person, makes an ordinary wait", async (t) => {
  const { wait, calls } = clientOf(t, [
    told(null, "PENDING"),
    told(null, "PENDING"),
    told(null, "APPROVED"),
  ]);
  const { heard, onVote } = listen();
  assert.equal((await wait({ onVote })).status, "APPROVED");
  assert.deepEqual(heard, []);
  assert.ok(calls.every(({ tag }) => tag === null));
});

test("a wait without onVote sends no entity tag, and asks as it always did", async (t) => {
  const { wait, calls } = clientOf(t, [
    told('"a"', "PENDING", approvalsOf([ann])),
    told('"b"', "APPROVED", approvalsOf([ann, ben])),
  ]);
  await wait({});
  const paths = ["GET /v1/requests/req_1?wait=0", "GET /v1/requests/req_1?wait=50"];
  assert.deepEqual(
    calls,
    paths.map((path) => ({ path, tag: null })),
  );
});

test("an onVote that is no function is refused before anybody is asked", async (t) => {
  const { client } = clientOf(t, []);
  const input = { summary: "Pay", notify: "ann@example.com" };
  const options = { onVote: "log" as never };
  await assert.rejects(client.requestApproval(input, options), /onVote must be a function/);
  const refund = client.requireApproval(
    () => {},
    () => input,
  );
  await assert.rejects(refund({}, options), /onVote must be a function/);
});

test("a reminder within the hour is refused at once, and other refusals are retried", async (t) => {
  const problem = (status: number, code: string) => () =>
    Response.json(
      { error: { code, message: "Not now" } },
      { status, headers: { "retry-after": "1" } },
    );
  const recent = clientOf(t, [problem(429, "reminded_recently")]);
  await assert.rejects(recent.client.requests.remind("req_1"), {
    status: 429,
    code: "reminded_recently",
  });
  t.mock.timers.reset();
  const { client, calls } = clientOf(t, [problem(429, "rate_limited"), told(null, "PENDING")]);
  const reminding = client.requests.remind("req_1");
  while (calls.length < 2) {
    t.mock.timers.tick(2_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await reminding).status, "PENDING");
  assert.equal(calls[1]?.path, "POST /v1/requests/req_1/remind");
});

const asked = {
  summary: "Pay 40000",
  approverEmail: null,
  approverGroup: { key: "finance", name: "Finance" },
  agentName: null,
};
const twoAndCfo = {
  stage: 1,
  revision: 1,
  stages: [
    { notify: "group:finance", required: 2, votes: [] },
    { notify: "cfo@example.com", required: 1, votes: [] },
  ],
};
const question: CreateRequest = {
  summary: "Pay 40000",
  notify: "group:finance",
  quorum: 2,
  then: [{ notify: "cfo@example.com" }],
  requestedBy: "eve@example.com",
};

test("an approval counts for code only if it asked as many people, in these stages, for the same person, and with such signatures", () => {
  const full = { ...asked, requestedBy: "eve@example.com", approvals: twoAndCfo };
  const [first, second] = twoAndCfo.stages;
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(isAskedBy(full, () => question));
  const { requestedBy: _, ...withoutRequester } = full;
  const { approvals: __, ...plain } = full;
  for (const other of [
    plain,
    withoutRequester,
    { ...full, requestedBy: "ben@example.com" },
    { ...full, approvals: { ...twoAndCfo, stages: [first] } },
    { ...full, approvals: { ...twoAndCfo, stages: [{ ...first, required: 1 }, second] } },
    {
      ...full,
      approvals: { ...twoAndCfo, stages: [first, { ...second, notify: "eve@example.com" }] },
    },
  ]) {
    assert.equal(
      isAskedBy(other, () => question),
      false,
    );
  }
  const one = { summary: "Pay 40000", notify: "group:finance" };
  const signed = { ...one, requireSignature: true, audience: ["ledger"] };
  const proven = { ...asked, requireSignature: true, audience: ["ledger"] };
  assert.ok(isAskedBy(proven, () => signed));
  for (const other of [
    asked,
    { ...proven, requireSignature: false },
    { ...asked, requireSignature: true },
    { ...proven, audience: ["other"] },
    { ...proven, audience: ["ledger", "other"] },
  ]) {
    assert.equal(
      isAskedBy(other, () => signed),
      false,
    );
  }
  assert.ok(isAskedBy(asked, () => ({ ...one, requireSignature: false, audience: null })));
  assert.ok(isAskedBy({ ...asked, requireSignature: false }, () => one));
  assert.ok(isAskedBy(asked, () => one));
  // An empty list and null are as if they were not given.
  assert.ok(isAskedBy(asked, () => ({ ...one, quorum: null, then: [], escalate: [] })));
  assert.equal(
    isAskedBy({ ...asked, approvals: twoAndCfo }, () => one),
    false,
  );
});
