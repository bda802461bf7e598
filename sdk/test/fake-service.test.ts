// The testing kit as an agent's own tests use it: the real client on a service in memory, in milliseconds.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApprovalExpiredError,
  ApprovalRejectedError,
  Countersign,
  constructEvent,
  type RecordedVote,
  WaitTimeoutError,
} from "../src/index.ts";
import { FakeService } from "../src/testing/fake-service.ts";

type Refund = { orderId: number; amount: number };

/** An agent under test: what it paid, and the way to make it pay. */
function makeAgent(service: FakeService) {
  const paid: Refund[] = [];
  const countersign = new Countersign(service.options);
  const refund = countersign.requireApproval(
    async (payload: Refund) => void paid.push(payload),
    ({ orderId }) => ({ summary: `Refund order ${orderId}`, notify: "ann@example.com" }),
  );
  return { countersign, refund, paid };
}

const refundOf49 = { orderId: 1042, amount: 49 };

test("a test approves with an edit, and the agent pays the edit", async () => {
  const service = new FakeService();
  const { refund, paid } = makeAgent(service);
  const done = refund(refundOf49);
  const { id, summary, status } = await service.nextRequest();
  assert.deepEqual([summary, status], ["Refund order 1042", "PENDING"]);
  service.approve(id, { edit: { orderId: 1042, amount: 45 }, note: "less" });
  await done;
  assert.deepEqual(paid, [{ orderId: 1042, amount: 45 }]);
  const { resolvedByEmail, resolutionNote } = service.request(id);
  assert.deepEqual([resolvedByEmail, resolutionNote], ["ann@example.com", "less"]);
});

test("a rejection, an expiry and a wait that is given up are told apart", async () => {
  const service = new FakeService();
  const { refund, countersign, paid } = makeAgent(service);
  const rejected = refund(refundOf49);
  service.reject((await service.nextRequest()).id, { note: "no" });
  await assert.rejects(rejected, ApprovalRejectedError);
  const expired = refund(refundOf49);
  await service.nextRequest();
  service.advance({ minutes: 24 * 60 });
  await assert.rejects(expired, ApprovalExpiredError);
  const { id } = await countersign.requests.create({ summary: "a", notify: "a@b.c" });
  await assert.rejects(
    countersign.requests.waitForDecision(id, { timeoutMs: 5 }),
    WaitTimeoutError,
  );
  assert.deepEqual(paid, []);
});

test("the clock moves only when it is told to, and takes exactly the requests whose time is over", async () => {
  const service = new FakeService({ now: new Date("2026-01-31T12:00:00Z"), expiryMinutes: 60 });
  const { countersign } = makeAgent(service);
  const ask = (ttlMinutes: number | null) =>
    countersign.requests.create({ summary: "a", notify: "a@b.c", ttlMinutes });
  const [short, long] = [await ask(5), await ask(null)];
  assert.equal(short.expiresAt, "2026-01-31T12:05:00.000Z");
  assert.equal(long.expiresAt, "2026-01-31T13:00:00.000Z");
  service.advance({ minutes: 5 });
  assert.equal(service.now.toISOString(), "2026-01-31T12:05:00.000Z");
  const statuses = service.requests.map(({ status, resolvedAt }) => [status, resolvedAt]);
  assert.deepEqual(statuses, [
    ["EXPIRED", short.expiresAt],
    ["PENDING", null],
  ]);
  assert.throws(() => service.advance({ seconds: -1 }), /forward only/);
});

test("a callback decides each request as it is asked", async () => {
  const service = new FakeService({
    onRequest: ({ id, payload }, fake) =>
      (payload as Refund).amount < 50 ? fake.approve(id) : fake.reject(id),
  });
  const { refund, paid } = makeAgent(service);
  await refund(refundOf49);
  await assert.rejects(refund({ orderId: 7, amount: 50 }), ApprovalRejectedError);
  assert.deepEqual(paid, [refundOf49]);
});

test("webhooks verify, are tried three times, and may come twice, with one id", async () => {
  const events: string[] = [];
  const ids: (string | null)[] = [];
  const answers = [500, 503, 204];
  const service = new FakeService({
    onWebhook: async (request) => {
      ids.push(request.headers.get("x-service-delivery-id"));
      const event = await constructEvent(
        await request.text(),
        request.headers,
        service.webhookSecret,
      );
      events.push(`${event.event} ${event.data.status}`);
      const isFirst = event.event === "request.created";
      return new Response(null, { status: (isFirst ? answers.shift() : undefined) ?? 204 });
    },
  });
  const { countersign } = makeAgent(service);
  const { id } = await countersign.requests.create({ summary: "a", notify: "a@b.c" });
  service.advance({ minutes: 60 });
  service.approve(id);
  await service.delivered();
  const [created, approved] = service.webhooks;
  assert.ok(created !== undefined && approved !== undefined);
  assert.deepEqual([created.attempts, approved.attempts], [[500, 503, 204], [204]]);
  await service.redeliver(approved);
  await service.sendTestEvent();
  assert.deepEqual(events.sort(), [
    ...Array(2).fill("request.approved APPROVED"),
    ...Array(3).fill("request.created PENDING"),
    "webhook.test PENDING",
  ]);
  assert.equal(new Set(ids).size, 3);
  await assert.rejects(
    async () =>
      constructEvent(approved.body, (await approved.toRequest()).headers, "whsec_b3RoZXI="),
    { code: "signature_mismatch" },
  );
});

