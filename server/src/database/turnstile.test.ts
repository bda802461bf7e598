import assert from "node:assert/strict";
import { test } from "node:test";
import { Turnstile } from "./turnstile.ts";

/** Ten places, five for one holder, the last two for holders who have none. */
function setUp() {
  const turnstile = new Turnstile({ placesMax: 10, perHolderMax: 5, keptFree: 2 });
  const entered: string[] = [];
  const queue = (holder: string | null, times = 1) => {
    for (let n = 0; n < times; n += 1) turnstile.queue(holder, () => entered.push(holder ?? "-"));
  };
  return { turnstile, entered, queue };
}

test("one holder has its share of the places and no more", () => {
  const { entered, queue } = setUp();
  queue("a", 40);
  assert.equal(entered.join(""), "aaaaa");
});

test("the last places go to holders who have none, and to the service", () => {
  const { entered, queue } = setUp();
  queue("a", 40);
  queue("b", 40);
  assert.equal(entered.join(""), "aaaaabbb");
  queue("c", 2);
  queue(null, 2);
  assert.equal(entered.join(""), "aaaaabbbc-");
});

test("holders who wait take turns, and the service comes first", () => {
  const { turnstile, entered, queue } = setUp();
  queue(null, 10);
  queue("a", 5);
  queue("b", 2);
  queue(null);
  for (let n = 0; n < 7; n += 1) turnstile.leave(null);
  // Two of the seven stay free, for holders who have none.
  assert.equal(entered.slice(10).join(""), "-abab");
});

test("somebody who stops waiting is passed over", () => {
  const { turnstile, entered } = setUp();
  for (let n = 0; n < 10; n += 1) turnstile.queue(null, () => {});
  const leaveQueue = turnstile.queue("a", () => entered.push("a"));
  turnstile.queue("b", () => entered.push("b"));
  leaveQueue();
  turnstile.leave(null);
  assert.deepEqual(entered, ["b"]);
  assert.equal(turnstile.waitingOf("a"), 0);
});

test("work that fails gives its place back", async () => {
  const turnstile = new Turnstile({ placesMax: 1, perHolderMax: 1, keptFree: 0 });
  const failing = turnstile.pass("a", () => Promise.reject(new Error("no")));
  await assert.rejects(failing, /no/);
  assert.equal(await turnstile.pass("b", async () => "went on"), "went on");
});
