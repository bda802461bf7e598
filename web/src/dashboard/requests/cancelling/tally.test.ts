import assert from "node:assert/strict";
import { test } from "node:test";
import { add, inBatches, isNarrowed, nothingYet, resultSentence } from "./tally.ts";

test("requests that were final before are told by what they are, over all calls", () => {
  const first = {
    cancelled: 98,
    resolvedBefore: [
      { status: "APPROVED" as const, count: 1 },
      { status: "EXPIRED" as const, count: 1 },
    ],
  };
  const second = { cancelled: 1_000, resolvedBefore: [{ status: "APPROVED" as const, count: 2 }] };
  assert.equal(
    resultSentence(first),
    "98 requests cancelled. 2 were final before: 1 approved, 1 expired.",
  );
  assert.equal(
    resultSentence(add(add(nothingYet, first), second)),
    "1,098 requests cancelled. 4 were final before: 3 approved, 1 expired.",
  );
});

test("where nothing came in between, nothing more is said", () => {
  assert.equal(resultSentence({ cancelled: 1, resolvedBefore: [] }), "1 request cancelled.");
});

test("a long list is cut into calls, and nothing is lost", () => {
  assert.deepEqual(inBatches([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]]);
  assert.deepEqual(inBatches([], 2), []);
});

test("a status alone doesn't narrow what is cancelled", () => {
  assert.equal(isNarrowed({ status: "PENDING" }), false);
  assert.equal(isNarrowed({ status: "PENDING", agent: "" }), true);
});
