import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFields, changesOf, formOf, isFlaw } from "./settings-draft.ts";

const saved = {
  name: "Acme",
  expiryMinutes: 1_440,
  reminderPercent: 10,
  reviewCode: false,
  cap: null,
  defaultApprover: null,
};

test("only what was typed is sent, as numbers where numbers are meant", () => {
  const draft = { expiryMinutes: " 60 ", reminderPercent: null, cap: "5000" };
  assert.deepEqual(changesOf(saved, draft), {
    expiryMinutes: 60,
    reminderPercent: null,
    cap: 5_000,
  });
});

test("a default approver that is emptied is none", () => {
  const ann = { ...saved, defaultApprover: "ann@example.com" };
  assert.deepEqual(changesOf(ann, { defaultApprover: " " }), { defaultApprover: null });
  assert.deepEqual(changesOf(saved, { defaultApprover: " group:people " }), {
    defaultApprover: "group:people",
  });
  assert.deepEqual(changedFields(saved, { defaultApprover: "" }), []);
});

test("a value that was typed and taken back is no change", () => {
  assert.deepEqual(changedFields(saved, formOf(saved)), []);
  assert.deepEqual(changesOf(saved, { name: "Acme" }), {});
});

test("a text that is no number is told at its field and not sent", () => {
  for (const text of ["", "an hour", "1.5", "-3", "1e3"]) {
    const changes = changesOf(saved, { expiryMinutes: text });
    assert.ok(isFlaw(changes));
    assert.equal(changes.field, "expiryMinutes");
  }
});