test("the outcome goes to the request's own address, too, signed with the callback secret", async () => {
  const called: { url: string; event: string; id: string }[] = [];
  const service = new FakeService({
    onCallback: async (request) => {
      const event = await constructEvent(
        await request.text(),
        request.headers,
        service.callbackSecret,
      );
      called.push({ url: request.url, event: event.event, id: event.data.id });
      return new Response(null, { status: called.length === 1 ? 500 : 204 });
    },
  });
  const { countersign } = makeAgent(service);
  const callbackUrl = "https://workflows.example/resume/77";
  const asked = { summary: "Refund order 1042", notify: "ann@example.com" };
  const request = await countersign.requests.create({ ...asked, callbackUrl });
  assert.equal("callbackUrl" in request, false);
  await countersign.requests.create(asked);
  assert.deepEqual(service.callbacks, []);
  service.reject(request.id);
  await service.delivered();
  const { id } = request;
  const once = { url: callbackUrl, event: "request.rejected", id };
  assert.deepEqual(called, [once, once]);
  assert.deepEqual(
    service.callbacks.map(({ event, attempts }) => [event, attempts]),
    [["request.rejected", [500, 204]]],
  );
});

test("a handler that acts before it redeems is caught: webhooks come twice at once, and again after a time-out", async () => {
  const handlers = ["careless", "careful"] as const;
  const kinds = [{ deliversTwice: true }, { webhookTimeoutMs: 5 }];
  for (const kind of kinds) {
    const done = { careless: 0, careful: 0 };
    for (const handler of handlers) {
      const { promise: isLate, resolve: end } = Promise.withResolvers<void>();
      const service = new FakeService({
        ...kind,
        onWebhook: async (request) => {
          const { headers } = request;
          const event = await constructEvent(await request.text(), headers, service.webhookSecret);
          if (event.event !== "request.approved") return new Response(null, { status: 204 });
          if (handler === "careless") done.careless += 1;
          else {
            const redeemed = await countersign.requests.redeem(event.data.id).catch(() => null);
            if (redeemed !== null) done.careful += 1;
          }
          if (!("deliversTwice" in kind)) await isLate;
          return new Response(null, { status: 204 });
        },
      });
      const { countersign } = makeAgent(service);
      const { id } = await countersign.requests.create({ summary: "a", notify: "a@b.c" });
      service.approve(id);
      await service.delivered();
      const approved = service.webhooks.find(({ event }) => event === "request.approved");
      const expected = "deliversTwice" in kind ? [204, 204] : [0, 0, 0];
      assert.deepEqual(approved?.attempts, expected);
      end();
    }
    assert.ok(done.careless > 1);
    assert.equal(done.careful, 1);
  }
});

test("webhooks are under way at once: one that waits for another does not hold it up", async () => {
  const { promise: isDecided, resolve: decided } = Promise.withResolvers<void>();
  const service = new FakeService({
    onWebhook: async (request) => {
      const isCreated = request.headers.get("x-service-event") === "request.created";
      if (isCreated) await isDecided;
      else decided();
      return new Response(null, { status: 204 });
    },
  });
  const { countersign } = makeAgent(service);
  const { id } = await countersign.requests.create({ summary: "a", notify: "a@b.c" });
  service.approve(id);
  await service.delivered();
  assert.deepEqual(
    service.webhooks.map(({ attempts }) => attempts),
    [[204], [204]],
  );
});

test("a test that decides wrongly reads the sentence of the review page", async () => {
  const service = new FakeService();
  const { countersign } = makeAgent(service);
  const { id } = await countersign.requests.create({ summary: "a", notify: "ann@example.com" });
  assert.throws(() => service.approve("req_1"), /no request with this id/);
  assert.throws(() => service.approve(id, { by: "eve@example.com" }), /eve@example\.com was not/);
  assert.throws(() => service.approve(id, { edit: null }), /edit: cannot be null/);
  assert.throws(() => service.approve(id, { editText: "{" }), /the edit is not JSON/);
  for (const a of [Number.NaN, new Date(Number.NaN)]) {
    assert.throws(() => service.approve(id, { edit: { a } }), { code: "inexact_payload" });
  }
  service.reject(id);
  assert.throws(() => service.approve(id), /was rejected by ann@example\.com/);
  assert.throws(() => service.expire(id), /was rejected/);
});

