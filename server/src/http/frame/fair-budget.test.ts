import assert from "node:assert/strict";
import { test } from "node:test";
import { FairBudget, type Lease } from "./fair-budget.ts";

const patient = new AbortController().signal;

function taken(lease: Lease | null): Lease {
  assert.ok(lease !== null);
  return lease;
}

test("a holder gets its share and no more, and others get theirs beside it", () => {
  const budget = new FairBudget({ total: 10, perHolder: 4 });
  const first = taken(budget.take("a", 3));
  assert.equal(budget.take("a", 2), null);
  taken(budget.take("b", 4));
  taken(budget.take("c", 3));
  assert.equal(budget.take("d", 1), null, "nothing is left in all");
  first.release();
  first.release();
  assert.equal(budget.held, 7, "given back once, however often it is said");
  taken(budget.take("a", 3));
});

test("an amount above the share, or above all there is, is lent to a holder that is alone with it", () => {
  const budget = new FairBudget({ total: 10, perHolder: 4 });
  const large = taken(budget.take("a", 12));
  assert.equal(budget.take("a", 1), null);
  assert.equal(budget.take("b", 1), null);
  large.release();
  taken(budget.take("b", 9));
});

test("holders that wait get their turns one after the other, however much one of them asks for", async () => {
  const budget = new FairBudget({ total: 1, perHolder: 1, waitingMax: 20 });
  let last = taken(budget.take("greedy", 1));
  const order: string[] = [];
  const ask = async (holder: string) => {
    last = taken(await budget.wait(holder, 1, patient));
    order.push(holder);
  };
  const asked = ["greedy", "greedy", "greedy", "b", "c", "b"].map(ask);
  for (const each of asked.keys()) {
    assert.equal(order.length, each);
    last.release();
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
  assert.deepEqual(order, ["greedy", "b", "c", "greedy", "b", "greedy"]);
});

test("small amounts do not starve a large one that waits", async () => {
  const budget = new FairBudget({ total: 10, perHolder: 10, waitingMax: 20 });
  const small = taken(budget.take("a", 4));
  const large = budget.wait("b", 8, patient);
  assert.equal(budget.take("c", 1), null, "it would pass the one that waits");
  const behind = budget.wait("c", 3, patient);
  small.release();
  const given = taken(await large);
  assert.equal(budget.held, 8);
  given.release();
  taken(await behind);
});

test("a holder that waits for its own share holds up nobody", async () => {
  const budget = new FairBudget({ total: 10, perHolder: 4, waitingMax: 2 });
  taken(budget.take("a", 4));
  void budget.wait("a", 1, patient);
  void budget.wait("a", 1, patient);
  assert.equal(budget.waiting, 2);
  taken(await budget.wait("b", 4, patient));
  assert.equal(await budget.wait("a", 1, patient), null, "no more may wait");
});

test("one holder cannot take all places of the queue", async () => {
  const limits = { total: 1, perHolder: 1, waitingMax: 4, waitingPerHolderMax: 2 };
  const budget = new FairBudget(limits);
  const lease = taken(budget.take("a", 1));
  const waiting = [budget.wait("a", 1, patient), budget.wait("a", 1, patient)];
  assert.equal(await budget.wait("a", 1, patient), null);
  const other = budget.wait("b", 1, patient);
  lease.release();
  taken((await waiting[0]) ?? null).release();
  taken(await other);
});

test("a wait that is given up leaves nothing behind and lets the next one pass", async () => {
  const budget = new FairBudget({ total: 4, perHolder: 4, waitingMax: 9 });
  const lease = taken(budget.take("a", 3));
  const giving = new AbortController();
  const large = budget.wait("b", 4, giving.signal);
  const small = budget.wait("c", 1, patient);
  giving.abort();
  assert.equal(await large, null);
  const other = taken(await small);
  assert.equal(budget.waiting, 0);
  lease.release();
  other.release();
  assert.equal(budget.held, 0);
  assert.equal(
    await budget.wait("d", 9, AbortSignal.abort()).then((got) => got?.release()),
    undefined,
  );
});

test("whatever is taken, waited for and given up, all comes back in the end", async () => {
  const budget = new FairBudget({
    total: 20,
    perHolder: 7,
    waitingMax: 30,
    waitingPerHolderMax: 8,
  });
  let seed = 42;
  const random = (max: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % max;
  };
  const use = async () => {
    const giving = new AbortController();
    const lease = budget.wait(`h${random(5)}`, 1 + random(9), giving.signal);
    if (random(3) === 0) giving.abort();
    const got = await lease;
    assert.ok(budget.held <= 20);
    for (let turns = random(4); turns > 0; turns -= 1) await new Promise(setImmediate);
    got?.release();
  };
  for (let round = 0; round < 50; round += 1) await Promise.all(Array.from({ length: 40 }, use));
  assert.deepEqual([budget.held, budget.waiting], [0, 0]);
});

test("an entry that waits behind its holder's own keeps no other holder waiting", async () => {
  const budget = new FairBudget({ total: 64, perHolder: 16, waitingMax: 10 });
  const held = budget.take("a", 14);
  assert.ok(held !== null);
  const { signal } = new AbortController();
  const large = budget.wait("a", 4, signal);
  const small = budget.wait("a", 1, signal);
  assert.ok(budget.take("b", 1) !== null);
  held.release();
  assert.ok((await large) !== null && (await small) !== null);
});
