import assert from "node:assert/strict";
import { test } from "node:test";
import { describeDuration } from "./duration.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test("a duration is said in at most two units", () => {
  assert.equal(describeDuration(0), "0 s");
  assert.equal(describeDuration(400), "under 1 s");
  assert.equal(describeDuration(45_000), "45 s");
  assert.equal(describeDuration(12 * minute), "12 min");
  assert.equal(describeDuration(3 * hour), "3 h");
  assert.equal(describeDuration(3 * hour + 20 * minute), "3 h 20 min");
  assert.equal(describeDuration(day), "1 day");
  assert.equal(describeDuration(28 * hour), "1 day 4 h");
  assert.equal(describeDuration(2 * day), "2 days");
  assert.equal(describeDuration(6.6 * day), "7 days");
});

test("rounding never leaves a full unit behind", () => {
  assert.equal(describeDuration(59_600), "1 min");
  assert.equal(describeDuration(59.6 * minute), "1 h");
  assert.equal(describeDuration(hour + 59.7 * minute), "2 h");
  assert.equal(describeDuration(23 * hour + 59.8 * minute), "1 day");
  assert.equal(describeDuration(47.7 * hour), "2 days");
});
