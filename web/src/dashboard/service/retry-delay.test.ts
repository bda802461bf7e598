// Tests of the wait between tries.

import assert from "node:assert/strict";
import { test } from "node:test";
import { retryDelayMs, toRetryAfterMs } from "./retry-delay.ts";

test("the page waits as long as the service asks, up to a bound", () => {
  assert.equal(retryDelayMs(0, toRetryAfterMs("7")), 7_000);
  assert.equal(retryDelayMs(0, toRetryAfterMs("3600")), 30_000);
});

test("where it says nothing, or nothing that can be read, each wait is twice the last", () => {
  for (const header of [null, "", "soon", "-1", "Wed, 21 Oct 2026 07:28:00 GMT"]) {
    assert.deepEqual(
      [0, 1, 2, 9].map((failures) => retryDelayMs(failures, toRetryAfterMs(header))),
      [1_000, 2_000, 4_000, 30_000],
    );
  }
});
