import assert from "node:assert/strict";
import { test } from "node:test";
import { disabledAfter, stepAfterFailure } from "./endpoint-health.ts";

const now = new Date("2026-11-15T12:00:00Z");
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);

test("a warning comes at half of five days, and the end after the other half", () => {
  const step = (failing: number, warned: number | null) =>
    stepAfterFailure(
      { failingSince: daysAgo(failing), warnedAt: warned === null ? null : daysAgo(warned) },
      now,
    );
  assert.equal(step(0, null), "none");
  assert.equal(step(2.49, null), "none");
  assert.equal(step(2.5, null), "warn");
  assert.equal(step(2.6, 0.1), "none");
  assert.equal(step(4.99, 2.49), "none");
  assert.equal(step(5, 2.5), "disable");
});

test("nothing is disabled without a warning that is half of the time old", () => {
  assert.equal(stepAfterFailure({ failingSince: daysAgo(30), warnedAt: null }, now), "warn");
  assert.equal(stepAfterFailure({ failingSince: daysAgo(30), warnedAt: daysAgo(1) }, now), "none");
  assert.deepEqual(disabledAfter(daysAgo(2.5)), now);
});

test("an endpoint that works is left alone", () => {
  assert.equal(stepAfterFailure({ failingSince: null, warnedAt: null }, now), "none");
});
