import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDurationsMs } from "./duration.ts";

test("durations are read in each unit, with or without spaces between them", () => {
  assert.deepEqual(parseDurationsMs("30s,5m"), [30_000, 300_000]);
  assert.deepEqual(parseDurationsMs(" 500ms , 2h "), [500, 7_200_000]);
  assert.deepEqual(parseDurationsMs("0s"), [0]);
});

test("whatever is no duration spoils the list", () => {
  for (const text of ["", "30", "5 m", "-1s", "1.5s", "30s,", "1d", "1e3s", "NaN"]) {
    assert.equal(parseDurationsMs(text), null, text);
  }
});
