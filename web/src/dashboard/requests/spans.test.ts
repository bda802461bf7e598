import assert from "node:assert/strict";
import { test } from "node:test";
import { describeDuration, describeWait } from "./spans.ts";

test("a wait is told in its largest unit, never longer than it is", () => {
  const minute = 60_000;
  assert.equal(describeWait(-5), "less than a minute");
  assert.equal(describeWait(minute), "1 minute");
  assert.equal(describeWait(119 * minute), "1 hour");
  assert.equal(describeWait(47 * 60 * minute), "47 hours");
  assert.equal(describeWait(50 * 60 * minute), "2 days");
});

test("a duration is told in milliseconds, then in seconds", () => {
  assert.equal(describeDuration(0), "0 ms");
  assert.equal(describeDuration(999.4), "999 ms");
  assert.equal(describeDuration(1_250), "1.3 s");
});
