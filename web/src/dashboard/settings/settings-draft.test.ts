import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "../../../../server/src/wire/dashboard-settings.ts";
import { changedFields, changesOf, formOf, isFlaw } from "./settings-draft.ts";

const saved = {
  name: "Acme",
  expiryMinutes: 1_440,
  reminderPercent: 10,
  reviewCode: false,
  cap: null,
  defaultApprover: null,
  approverLimit: null,
  approverDomains: [],
  handOver: "workspace",
} as const satisfies Settings;

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

test("anybody can be chosen where nobody has chosen a limit yet", () => {
  assert.deepEqual(changesOf(saved, { approverLimit: "anybody" }), { approverLimit: "anybody" });
  assert.deepEqual(
    changesOf({ ...saved, approverLimit: "anybody" }, { approverLimit: "anybody" }),
    {},
  );
});

test("domains are sent one by one, however they were typed, and only with the limit to them", () => {
  const approverDomains = "@example.com, example.org\n\n example.net;";
  assert.deepEqual(changesOf(saved, { approverLimit: "domains", approverDomains }), {
    approverLimit: "domains",
    approverDomains: ["example.com", "example.org", "example.net"],
  });
  assert.deepEqual(changesOf(saved, { approverLimit: "members", approverDomains }), {
    approverLimit: "members",
  });
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
