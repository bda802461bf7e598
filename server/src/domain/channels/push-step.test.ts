import assert from "node:assert/strict";
import { test } from "node:test";
import { pushKeptSecondsMax, pushPauseSeconds } from "./push-limits.ts";
import { keptSeconds, pushText, pushTurn } from "./push-step.ts";

const now = new Date("2026-11-18T10:00:00Z");
const seconds = (count: number) => new Date(now.getTime() + count * 1000);

test("a message says how many requests wait, and nothing else", () => {
  assert.equal(pushText(3), '{"waiting":3}');
});

test("a push service keeps a message until its last request ends, and a day at most", () => {
  assert.equal(keptSeconds(seconds(90), now), 90);
  assert.equal(keptSeconds(seconds(-5), now), 0);
  assert.equal(keptSeconds(seconds(7 * 24 * 3_600), now), pushKeptSecondsMax);
});

test("a person is told at once, then left in peace for a while", () => {
  const telling = { now, createdAt: now, isAgain: false };
  assert.equal(pushTurn({ ...telling, toldAt: null }), null);
  assert.equal(pushTurn({ ...telling, toldAt: seconds(-pushPauseSeconds) }), null);
  assert.deepEqual(pushTurn({ ...telling, toldAt: seconds(-4) }), {
    afterSeconds: pushPauseSeconds - 4,
  });
});

test("a message that was counted by a later one isn't sent, unless the person is asked again", () => {
  const telling = { toldAt: seconds(-20), now, createdAt: seconds(-21) };
  assert.equal(pushTurn({ ...telling, isAgain: false }), "counted");
  assert.equal(pushTurn({ ...telling, isAgain: true }), null);
});
