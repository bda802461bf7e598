// An approved action runs at most once: whichever process, however often, and whatever gets lost on the way.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AlreadyRedeemedError, Countersign, type StandardSchema } from "../src/index.ts";
import { serve } from "./served.ts";

const served = await serve();
after(() => served.stop());

type Refund = { orderId: number; amount: number };

async function approved(client: Countersign, edit?: string) {
  const { id } = await client.requests.create({
    summary: "Refund order 1042",
    notify: "ann@example.com",
    payload: { orderId: 1042, amount: 49 },
  });
  await served.approve(id, edit);
  return id;
}

function gatedRefund(client: Countersign, schema?: StandardSchema<Refund>) {
  const paid: Refund[] = [];
  const refund = client.requireApproval(
    async (payload: Refund, request) => {
      paid.push(payload);
      return request;
    },
    ({ orderId }) => ({ summary: `Refund order ${orderId}`, notify: "ann@example.com" }),
    schema === undefined ? {} : { schema },
  );
  return { refund, paid };
}

test("redeem gives the request with when and by which key; the second caller learns both", async () => {
  const client = await served.client();
  const id = await approved(client, '{"orderId": 1042, "amount": 12.5}');
  const { effectivePayload, redeemedAt, redeemedBy } = await client.requests.redeem<Refund>(id);
  assert.deepEqual(effectivePayload, { orderId: 1042, amount: 12.5 });
  assert.equal(redeemedBy.name, "Test key");
  const late = await client.requests.redeem(id).catch((error) => error);
  assert.ok(late instanceof AlreadyRedeemedError);
  assert.deepEqual([late.redeemedAt, late.redeemedBy], [redeemedAt, redeemedBy]);
  assert.deepEqual([late.code, late.status], ["already_redeemed", 409]);
  assert.match(late.message, /Do not run the action again/);
});

test("a caller whose answer was lost gets it on the next try; a key of its own serves another process", async () => {
  const client = await served.client();
  const id = await approved(client);
  const before = served.calls.length;
  served.losesRedeem = true;
  const { status } = await client.requests.redeem(id, { idempotencyKey: "run-1" });
  assert.equal(status, "APPROVED");
  const tries = served.calls.slice(before).filter((call) => call.endsWith("/redeem"));
  assert.equal(tries.length, 2);
  served.cutsRedeem = true;
  assert.equal((await client.requests.redeem(id, { idempotencyKey: "run-1" })).id, id);
  await assert.rejects(client.requests.redeem(id, { idempotencyKey: "run-2" }), {
    code: "already_redeemed",
  });
});

test("what nobody approved can't be redeemed", async () => {
  const client = await served.client();
  const { id } = await client.requests.create({ summary: "Pay", notify: "ann@example.com" });
  await assert.rejects(client.requests.redeem(id), { code: "not_approved", status: 409 });
});

test("of many resumes at once one runs the action, and the others say who may", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const { id } = await refund.ask({ orderId: 1042, amount: 49 });
  const all = Array.from({ length: 10 }, () => refund.resume(id).catch((error) => error));
  await served.approve(id, '{"orderId": 1042, "amount": 12.5}');
  const ended = await Promise.all(all);
  assert.deepEqual(paid, [{ orderId: 1042, amount: 12.5 }]);
  const losers = ended.filter((end) => end instanceof AlreadyRedeemedError);
  assert.equal(losers.length, 9);
  await assert.rejects(refund.resume(id), { code: "already_redeemed" });
  assert.equal(paid.length, 1);
});

test("the same idempotencyKey asked again runs nothing again", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const asked = { orderId: 7, amount: 1 };
  const { id } = await refund.ask(asked, { idempotencyKey: "order-7" });
  await served.approve(id);
  const { redeemedAt } = (await refund(asked, { idempotencyKey: "order-7" })) as {
    redeemedAt?: string;
  };
  assert.ok(redeemedAt !== undefined);
  await assert.rejects(refund(asked, { idempotencyKey: "order-7" }), AlreadyRedeemedError);
  assert.equal(paid.length, 1);
});

