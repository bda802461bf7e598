import assert from "node:assert/strict";
import { test } from "node:test";
import { gatheredWaitingMax } from "../domain/limits.ts";
import { DatabaseBusy } from "./database.ts";
import { gather } from "./gathering.ts";

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

test("more callers than can be served in good time are turned away", async () => {
  const { call } = controlled();
  for (let n = 0; n < gatheredWaitingMax + 2; n += 1) void call(n);
  await assert.rejects(call(0), DatabaseBusy);
});
