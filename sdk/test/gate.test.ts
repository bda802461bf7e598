import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  ApprovalCancelledError,
  ApprovalExpiredError,
  ApprovalRejectedError,
  type Countersign,
} from "../src/index.ts";
import { serve } from "./served.ts";

const served = await serve();
after(() => served.stop());

type Refund = { orderId: number; amount: number };

/** A function that moves money, behind a person; and what it was run with. */
function gatedRefund(client: Countersign) {
  const paid: Refund[] = [];
  const refund = client.requireApproval(
    async (payload: Refund, { id }) => {
      paid.push(payload);
      return `paid under ${id}`;
    },
    ({ orderId, amount }) => ({
      summary: `Refund order ${orderId} (${amount} EUR)`,
      notify: "ann@example.com",
    }),
  );
  return { refund, paid };
}

async function onlyRequest(client: Countersign) {
  for (;;) {
    const { data } = await client.requests.listPage({ status: "PENDING" });
    if (data[0] !== undefined) return data[0];
  }
}

test("the function runs once approved, with the payload as the approver left it", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const running = refund({ orderId: 1042, amount: 49 });
  const { id, summary } = await onlyRequest(client);
  assert.equal(summary, "Refund order 1042 (49 EUR)");
  assert.deepEqual(paid, []);
  await served.approve(id, '{"orderId": 1042, "amount": 12.5}');
  assert.equal(await running, `paid under ${id}`);
  assert.deepEqual(paid, [{ orderId: 1042, amount: 12.5 }]);
});

test("the function does not run when the request is rejected, cancelled or expired, each told apart", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const rejected = await refund.ask({ orderId: 1, amount: 1 });
  await served.reject(rejected.id, "not this one");
  const failure = await refund.resume(rejected.id).catch((error) => error);
  assert.ok(failure instanceof ApprovalRejectedError);
  assert.equal(failure.request.resolutionNote, "not this one");
  assert.match(failure.message, /not this one/);
  const cancelled = await refund.ask({ orderId: 2, amount: 1 });
  await client.requests.cancel(cancelled.id);
  await assert.rejects(refund.resume(cancelled.id), ApprovalCancelledError);
  const expired = await refund.ask({ orderId: 3, amount: 1 });
  await served.service.db.query(
    "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
    [expired.id],
  );
  await assert.rejects(refund.resume(expired.id), ApprovalExpiredError);
  await assert.rejects(refund({ orderId: 4, amount: 1 }, { timeoutMs: 0 }), {
    name: "WaitTimeoutError",
  });
  assert.deepEqual(paid, []);
});

test("another process goes on from the request's id alone", async () => {
  const client = await served.client();
  const { id } = await gatedRefund(client).refund.ask({ orderId: 1042, amount: 49 });
  await served.approve(id);
  const { refund, paid } = gatedRefund(client);
  await refund.resume(id);
  assert.deepEqual(paid, [{ orderId: 1042, amount: 49 }]);
});

test("an approval of another action does not let this one run", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const newsletter = await client.requests.create({
    summary: "Send the newsletter",
    notify: "ann@example.com",
    payload: { orderId: 1042, amount: 49 },
  });
  const nothing = await client.requests.create({ summary: "Nothing", notify: "ann@example.com" });
  for (const { id } of [newsletter, nothing]) {
    await served.approve(id);
    await assert.rejects(refund.resume(id), { code: "another_action" });
  }
  assert.deepEqual(paid, []);
});

test("an approval of somebody else, or asked for by another agent, does not let this one run", async () => {
  const client = await served.client();
  const { refund, paid } = gatedRefund(client);
  const asked = {
    summary: "Refund order 7 (1000000 EUR)",
    payload: { orderId: 7, amount: 1_000_000 },
  };
  const others = [
    { ...asked, notify: "attacker@example.com" },
    { ...asked, notify: "ann@example.com", agentName: "another agent" },
  ];
  for (const other of others) {
    const { id } = await client.requests.create(other);
    await served.approve(id);
    await assert.rejects(refund.resume(id), { code: "another_action" });
  }
  const { id } = await client.requests.create({ ...asked, notify: "ann@example.com" });
  await served.approve(id);
  await refund.resume(id);
  assert.deepEqual(paid, [asked.payload]);
});

test("an action without a payload can be asked for and resumed", async () => {
  const client = await served.client();
  const restart = client.requireApproval(
    (payload: undefined) => payload,
    () => ({ summary: "Restart the cluster", notify: "ann@example.com" }),
  );
  const { id } = await restart.ask(undefined);
  await served.approve(id);
  assert.equal(await restart.resume(id), null);
});

test("an edit that the function cannot take is refused by its validation, and does not run", async () => {
  const client = await served.client();
  let runs = 0;
  const pay = client.requireApproval(
    () => {
      runs += 1;
    },
    ({ amount }: Refund) => ({ summary: `Pay ${amount}`, notify: "ann@example.com" }),
    {
      validate: (payload) => {
        const { amount } = payload as Refund;
        if (typeof amount !== "number") throw new TypeError("amount must be a number");
        return payload as Refund;
      },
    },
  );
  const { id } = await pay.ask({ orderId: 1, amount: 5 });
  await served.approve(id, '{"orderId": 1, "amount": "much"}');
  await assert.rejects(pay.resume(id), /amount must be a number/);
  assert.equal(runs, 0);
});

test("a payload is described as it will be read again", async () => {
  const client = await served.client();
  const book = client.requireApproval(
    ({ day }: { day: Date | string }) => day,
    ({ day }) => ({ summary: `Book ${day}`, notify: "ann@example.com" }),
  );
  const { id } = await book.ask({ day: new Date(0) });
  await served.approve(id);
  assert.equal(await book.resume(id), "1970-01-01T00:00:00.000Z");
});

test("a key __proto__ reaches the approver and the function as it is, also in an edit", async () => {
  const client = await served.client();
  const run = client.requireApproval(
    (payload: unknown) => JSON.stringify(payload),
    () => ({ summary: "Set a key", notify: "ann@example.com" }),
  );
  for (const edit of [undefined, '{"__proto__":{"amount":6}}']) {
    const { id } = await run.ask(JSON.parse('{"__proto__":{"amount":5}}'));
    const { payload } = await client.requests.get(id);
    assert.equal(JSON.stringify(payload), '{"__proto__":{"amount":5}}');
    await served.approve(id, edit);
    assert.equal(await run.resume(id), edit ?? '{"__proto__":{"amount":5}}');
  }
});