test("a process that is killed between redeeming and running leaves nothing that runs twice", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const { id } = await refund.ask({ orderId: 1042, amount: 49 });
  await served.approve(id);
  await client.requests.redeem(id);
  await assert.rejects(refund.resume(id), AlreadyRedeemedError);
  assert.deepEqual(paid, []);
});

test("an edit that JSON.parse would round does not run, and is not used up", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const { id } = await refund.ask({ orderId: 1042, amount: 49 });
  await served.approve(id, '{"orderId": 1042, "amount": 9007199254740993}');
  await assert.rejects(refund.resume(id), {
    name: "InexactPayloadError",
    message: /9007199254740993.*9007199254740992/,
  });
  assert.deepEqual(paid, []);
  const exact = new (client.constructor as typeof Countersign)({
    apiKey: await served.keyOf(id),
    baseUrl: served.url,
    parse: (text) => JSON.parse(text.replaceAll(/"amount":\s*(\d{16,})/g, '"amount":"$1"')),
  });
  const { effectivePayload } = await exact.requests.redeem<{ amount: string }>(id);
  assert.equal(effectivePayload.amount, "9007199254740993");
});

test("a payload that would be rounded is refused before anybody is asked", async () => {
  const client = await served.client();
  const { refund } = gatedRefund(client);
  const before = served.calls.length;
  for (const amount of [2 ** 53, Number.NaN]) {
    await assert.rejects(refund({ orderId: 1, amount }), { code: "inexact_payload" });
  }
  const asked = { summary: "Pay", notify: "ann@example.com", payload: { amount: 2 ** 60 } };
  await assert.rejects(client.requests.create(asked), { code: "inexact_payload" });
  assert.equal(served.calls.length, before);
});

test("only Countersign's own answer counts as redeemed, created, read or cancelled", async () => {
  const id = await approved(await served.client());
  const apiKey = await served.keyOf(id);
  const told = { id, status: "APPROVED", effectivePayload: {}, redeemedAt: "2026-01-01T00:00:00Z" };
  const redeemedBy = { id: "key_1", name: "Key" };
  const lies = [
    {},
    [],
    "ok",
    null,
    { ...told, redeemedBy: null },
    { ...told, redeemedBy, redeemedAt: null },
    { ...told, redeemedBy, id: "req_other" },
    { ...told, redeemedBy, status: "REJECTED" },
  ];
  for (const lie of lies) {
    const between = new Countersign({
      apiKey,
      baseUrl: served.url,
      fetch: (url, init) =>
        init.method === "POST" ? Promise.resolve(Response.json(lie)) : fetch(url, init),
    });
    const { refund, paid } = gatedRefund(between);
    await assert.rejects(refund.resume(id), { code: "not_countersign" }, JSON.stringify(lie));
    await assert.rejects(between.requests.cancel(id), { code: "not_countersign" });
    assert.deepEqual(paid, []);
  }
  const liar = new Countersign({
    apiKey,
    baseUrl: served.url,
    fetch: async () => Response.json({ ok: true }),
  });
  const { requests } = liar;
  const asked = { summary: "Pay", notify: "ann@example.com" };
  const calls = [
    requests.create(asked),
    requests.get(id),
    requests.redeem(id),
    requests.listPage(),
  ];
  for (const call of [...calls, requests.defaultApprover()]) {
    await assert.rejects(call as Promise<unknown>, { code: "not_countersign" });
  }
});

test("an abort that comes while the redeem is under way does not use up the approval for nothing", async () => {
  const id = await approved(await served.client());
  const stopping = new AbortController();
  const client = new Countersign({
    apiKey: await served.keyOf(id),
    baseUrl: served.url,
    fetch: (url, init) => {
      if (url.endsWith("/redeem")) stopping.abort();
      return fetch(url, init);
    },
  });
  const { refund, paid } = gatedRefund(client);
  await refund.resume(id, { signal: stopping.signal });
  assert.equal(paid.length, 1);
  const another = await approved(client);
  await assert.rejects(client.requests.redeem(another, { signal: stopping.signal }), {
    name: "AbortError",
  });
  await client.requests.redeem(another);
});

