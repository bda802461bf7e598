import assert from "node:assert/strict";
import { test } from "node:test";
import { dayOf, endOfDay, lastDayBefore, startOfDay } from "./days.ts";

test("a chosen day comes back as the same day, first and last", () => {
  for (const day of ["2026-03-29", "2026-10-25", "2026-12-31"]) {
    assert.equal(dayOf(startOfDay(day) ?? ""), day);
    assert.equal(lastDayBefore(endOfDay(day) ?? ""), day);
  }
  assert.equal(startOfDay("not a day"), undefined);
});
