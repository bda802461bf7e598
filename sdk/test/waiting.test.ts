import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openDatabase } from "../../server/src/database/database.ts";
import { makeTestDatabase } from "../../server/test/test-database.ts";
import { environmentOn, startProgram, untilWritten } from "../../server/test/test-program.ts";
import { decide, findReviewer } from "../../server/test/test-review.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { Countersign, CountersignError, WaitTimeoutError } from "../src/index.ts";
import { serve } from "./served.ts";

const served = await serve();
after(() => served.stop());

const refund = { summary: "Refund order 1042", notify: "ann@example.com", payload: { amount: 49 } };

/** Resolves when a call to wait for this request has come. */
async function isWaitedFor(id: string): Promise<void> {
  const path = `GET /v1/requests/${id}?wait=`;
  while (!served.calls.some((call) => call.startsWith(path))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("asking and waiting resolves to the decided request, whatever was decided", async () => {
  const client = await served.client();
  const approving = client.requestApproval(refund, { idempotencyKey: "a" });
  const { id } = await client.requests.create(refund, { idempotencyKey: "a" });
  await isWaitedFor(id);
  await served.approve(id, '{"amount": 12.50}');
  const approved = await approving;
  assert.equal(approved.status, "APPROVED");
  assert.deepEqual(approved.effectivePayload, { amount: 12.5 });
  const other = await client.requests.create(refund);
  await served.reject(other.id, "too much");
  const rejected = await client.requests.waitForDecision(other.id);
  assert.equal(rejected.status, "REJECTED");
  assert.equal(rejected.resolutionNote, "too much");
});

test("a wait that takes too long is a WaitTimeoutError, never a rejection, and can go on", async () => {
  const client = await served.client();
  const { id } = await client.requests.create(refund);
  for (const timeoutMs of [0, 20, 1_100]) {
    const failure = await client.requests
      .waitForDecision(id, { timeoutMs })
      .catch((error) => error);
    assert.ok(failure instanceof WaitTimeoutError, `${failure}`);
    assert.equal(failure.approvalId, id);
    assert.match(failure.message, new RegExp(`waitForDecision\\("${id}"\\)`));
  }
  assert.equal((await client.requests.get(id)).status, "PENDING");
  await served.approve(id);
  assert.equal((await client.requests.waitForDecision(id)).status, "APPROVED");
});

test("a wait outlives lost connections, answers of a proxy, and a service that is away", async () => {
  const client = await served.client();
  const { id } = await client.requests.create(refund);
  served.troubles.push("say 503", "refuse", "say 503", "lose the answer");
  const waiting = client.requests.waitForDecision(id);
  await isWaitedFor(id);
  await served.approve(id);
  assert.equal((await waiting).status, "APPROVED");
});

test("each vote wakes a caller who wants to know, once and in order, over lost answers", async () => {
  const client = await served.client();
  const stages = { then: [{ notify: "ben@example.com" }, { notify: "cat@example.com" }] };
  const { id } = await client.requests.create({ ...refund, ...stages });
  const heard: string[] = [];
  const { promise: isBen, resolve: benVoted } = Promise.withResolvers<void>();
  const waiting = client.requests.waitForDecision(id, {
    onVote: ({ vote, stage, request }) => {
      heard.push(`${vote.email} ${stage} ${request.approvals?.stage}`);
      if (stage === 2) benVoted();
    },
  });
  await isWaitedFor(id);
  served.troubles.push("lose the answer", "say 503");
  for (const email of ["ann@example.com", "ben@example.com"]) await vote(id, email);
  // Told while nobody has decided: the answer came by the vote.
  await isBen;
  await vote(id, "cat@example.com");
  assert.equal((await waiting).resolvedByEmail, "cat@example.com");
  assert.deepEqual(
    heard.map((each) => each.slice(0, 17)),
    ["ann@example.com 1", "ben@example.com 2", "cat@example.com 3"],
  );
});

async function vote(id: string, email: string): Promise<void> {
  const { token } = await findReviewer(served.service.db, id, { email });
  const { status, text } = await decide(served.service.app, token, { verdict: "approve" });
  assert.equal(status, 200, text);
}

test("a wait for no number of milliseconds is refused", async () => {
  const client = await served.client();
  for (const timeoutMs of [Number.NaN, "60000", null] as number[]) {
    const wait = client.requests.waitForDecision("req_1", { timeoutMs });
    await assert.rejects(wait, /timeoutMs must be a number/);
  }
});

test("a service that is killed and comes back finds everybody still waiting", async (t) => {
  const database = await makeTestDatabase();
  t.after(() => database.drop());
  const start = async (port: string) => {
    const program = startProgram({ ...environmentOn(database.url), PORT: port });
    program.ended.catch(() => {});
    t.after(() => program.child.kill("SIGKILL"));
    const [, address = ""] = await untilWritten(program, /"address":"(http:[^"]+)"/);
    return { program, address };
  };
  const first = await start("0");
  const db = openDatabase({
    connection: database.connection,
    connectionsMax: 2,
    onIdleFault: () => {},
  });
  const { key } = await makeWorkspace(db);
  await db.end();
  const client = new Countersign({ apiKey: key, baseUrl: first.address, retriesMax: 1 });
  const requests = await Promise.all(
    Array.from({ length: 5 }, () => client.requests.create(refund)),
  );
  // One that has asked before, and one that only waits, as after a restart of its own.
  const other = new Countersign({ apiKey: key, baseUrl: first.address, retriesMax: 0 });
  const waiting = requests.flatMap(({ id }) =>
    [client, other].map((each) => each.requests.waitForDecision(id)),
  );
  await untilWritten(first.program, /"method":"GET"/);
  first.program.child.kill("SIGKILL");
  await first.program.ended;
  await start(new URL(first.address).port);
  await Promise.all(requests.map(({ id }) => client.requests.cancel(id)));
  for (const { status } of await Promise.all(waiting)) assert.equal(status, "CANCELLED");
});

test("a thousand waits of one caller all learn their decision", async () => {
  const limited = await serve({ rateLimit: { perSecond: 200, burst: 100 } });
  after(() => limited.stop());
  const client = await limited.client();
  const requests = await Promise.all(
    Array.from({ length: 10 }, () => client.requests.create(refund)),
  );
  const waiting = Array.from({ length: 1_000 }, (_, at) =>
    client.requests.waitForDecision(requests[at % 10]?.id ?? ""),
  );
  for (const { id } of requests) await limited.approve(id);
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set(["APPROVED"]));
});