/** By hand, as any library's would be. */
const refundSchema: StandardSchema<Refund> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: async (value) => {
      const { orderId, amount } = value as Partial<Refund>;
      if (orderId === undefined || typeof amount !== "number") {
        return { issues: [{ message: "must be a number", path: ["amount"] }] };
      }
      return { value: { amount, orderId } };
    },
  },
};

test("an edit that the Standard Schema refuses does not run, is not used up, and its reason is told", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client, refundSchema);
  const edits: [string, RegExp][] = [
    ['{"orderId": 1042, "amount": "much"}', /amount: must be a number/],
    ['{"orderId": 1042, "amount": 1, "to": "mallory"}', /makes something else of it/],
  ];
  for (const [edit, message] of edits) {
    const { id } = await refund.ask({ orderId: 1042, amount: 49 });
    await served.approve(id, edit);
    await assert.rejects(refund.resume(id), { code: "invalid_payload", message });
    await client.requests.redeem(id);
  }
  const { id } = await refund.ask({ orderId: 1042, amount: 49 });
  await served.approve(id, '{"orderId": 1042, "amount": 5}');
  await refund.resume(id);
  assert.deepEqual(paid, [{ orderId: 1042, amount: 5 }]);
});

test("a schema that changes what it is given, at once or later, runs nothing that nobody approved", async () => {
  const client = await served.client();
  let checks = 0;
  const schemaOf = (change: (value: Refund) => Refund): StandardSchema<Refund> => ({
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        checks += 1;
        // The first check is before anybody is asked.
        return { value: checks % 2 === 1 ? (value as Refund) : change(value as Refund) };
      },
    },
  });
  const rounding = gatedRefund(
    client,
    schemaOf((value) => Object.assign(value, { amount: Math.round(value.amount) })),
  );
  const { id } = await rounding.refund.ask({ orderId: 1, amount: 1.4 });
  await served.approve(id);
  await assert.rejects(rounding.refund.resume(id), { code: "invalid_payload" });
  assert.deepEqual(rounding.paid, []);
  await client.requests.redeem(id);
  const later = gatedRefund(
    client,
    schemaOf((value) => {
      setImmediate(() => Object.assign(value, { amount: 999 }));
      return value;
    }),
  );
  const { id: another } = await later.refund.ask({ orderId: 1, amount: 1.4 });
  await served.approve(another);
  await later.refund.resume(another);
  assert.deepEqual(later.paid, [{ orderId: 1, amount: 1.4 }]);
});

test("a validate that is asynchronous is waited for, and what it refuses is not used up", async () => {
  const client = await served.client();
  const paid: Refund[] = [];
  const refund = client.requireApproval(
    async (payload: Refund) => paid.push(payload),
    ({ orderId }) => ({ summary: `Refund order ${orderId}`, notify: "ann@example.com" }),
    {
      validate: async (payload) => {
        const { amount } = payload as Refund;
        if (amount > 10) throw new RangeError("too much");
        return { orderId: 1, amount };
      },
    },
  );
  const { id } = await refund.ask({ orderId: 1, amount: 11 });
  await served.approve(id);
  await assert.rejects(refund.resume(id), RangeError);
  await client.requests.redeem(id);
  const { id: small } = await refund.ask({ orderId: 1, amount: 9 });
  await served.approve(small);
  await refund.resume(small);
  assert.deepEqual(paid, [{ orderId: 1, amount: 9 }]);
});

test("a payload that the Standard Schema refuses is not asked about", async () => {
  const client = await served.client();
  const { refund } = gatedRefund(client, refundSchema);
  const before = served.calls.length;
  await assert.rejects(refund.ask({ orderId: 1042 } as never), { code: "invalid_payload" });
  assert.equal(served.calls.length, before);
});
