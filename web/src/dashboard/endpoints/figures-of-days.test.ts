import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRate, figuresOfDays } from "./figures-of-days.ts";

const quiet = { day: "2026-11-01", succeeded: 0, failed: 0, medianMs: null, p90Ms: null };

test("days on which nothing was sent count for nothing", () => {
  assert.deepEqual(figuresOfDays([quiet, quiet]), {
    succeeded: 0,
    failed: 0,
    successRate: null,
    medianMs: null,
    worstP90Ms: null,
  });
});

test("a day counts by what was sent on it", () => {
  const busy = { day: "2026-11-02", succeeded: 90, failed: 6, medianMs: 120, p90Ms: 400 };
  const slow = { day: "2026-11-03", succeeded: 0, failed: 4, medianMs: 9_000, p90Ms: 10_000 };
  const figures = figuresOfDays([slow, quiet, busy]);
  assert.equal(figures.successRate, 0.9);
  assert.equal(figures.medianMs, 120);
  assert.equal(figures.worstP90Ms, 10_000);
});

test("a rate is called 100% only when nothing failed", () => {
  assert.equal(describeRate(1), "100%");
  assert.equal(describeRate(0.99999), ">99.9%");
  assert.equal(describeRate(0.995), "99.5%");
  assert.equal(describeRate(0.9), "90%");
  assert.equal(describeRate(0.0001), "<0.1%");
  assert.equal(describeRate(0), "0%");
});
