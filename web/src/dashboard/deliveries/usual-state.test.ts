import assert from "node:assert/strict";
import { test } from "node:test";
import { usualState, wordsForNone } from "./usual-state.ts";

const working = {
  disabledAt: null,
  failingSince: null,
  unsuccessful: { count: 0, isMore: false, since: null },
};
const failing = { ...working, failingSince: "2026-11-17T09:00:00.000Z" };

test("an endpoint that only fails is never said to have no failures", () => {
  assert.match(wordsForNone("failed", failing), /on their way, and are tried again/);
  assert.match(wordsForNone("failed", working), /^No delivery was given up\. Nothing needs/);
});

test("while attempts fail and nothing is given up, the deliveries on their way are shown first", () => {
  assert.equal(usualState(failing), "due");
  assert.equal(
    usualState({ ...failing, unsuccessful: { count: 3, isMore: false, since: null } }),
    "failed",
  );
  assert.equal(usualState(working), "failed");
  assert.equal(usualState({ ...failing, disabledAt: "2026-11-17T10:00:00.000Z" }), "failed");
});
