import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CountersignError, WaitTimeoutError } from "../src/index.ts";
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

test("a wait for no number of milliseconds is refused", async () => {
  const client = await served.client();
  const wait = client.requests.waitForDecision("req_1", { timeoutMs: Number.NaN });
  await assert.rejects(wait, /timeoutMs must be a number/);
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
      if (askedAt.length === 4) await served.approve(id);
      return fetch(url.replace(/wait=\d+/, "wait=0"), {
        ...init,
        headers: { ...(init.headers as object), authorization: `Bearer ${key}` },
      });
    },
  });
  assert.equal((await busy.requests.waitForDecision(id)).status, "APPROVED");
  const pauses = askedAt.slice(1).map((at, n) => at - (askedAt[n] ?? 0));
  assert.equal(pauses.length, 3);
  assert.ok(Math.min(...pauses) > 50, `asked again after ${pauses} ms`);
});
