import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { Countersign, CountersignError } from "../src/index.ts";
import { serve, type Trouble } from "./served.ts";

const served = await serve();
after(() => served.stop());

const refund = {
  summary: "Refund order 1042",
  notify: "ann@example.com",
  payload: { orderId: 1042, amount: 49 },
};

async function failureOf(work: Promise<unknown>): Promise<CountersignError> {
  const failure = await work.then(
    () => null,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof CountersignError, `${failure}`);
  return failure;
}

async function listed(client: Countersign) {
  const found = [];
  for await (const request of client.requests.list()) found.push(request);
  return found;
}

test("a request is created, read, listed and cancelled with the names of the contract", async () => {
  const client = await served.client();
  const created = await client.requests.create({ ...refund, metadata: { ticket: 7 } });
  assert.equal(created.status, "PENDING");
  assert.deepEqual(created.payload, refund.payload);
  assert.deepEqual(await client.requests.get(created.id), created);
  assert.deepEqual(await listed(client), [created]);
  const cancelled = await client.requests.cancel(created.id);
  assert.equal(cancelled.status, "CANCELLED");
});

for (const trouble of ["lose the answer", "refuse", "say 503"] satisfies Trouble[]) {
  test(`a create whose first try meets "${trouble}" makes one request`, async () => {
    const client = await served.client();
    served.troubles.push(trouble);
    const created = await client.requests.create(refund);
    assert.deepEqual(
      (await listed(client)).map(({ id }) => id),
      [created.id],
    );
  });
}

test("a cancel whose answer was lost is no error, and one that came too late is", async () => {
  const client = await served.client();
  const { id } = await client.requests.create(refund);
  served.troubles.push("lose the answer");
  assert.equal((await client.requests.cancel(id)).status, "CANCELLED");
  const other = await client.requests.create(refund);
  await served.approve(other.id);
  const { code, status } = await failureOf(client.requests.cancel(other.id));
  assert.deepEqual({ code, status }, { code: "already_resolved", status: 409 });
});

test("two processes that ask with the same idempotency key have one request", async () => {
  const client = await served.client();
  const options = { idempotencyKey: "refund-1042" };
  const [first, second] = await Promise.all([
    client.requests.create(refund, options),
    client.requests.create(refund, options),
  ]);
  assert.equal(first.id, second.id);
});

test("a value that is no idempotency key is refused, and never becomes a key that all share", async () => {
  const client = await served.client();
  for (const key of [null, false, 0, "", "a\r\nb", "ä", "x".repeat(256)]) {
    const options = { idempotencyKey: key as string };
    await assert.rejects(client.requests.create(refund, options), /idempotencyKey must be a text/);
  }
  assert.deepEqual(await listed(client), []);
});

test("every page of a list is walked, and a filter is passed on", async () => {
  const client = await served.client();
  const names = Array.from({ length: 103 }, (_, at) => `agent-${at % 2}`);
  for (const agentName of names) await client.requests.create({ ...refund, agentName });
  assert.equal((await listed(client)).length, 103);
  const odd = [];
  const createdAfter = new Date(Date.now() - 600_000);
  for await (const { agentName } of client.requests.list({ agentName: "agent-1", createdAfter })) {
    odd.push(agentName);
  }
  assert.deepEqual(odd, new Array(51).fill("agent-1"));
  const page = await client.requests.listPage({ status: "PENDING" }, { limit: 2 });
  assert.equal(page.data.length, 2);
  assert.equal(page.hasMore, true);
});

test("a refusal carries status, code, the service's words and the id of the call", async () => {
  const client = await served.client();
  const failure = await failureOf(client.requests.create({ ...refund, summary: "" }));
  assert.equal(failure.name, "CountersignError");
  assert.equal(failure.status, 400);
  assert.equal(failure.code, "validation_error");
  assert.match(failure.message, /summary/);
  assert.match(failure.requestId ?? "", /^[0-9a-f-]{36}$/);
  assert.equal((await failureOf(client.requests.get("req_unknown"))).code, "not_found");
});

test("a refusal is not tried again, and a call that keeps failing ends", async () => {
  const client = await served.client({ retriesMax: 1 });
  const before = served.calls.length;
  await failureOf(client.requests.get("req_unknown"));
  assert.equal(served.calls.length - before, 1);
  served.troubles.push("say 503", "say 503");
  assert.equal((await failureOf(client.requests.get("req_unknown"))).status, 503);
  assert.equal(served.calls.length - before, 3);
});

test("an unknown key, a wrong address and an answer of something else say what to do", async () => {
  const stranger = new Countersign({ apiKey: "cs_unknown", baseUrl: served.url });
  assert.equal((await failureOf(stranger.requests.get("req_1"))).code, "unauthorized");
  const nobody = new Countersign({ apiKey: "k", baseUrl: "http://127.0.0.1:1", retriesMax: 0 });
  const away = await failureOf(nobody.requests.get("req_1"));
  assert.equal(away.code, "connection_failed");
  assert.match(away.message, /127\.0\.0\.1:1 cannot be reached.*baseUrl/);
  const client = await served.client();
  served.troubles.push("say HTML");
  assert.equal((await failureOf(client.requests.get("req_1"))).code, "not_countersign");
  served.troubles.push("redirect");
  assert.match(
    (await failureOf(client.requests.get("req_1"))).message,
    /redirects to https:\/\/elsewhere\.example/,
  );
});

