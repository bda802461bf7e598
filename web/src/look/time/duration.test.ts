import assert from "node:assert/strict";
import { test } from "node:test";
import { describeDuration } from "./duration.ts";

/** Lines end between two units only. */
const said = (ms: number) => describeDuration(ms).replaceAll("\u00a0", " ");

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test("a duration is said in at most two units", () => {
  assert.equal(said(0), "0 s");
  assert.equal(said(400), "400 ms");
  assert.equal(said(1_250), "1.3 s");
  assert.equal(said(2_000), "2 s");
  assert.equal(said(45_000), "45 s");
  assert.equal(said(12 * minute), "12 min");
  assert.equal(said(3 * hour), "3 h");
  assert.equal(said(3 * hour + 20 * minute), "3 h 20 min");
  assert.equal(said(day), "1 day");
  assert.equal(said(28 * hour), "1 day 4 h");
  assert.equal(said(2 * day), "2 days");
  assert.equal(said(6.6 * day), "7 days");
});

test("rounding never leaves a full unit behind", () => {
  assert.equal(said(999.6), "1 s");
  assert.equal(said(9_960), "10 s");
  assert.equal(said(59_600), "1 min");
  assert.equal(said(59.6 * minute), "1 h");
  assert.equal(said(hour + 59.7 * minute), "2 h");
  assert.equal(said(23 * hour + 59.8 * minute), "1 day");
  assert.equal(said(47.7 * hour), "2 days");
});

test("something that took a moment did not take nothing, and two clocks that differ give no negative time", () => {
  assert.equal(said(0.2), "1 ms");
  assert.equal(said(-5), "0 s");
});

test("no line ends between a number and its unit", () => {
  assert.equal(describeDuration(3 * hour + 20 * minute), "3\u00a0h 20\u00a0min");
});
