// Tests of the exact moment.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toExactTime } from "./exact-time.ts";

test("the exact moment is the service's own, in UTC", () => {
  assert.equal(toExactTime("2026-03-10T12:00:00.123Z"), "2026-03-10 12:00:00.123 UTC");
});
