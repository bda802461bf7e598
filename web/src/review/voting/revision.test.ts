import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReviewOutcome } from "../../../../server/src/wire/review-contract.ts";
import { decidedPayload } from "./revision.ts";

const payload = '{"amount":1}';
const change = { revision: 2, payload: '{"amount":2}', byEmail: "cfo@x.example", at: "" };

function outcomeOf(status: ReviewOutcome["status"], edit: string | null = null): ReviewOutcome {
  return { status, at: "", byEmail: null, isYours: false, note: null, edit };
}

test("the page of a request that wasn't approved shows the text on which people voted last", () => {
  for (const status of ["REJECTED", "EXPIRED", "CANCELLED"] as const) {
    const outcome = outcomeOf(status);
    assert.equal(decidedPayload({ payload, change, outcome }), change.payload);
    assert.equal(decidedPayload({ payload, outcome }), payload, "nobody changed it");
  }
});

test("the page of an approved request shows what is executed", () => {
  const outcome = outcomeOf("APPROVED", change.payload);
  assert.equal(decidedPayload({ payload, outcome }), change.payload);
  assert.equal(decidedPayload({ payload, change, outcome: outcomeOf("APPROVED") }), payload);
  assert.equal(decidedPayload({ payload, change, outcome: null }), null);
});