test("a call that gets no answer ends at its time, or when its caller gives up", async () => {
  const client = await served.client({ timeoutMs: 50, retriesMax: 0 });
  served.troubles.push("hang");
  assert.match((await failureOf(client.requests.get("req_1"))).message, /within 50 ms/);
  const patient = await served.client();
  const controller = new AbortController();
  served.troubles.push("hang");
  const call = patient.requests.get("req_1", { signal: controller.signal });
  controller.abort(new Error("no longer wanted"));
  await assert.rejects(call, /no longer wanted/);
});

test("a time that no timer can hold is no time that is over at once", async () => {
  const client = await served.client({ timeoutMs: 2 ** 40 });
  assert.equal((await client.requests.create(refund)).status, "PENDING");
});

test("key and address come from the environment when they are not given", async () => {
  const { key } = await makeWorkspace(served.service.db);
  process.env.COUNTERSIGN_API_KEY = key;
  process.env.COUNTERSIGN_BASE_URL = `${served.url}/`;
  try {
    assert.equal((await new Countersign().requests.create(refund)).status, "PENDING");
  } finally {
    delete process.env.COUNTERSIGN_API_KEY;
    delete process.env.COUNTERSIGN_BASE_URL;
  }
});

test("a client without a key, or with nonsense for an address, is refused when it is made", () => {
  assert.throws(() => new Countersign({ baseUrl: served.url }), /COUNTERSIGN_API_KEY/);
  assert.throws(() => new Countersign({ apiKey: "cs_a b" }), /copied whole/);
  for (const baseUrl of [
    "localhost:3000",
    "ftp://a.example",
    "http://a.example/?b",
    "http://a.example/#b",
    "http://name:secret@a.example",
    "cs_secret",
  ]) {
    assert.throws(
      () => new Countersign({ apiKey: "k", baseUrl }),
      ({ message }: Error) => /baseUrl must be/.test(message) && !message.includes("secret"),
    );
  }
  for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
    const options = { apiKey: "k", baseUrl: served.url };
    assert.throws(() => new Countersign({ ...options, timeoutMs: wrong }), /timeoutMs must be/);
    assert.throws(() => new Countersign({ ...options, retriesMax: wrong }), /retriesMax must be/);
  }
});

test("an id cannot lead a call elsewhere", async () => {
  const client = await served.client();
  for (const id of ["../health", "a/cancel", "a?wait=1", "%2e%2e/healthz", "a\ud800"]) {
    assert.equal((await failureOf(client.requests.get(id))).code, "not_found", id);
  }
  await assert.rejects(client.requests.get(""), /the id of a request/);
});

test("numbers that JSON.parse would round come through with a parser that keeps them", async () => {
  const exact = /"amount":\s*(\d+)/;
  const client = await served.client({
    // Stands for a library such as lossless-json.
    parse: (text) => JSON.parse(text.replaceAll(/"amount":\s*(\d{16,})/g, '"amount":"$1"')),
    stringify: (value) =>
      JSON.stringify(value, (_, each) =>
        typeof each === "bigint" ? `#${each}#` : each,
      ).replaceAll(/"#(\d+)#"/g, "$1"),
  });
  const { id } = await client.requests.create({
    ...refund,
    payload: { amount: 9007199254740993n },
  });
  const { text } = await served.service.call("GET", `/v1/requests/${id}`, {
    key: await served.keyOf(id),
  });
  assert.equal(exact.exec(text)?.[1], "9007199254740993");
  const read = await client.requests.get<{ amount: string }>(id);
  assert.equal(read.payload.amount, "9007199254740993");
});

test("a time limit may have a fraction, and is a number", async () => {
  const client = await served.client({ timeoutMs: 20_000 / 3 });
  assert.equal((await failureOf(client.requests.get("req_unknown"))).code, "not_found");
  for (const timeoutMs of ["200", Number.NaN, -1] as number[]) {
    assert.throws(
      () => new Countersign({ apiKey: "key", timeoutMs }),
      /timeoutMs must be a number/,
    );
  }
});

test("a wait whose time limit is a text is refused before anybody is asked", async () => {
  const client = await served.client();
  const options = { timeoutMs: "3600" as unknown as number };
  const refusal = { name: "TypeError", message: /timeoutMs must be a number of milliseconds/ };
  await assert.rejects(client.requestApproval(refund, options), refusal);
  const gated = client.requireApproval(
    () => assert.fail("it ran"),
    () => refund,
  );
  await assert.rejects(gated(refund.payload, options), refusal);
  assert.deepEqual(await listed(client), []);
});
