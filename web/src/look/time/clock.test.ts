import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { describeLeft, isExpiringSoon, nextChangeMs, serviceTime } from "./clock.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test("time is counted from the service's clock, whatever the reader's clock says", () => {
  const reading = { now: "2026-11-15T12:00:00.000Z", stopwatchMs: 5_000 };
  assert.equal(serviceTime(reading, 5_000), Date.parse("2026-11-15T12:00:00.000Z"));
  assert.equal(serviceTime(reading, 65_000), Date.parse("2026-11-15T12:01:00.000Z"));
});

test("the time left is said coarsely while there is much of it and exactly when there is little", () => {
  const said: [number, string][] = [
    [7 * day, "7 days left"],
    [day + 3 * hour, "1 day 3 hours left"],
    [day + 30 * minute, "1 day left"],
    [5 * hour + 59 * minute, "5 hours left"],
    [2 * hour + 5 * minute, "2 hours 5 minutes left"],
    [hour, "1 hour left"],
    [23 * minute + 59_000, "23 minutes left"],
    [5 * minute, "5 minutes left"],
    [4 * minute + 32_000, "4:32 left"],
    [61_000, "1:01 left"],
    [1, "0:01 left"],
    [0, "Time is up"],
    [-hour, "Time is up"],
  ];
  for (const [ms, words] of said) assert.equal(describeLeft(ms), words);
});

test("a reader who asked for less motion sees no seconds run", () => {
  assert.equal(describeLeft(4 * minute + 32_000, { isCalm: true }), "less than 5 minutes left");
  assert.equal(describeLeft(30_000, { isCalm: true }), "less than 1 minute left");
});

test("the page wakes when the words change, and always while there is time left", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 * day }), fc.boolean(), (leftMs, isCalm) => {
      const wait = nextChangeMs(leftMs, { isCalm });
      assert.ok(wait > 0 && wait <= minute);
      // Asleep it misses at most one change of words.
      if (leftMs > 6 * minute) assert.ok(leftMs - wait >= 5 * minute);
    }),
  );
});

test("the last five minutes are soon, and what is over is not", () => {
  assert.equal(isExpiringSoon(5 * minute), true);
  assert.equal(isExpiringSoon(5 * minute + 1), false);
  assert.equal(isExpiringSoon(0), false);
});