test("a caller who stops waiting is let go", async () => {
  const service = new FakeService();
  const { countersign } = makeAgent(service);
  const { id } = await countersign.requests.create({ summary: "a", notify: "a@b.c" });
  const stop = new AbortController();
  const waiting = countersign.requests.waitForDecision(id, { signal: stop.signal });
  stop.abort(new Error("stopped"));
  await assert.rejects(waiting, /stopped/);
});

test("a hundred approved actions take less time than one round of a person", async () => {
  const service = new FakeService({ onRequest: ({ id }, fake) => fake.approve(id) });
  const { refund, paid } = makeAgent(service);
  const orders = Array.from({ length: 100 }, (_, orderId) => ({ orderId, amount: 1 }));
  await Promise.all(orders.map((order) => refund(order)));
  assert.equal(paid.length, 100);
});

const finance = { key: "finance", name: "Finance", members: ["ann@x.example", "ben@x.example"] };

test("a test lets people vote one after the other, with an edit in between, and the agent hears of each", async () => {
  const service = new FakeService({ groups: [finance] });
  const countersign = new Countersign(service.options);
  const paid: number[] = [];
  const pay = countersign.requireApproval(
    async ({ amount }: { amount: number }) => void paid.push(amount),
    ({ amount }) => ({
      summary: `Pay ${amount}`,
      notify: "group:finance",
      quorum: 2,
      then: [{ notify: "cfo@x.example" }],
      requestedBy: "eve@x.example",
    }),
  );
  const heard: string[] = [];
  const onVote = ({ vote, stage }: RecordedVote) =>
    void heard.push(`${vote.email} on ${vote.revision} in ${stage}`);
  const done = pay({ amount: 40_000 }, { onVote });
  const { id } = await service.nextRequest();
  service.approve(id);
  assert.throws(() => service.approve(id, { by: "ann@x.example" }), /You have voted/);
  assert.throws(() => service.approve(id, { by: "cfo@x.example" }), /not asked .* just now/);
  assert.throws(() => service.approve(id, { by: "eve@x.example" }), /was not asked/);
  service.approve(id, { by: "BEN@x.example", edit: { amount: 39_000 } });
  const { approvals, status } = service.request(id);
  assert.deepEqual([status, approvals?.stage, approvals?.revision], ["PENDING", 1, 2]);
  service.approve(id);
  service.approve(id);
  await done;
  assert.deepEqual(paid, [39_000]);
  assert.equal(service.request(id).resolvedByEmail, "cfo@x.example");
  assert.deepEqual(heard, [
    "ann@x.example on 1 in 1",
    "ben@x.example on 2 in 1",
    "ann@x.example on 2 in 1",
    "cfo@x.example on 2 in 2",
  ]);
});

test("time asks more people, and never fewer than before must approve", async () => {
  const service = new FakeService({
    now: new Date("2026-11-18T08:00:00Z"),
    groups: [finance],
    webhookEvents: ["request.escalated"],
  });
  const { requests } = new Countersign(service.options);
  const { id } = await requests.create({
    summary: "Pay",
    notify: "ann@x.example",
    quorum: 2,
    escalate: [{ afterMinutes: 30, notify: "group:finance" }],
  });
  service.approve(id);
  service.advance({ minutes: 29 });
  assert.throws(() => service.approve(id, { by: "ben@x.example" }), /was not asked/);
  service.advance({ minutes: 1 });
  assert.deepEqual(
    service.webhooks.map(({ event }) => event),
    ["request.escalated"],
  );
  assert.equal(service.approve(id, { by: "ben@x.example" }).status, "APPROVED");
});

test("people are reminded once in an hour by the service's clock", async () => {
  const service = new FakeService({ now: new Date("2026-11-18T08:00:00Z") });
  const { requests } = new Countersign(service.options);
  const { id } = await requests.create({ summary: "a", notify: "ann@x.example" });
  assert.equal((await requests.remind(id)).status, "PENDING");
  service.advance({ minutes: 59 });
  await assert.rejects(requests.remind(id), { code: "reminded_recently", status: 429 });
  service.advance({ minutes: 1 });
  await requests.remind(id);
  service.approve(id);
  await assert.rejects(requests.remind(id), { code: "already_resolved" });
});

test("code that asks two people doesn't run what one has approved", async () => {
  const service = new FakeService({ groups: [finance] });
  const countersign = new Countersign(service.options);
  const paid: unknown[] = [];
  const question = { summary: "Pay", notify: "group:finance" };
  const pay = countersign.requireApproval(
    async (payload: object) => void paid.push(payload),
    () => ({ ...question, quorum: 2 }),
  );
  const forged = await countersign.requests.create({ ...question, payload: { amount: 1 } });
  service.approve(forged.id);
  await assert.rejects(pay.resume(forged.id), { code: "another_action" });
  assert.deepEqual(paid, []);
  const asked = await pay.ask({ amount: 1 });
  service.approve(asked.id);
  service.approve(asked.id);
  await pay.resume(asked.id);
  assert.deepEqual(paid, [{ amount: 1 }]);
});
