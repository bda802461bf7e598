// Tests of moments in words: one unit, and never more than is true.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toRelativeTime } from "./relative-time.ts";

const now = Date.parse("2026-03-10T12:00:00.000Z");

test("a moment is told in the largest unit that fits, rounded towards now", () => {
  const told: [string, string][] = [
    ["2026-03-10T11:59:31.000Z", "just now"],
    ["2026-03-10T11:58:01.000Z", "1 minute ago"],
    ["2026-03-10T10:00:01.000Z", "1 hour ago"],
    ["2026-03-08T12:00:00.000Z", "2 days ago"],
    ["2026-03-10T12:00:20.000Z", "in less than a minute"],
    ["2026-03-10T12:23:59.000Z", "in 23 minutes"],
    ["2026-03-11T11:59:59.000Z", "in 23 hours"],
  ];
  for (const [at, words] of told) assert.equal(toRelativeTime(at, now), words);
});

test("a moment long ago is a date, because a count of days says little", () => {
  assert.match(toRelativeTime("2025-11-02T12:00:00.000Z", now), /2025/);
});
