import assert from "node:assert/strict";
import { test } from "node:test";
import { dayAfterMonth, fullMonth, shortDay } from "./days.ts";

test("a UTC day stays that day wherever it is read", () => {
  assert.equal(shortDay("2026-11-03"), "3 Nov");
  assert.equal(shortDay("2026-01-31T00:00:00.000Z"), "31 Jan");
});

test("a month is said in full, and December ends on the first of January", () => {
  assert.equal(fullMonth("2026-11"), "November 2026");
  assert.equal(fullMonth("2026-02-01"), "February 2026");
  assert.equal(dayAfterMonth("2026-11"), "1 December");
  assert.equal(dayAfterMonth("2026-12-01"), "1 January");
});
