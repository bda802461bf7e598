import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "./turns.ts";

/** Work that ends when it is told to. */
function makeWork() {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (turns: Turns, key: string, name: string) =>
    turns.run(key, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      running.splice(running.indexOf(name), 1);
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { running, start, end };
}

test("one key takes no more than its share, and the others go on", async () => {
  const turns = new Turns(3, 2);
  const { running, start, end } = makeWork();
  const all = ["a1", "a2", "a3", "b1", "b2"].map((name) => start(turns, name.charAt(0), name));
  assert.deepEqual(running, ["a1", "a2", "b1"]);
  await end("b1");
  assert.deepEqual(running, ["a1", "a2", "b2"]);
  await end("a1");
  assert.deepEqual(running, ["a2", "b2", "a3"]);
  for (const name of ["a2", "b2", "a3"]) await end(name);
  await Promise.all(all);
});

test("work that fails gives its turn back", async () => {
  const turns = new Turns(1, 1);
  await assert.rejects(turns.run("a", () => Promise.reject(new Error("no"))));
  assert.equal(await turns.run("a", async () => "yes"), "yes");
});