test("a wait for a request that is not there ends at once", async () => {
  const client = await served.client();
  const failure = await client.requests.waitForDecision("req_unknown").catch((error) => error);
  assert.ok(failure instanceof CountersignError);
  assert.equal(failure.code, "not_found");
});

test("a wait at an address where nobody answers ends after the retries", async () => {
  const client = await served.client({ baseUrl: "http://127.0.0.1:1", retriesMax: 1 });
  const failure = await client.requests.waitForDecision("req_1").catch((error) => error);
  assert.equal(failure.code, "connection_failed");
});

test("a waiting caller can give up, while the service holds the answer and between two tries", async () => {
  const client = await served.client();
  const { id } = await client.requests.create(refund);
  const held = new AbortController();
  const waiting = client.requests.waitForDecision(id, { signal: held.signal });
  await isWaitedFor(id);
  held.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(client.requests.waitForDecision(id, { signal: held.signal }), /enough/);
  const between = AbortSignal.timeout(30);
  served.troubles.push("say 503", "say 503");
  await assert.rejects(client.requests.waitForDecision(id, { signal: between }), {
    name: "TimeoutError",
  });
});

test("a request whose time has run out resolves as expired", async () => {
  const client = await served.client();
  const { id } = await client.requests.create(refund);
  await served.service.db.query(
    "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
    [id],
  );
  assert.equal((await client.requests.waitForDecision(id)).status, "EXPIRED");
});

test("a service that answers early is not asked without pause", async () => {
  const client = await served.client();
  const { id } = await client.requests.create(refund);
  const key = await served.keyOf(id);
  const askedAt: number[] = [];
  const busy = await served.client({
    fetch: async (url, init) => {
      askedAt.push(performance.now());
      if (askedAt.length === 5) await served.approve(id);
      return fetch(url.replace(/wait=\d+/, "wait=0"), {
        ...init,
        headers: { ...(init.headers as object), authorization: `Bearer ${key}` },
      });
    },
  });
  assert.equal((await busy.requests.waitForDecision(id)).status, "APPROVED");
  // The first call of a client asks for an answer at once.
  const pauses = askedAt.slice(2).map((at, n) => at - (askedAt[n + 1] ?? 0));
  assert.equal(pauses.length, 3);
  assert.ok(Math.min(...pauses) > 50, `asked again after ${pauses} ms`);
});
