// The issuer's keys, as a verifier keeps them: for an hour, fetched again for a key that is new, and not for each forged
// receipt.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { type KeySet, loadKeySet } from "../src/proof/key-set.ts";

let set: KeySet | null = null;
const calls: (string | undefined)[] = [];
/** Answers as it is when it is asked, and as late as this says. */
let late: Promise<void> | null = null;
const server = createServer(async (request, response) => {
  calls.push(request.headers["cache-control"]);
  const answer = set;
  await late;
  response.writeHead(answer === null ? 503 : 200, { "cache-control": "public, max-age=3600" });
  response.end(JSON.stringify(answer));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const { port } = server.address() as AddressInfo;

const keysOf = (...kids: string[]): KeySet => ({ keys: kids.map((kid) => ({ kty: "OKP", kid })) });
const second = 1_000;
const minute = 60 * second;

/** An issuer that nobody has asked yet. Answers the kids that a verifier knows at a time. */
function issuer() {
  const url = `http://127.0.0.1:${port}/${calls.length}`;
  const before = calls.length;
  return {
    ask: async (kid: string, now: number) =>
      (await loadKeySet(url, kid, now)).keys.map((key) => key.kid).join(" "),
    calls: () => calls.slice(before),
  };
}

test("a key that was made a moment after the keys were fetched is known at once, past every cache", async () => {
  const { ask, calls } = issuer();
  set = keysOf("old");
  assert.equal(await ask("old", 0), "old");
  set = keysOf("new", "old");
  assert.equal(await ask("old", 1 * second), "old");
  assert.equal(await ask("new", 1 * second), "new old");
  assert.equal(await ask("new", 2 * second), "new old");
  assert.deepEqual(calls(), [undefined, "no-cache"]);
});

test("forged receipts, however many, cost the issuer one call in ten seconds", async () => {
  const { ask, calls } = issuer();
  set = keysOf("old");
  await ask("old", 0);
  const forged = Array.from({ length: 50 }, (_, n) => ask(`forged ${n}`, 1 * second));
  await Promise.all(forged);
  for (let n = 0; n < 50; n += 1) await ask(`forged ${n}`, 2 * second);
  assert.equal(calls().length, 2);
  set = keysOf("new", "old");
  assert.equal(await ask("new", 10 * second), "old");
  assert.equal(await ask("new", 11 * second), "new old");
  assert.equal(calls().length, 3);
});

test("a forged receipt, while the issuer is away, takes nothing from a verifier that has its keys", async () => {
  const { ask, calls } = issuer();
  set = keysOf("old");
  await ask("old", 0);
  set = null;
  const forged = ask("forged", 1 * second);
  assert.equal(await ask("old", 1 * second), "old");
  await assert.rejects(forged, { code: "keys_unavailable" });
  assert.equal(await ask("old", 2 * second), "old");
  await assert.rejects(ask("forged", 2 * second), { code: "keys_unavailable" });
  await assert.rejects(ask("forged", 11 * second), { code: "keys_unavailable" });
  assert.equal(await ask("old", 59 * minute), "old");
  await assert.rejects(ask("old", 60 * minute), { code: "keys_unavailable" });
  set = keysOf("new");
  assert.equal(await ask("new", 61 * minute), "new");
  assert.equal(calls().length, 5);
});

test("an answer that comes late replaces no newer keys", async () => {
  const { ask, calls } = issuer();
  set = keysOf("old");
  await ask("old", 0);
  const { promise, resolve } = Promise.withResolvers<void>();
  late = promise;
  const slow = ask("forged", 1 * second);
  await until(() => calls().length === 2);
  late = null;
  set = keysOf("new");
  assert.equal(await ask("another", 11 * second), "new");
  resolve();
  assert.equal(await slow, "old");
  assert.equal(await ask("new", 12 * second), "new");
});

test("a clock that was set back keeps no keys for longer", async () => {
  const { ask } = issuer();
  set = keysOf("old");
  await ask("old", 100 * minute);
  set = keysOf("new");
  assert.equal(await ask("old", 1 * minute), "new");
});

test("an issuer that is away is not asked for each receipt, and is soon asked again", async () => {
  const { ask, calls } = issuer();
  set = null;
  for (let n = 0; n < 20; n += 1)
    await assert.rejects(ask("old", 1 * second), { code: "keys_unavailable" });
  assert.equal(calls().length, 1);
  set = keysOf("old");
  assert.equal(await ask("old", 3 * second), "old");
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
