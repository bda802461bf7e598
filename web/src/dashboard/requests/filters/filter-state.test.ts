import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countBehind,
  countChosen,
  dayOf,
  endOfDay,
  filterOf,
  lastDayBefore,
  startOfDay,
} from "./filter-state.ts";

test("an address becomes a filter, and what cannot be one is left out", () => {
  assert.deepEqual(
    filterOf({
      status: "PENDING",
      agent: "",
      search: 1042,
      from: "yesterday",
      odd: "x",
      to: ["a"],
    }),
    { status: "PENDING", agent: "", search: "1042" },
  );
  assert.deepEqual(filterOf({ status: "DONE" }), {});
});

test("requests without an agent's name are a choice, too", () => {
  assert.equal(countChosen({ agent: "" }), 1);
  assert.equal(countBehind({ agent: "", status: "PENDING", search: "x" }), 1);
});

test("a chosen day comes back as the same day, first and last", () => {
  for (const day of ["2026-03-29", "2026-10-25", "2026-12-31"]) {
    assert.equal(dayOf(startOfDay(day) ?? ""), day);
    assert.equal(lastDayBefore(endOfDay(day) ?? ""), day);
  }
  assert.equal(startOfDay("not a day"), undefined);
});
