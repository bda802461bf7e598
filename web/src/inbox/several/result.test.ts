import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  Review,
  ReviewOutcome,
  ReviewStatus,
} from "../../../../server/src/wire/review-contract.ts";
import { resultFrom, resultOf } from "./result.ts";

const review = {} as Review;
const sent = { verdict: "approve", review } as const;

function status(outcome: Partial<ReviewOutcome> | null): ReviewStatus {
  return { outcome } as ReviewStatus;
}

const approvedByBob = status({ status: "APPROVED", byEmail: "bob@example.com", isYours: false });
const approvedByMe = status({ status: "APPROVED", byEmail: "ann@example.com", isYours: true });

test("a recorded decision says so, and one that waits for others says that", () => {
  const told = { id: "a", kind: "recorded" } as const;
  assert.deepEqual(resultOf({ ...told, status: approvedByMe }, sent), {
    kind: "recorded",
    text: "Approved",
  });
  const open = resultOf({ ...told, status: status(null) }, sent);
  assert.ok(open.kind === "recorded" && open.text.includes("waits for others"));
});

test("one that somebody else decided first names who won", () => {
  const problem = {
    error: { code: "already_resolved", message: "It is over." },
    status: approvedByBob,
  } as const;
  const told = resultOf({ id: "a", kind: "refused", problem }, sent);
  assert.ok(told.kind === "refused");
  assert.match(told.text, /^Approved by bob@example\.com\. .*too late/);
});

test("another refusal is told in the service's words", () => {
  const problem = { error: { code: "stale_view", message: "The payload changed." } } as const;
  assert.deepEqual(resultOf({ id: "a", kind: "refused", problem }, sent), {
    kind: "refused",
    text: "The payload changed.",
  });
});

test("a result that is missing is unknown, never guessed", () => {
  assert.deepEqual(resultOf(undefined, sent), { kind: "unknown" });
});

test("a lost answer is found out from how things stand", () => {
  assert.equal(resultFrom(approvedByMe, sent).kind, "recorded");
  assert.equal(resultFrom(approvedByBob, sent).kind, "refused");
  assert.equal(resultFrom(status(null), sent).kind, "refused");
  // The reader's own, but the other verdict: not this decision.
  assert.equal(resultFrom(approvedByMe, { verdict: "reject", review }).kind, "refused");
});
