import assert from "node:assert/strict";
import { test } from "node:test";
import { gatheredWaitingMax, gatheredWaitingPerHolderMax } from "../domain/limits.ts";
import { DatabaseBusy } from "./faults.ts";
import { gather } from "./gathering.ts";
import { asHolder, currentHolder } from "./holder.ts";

/** A batch operation whose batches end when the test says so. */
function controlled(options?: Parameters<typeof gather>[1]) {
  const batches: { items: number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const call = gather(
    (items: number[]) =>
      new Promise<string[]>((resolve, reject) => {
        batches.push({ items, end: () => resolve(items.map((item) => `r${item}`)), fail: reject });
      }),
    options,
  );
  return { batches, call };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a lone call leaves at once", () => {
  const { batches, call } = controlled();
  void call(1);
  assert.deepEqual(
    batches.map(({ items }) => items),
    [[1]],
  );
});

test("calls that come while two batches are under way leave together, in order, 64 at most", async () => {
  const { batches, call } = controlled();
  const answers = Array.from({ length: 100 }, (_, n) => call(n));
  assert.deepEqual(
    batches.map(({ items }) => items),
    [[0], [1]],
  );
  batches[0]?.end();
  await settle();
  assert.deepEqual(
    batches[2]?.items,
    Array.from({ length: 64 }, (_, n) => n + 2),
  );
  for (let at = 1; at < 4; at += 1) {
    batches[at]?.end();
    await settle();
  }
  assert.deepEqual(
    await Promise.all(answers),
    Array.from({ length: 100 }, (_, n) => `r${n}`),
  );
});

test("where one batch is to follow the other, the next takes all that came meanwhile", async () => {
  const { batches, call } = controlled({ itemsMax: 128, batchesInFlightMax: 1 });
  for (let n = 0; n < 100; n += 1) void call(n);
  assert.deepEqual(
    batches.map(({ items }) => items),
    [[0]],
  );
  batches[0]?.end();
  await settle();
  assert.deepEqual(
    batches[1]?.items,
    Array.from({ length: 99 }, (_, n) => n + 1),
  );
});

test("a fault of a batch is told to its callers and to nobody else", async () => {
  const { batches, call } = controlled();
  const first = call(1);
  const second = call(2);
  const third = call(3);
  batches[0]?.fail(new Error("lost"));
  await assert.rejects(first, /lost/);
  batches[1]?.end();
  assert.equal(await second, "r2");
  await settle();
  batches[2]?.end();
  assert.equal(await third, "r3");
});

test("when the database is out of reach, those who wait behind learn it at once", async () => {
  const { batches, call } = controlled();
  const calls = Array.from({ length: 10 }, (_, n) => call(n));
  const lost = Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
  batches[0]?.fail(lost);
  batches[1]?.end();
  const results = await Promise.allSettled(calls);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", ...Array(8).fill("rejected")],
  );
  assert.equal(batches.length, 2);
});

test("a slow statement, a busy pool or one lost connection fails its own callers and nobody behind them", async () => {
  const faults = [
    Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" }),
    new Error("Query read timeout"),
    new Error("timeout exceeded when trying to connect"),
    Object.assign(new Error("terminating connection"), { code: "57P01" }),
    new Error("Connection terminated unexpectedly"),
    new DatabaseBusy("no connection became free in good time"),
  ];
  for (const fault of faults) {
    const { batches, call } = controlled();
    const calls = Array.from({ length: 10 }, (_, n) => call(n));
    const outcomes = Promise.allSettled(calls);
    batches[0]?.fail(fault);
    batches[1]?.end();
    await settle();
    batches[2]?.end();
    const statuses = (await outcomes).map(({ status }) => status);
    assert.deepEqual(statuses, ["rejected", ...Array(9).fill("fulfilled")], fault.message);
  }
});

test("a batch takes one of each holder in turn, so that one call never waits behind another's thousand", async () => {
  const { batches, call } = controlled({ itemsMax: 4 });
  for (let n = 0; n < 1_000; n += 1) void asHolder("a", () => call(n));
  void asHolder("b", () => call(2_000));
  void asHolder("c", () => call(3_000));
  void asHolder("c", () => call(3_001));
  batches[0]?.end();
  await settle();
  assert.deepEqual(batches[2]?.items, [2, 2_000, 3_000, 3]);
  batches[1]?.end();
  await settle();
  assert.deepEqual(batches[3]?.items, [3_001, 4, 5, 6]);
});

test("a holder whose queue is full is turned away while others go on", async () => {
  const { batches, call } = controlled();
  for (let n = 0; n < gatheredWaitingPerHolderMax + 2; n += 1) void asHolder("a", () => call(n));
  await assert.rejects(
    asHolder("a", () => call(0)),
    DatabaseBusy,
  );
  const other = asHolder("b", () => call(9_999));
  batches[0]?.end();
  await settle();
  assert.ok(batches[2]?.items.includes(9_999));
  batches[2]?.end();
  assert.equal(await other, "r9999");
});

test("of items that travel alone one holder never takes all lanes", async () => {
  const { batches, call } = controlled({ itemsMax: 1, batchesInFlightMax: 3, perHolderMax: 2 });
  for (let n = 0; n < 10; n += 1) void asHolder("a", () => call(n));
  void asHolder("b", () => call(100));
  assert.deepEqual(
    batches.map(({ items }) => items),
    [[0], [1], [100]],
  );
  assert.ok(call.isBusyFor("a"));
  assert.ok(!call.isBusyFor("c"));
  batches[2]?.end();
  await settle();
  assert.equal(batches.length, 3);
  batches[0]?.end();
  await settle();
  assert.deepEqual(batches[3]?.items, [2]);
});

test("a batch is the service's own, and what travels alone is its holder's", async () => {
  const holders: (string | null)[] = [];
  const noteHolder = async (items: number[]) => {
    holders.push(currentHolder());
    return items;
  };
  await asHolder("a", () => gather(noteHolder)(1));
  await asHolder("a", () => gather(noteHolder, { itemsMax: 1 })(1));
  assert.deepEqual(holders, [null, "a"]);
});

test("more callers than can be served in good time are turned away", async () => {
  const { call } = controlled();
  for (let n = 0; n < gatheredWaitingMax + 2; n += 1) void asHolder(`h${n % 10}`, () => call(n));
  await assert.rejects(call(0), DatabaseBusy);
});
