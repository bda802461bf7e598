import assert from "node:assert/strict";
import { test } from "node:test";
import { changedProof, deletesMore, proofChangesOf, proofFormOf } from "./proof-draft.ts";

const saved = { requiresSignature: false, receiptHours: 24, retentionDays: null };

test("only what was changed is sent, and a text without a number is told at its field", () => {
  assert.deepEqual(proofChangesOf(saved, proofFormOf(saved)), {});
  assert.deepEqual(proofChangesOf(saved, { requiresSignature: true }), { requiresSignature: true });
  assert.deepEqual(proofChangesOf(saved, { receiptHours: " 72 ", retentionDays: "365" }), {
    receiptHours: 72,
    retentionDays: 365,
  });
  const kept = { ...saved, retentionDays: 365 };
  assert.deepEqual(proofChangesOf(kept, { retentionDays: null }), { retentionDays: null });
  for (const text of ["", "a year", "1.5", "-3"]) {
    assert.ok("flawed" in proofChangesOf(saved, { retentionDays: text }), text);
    assert.ok("flawed" in proofChangesOf(saved, { receiptHours: text }), text);
  }
  assert.deepEqual(changedProof(saved, { receiptHours: "24" }), []);
});

test("a warning stands beside each change that deletes more than before", () => {
  const kept = { ...saved, retentionDays: 365 };
  assert.equal(deletesMore(saved, { retentionDays: "3650" }), true);
  assert.equal(deletesMore(kept, { retentionDays: "30" }), true);
  assert.equal(deletesMore(kept, { retentionDays: "366" }), false);
  assert.equal(deletesMore(kept, { retentionDays: null }), false);
  assert.equal(deletesMore(kept, { receiptHours: "1" }), false);
});
