import assert from "node:assert/strict";
import { test } from "node:test";
import type { Activity } from "../../../../server/src/wire/dashboard-activity.ts";
import { sentenceOf } from "./activity-sentence.ts";

const entry: Activity = {
  id: "act_1",
  at: "2026-11-15T12:00:00.000Z",
  actorEmail: "ann@example.com",
  action: "key.revoked",
  subject: "CI",
  detail: { lastFour: "x3f9" },
};

const told = (changes: Partial<Activity>) =>
  sentenceOf({ ...entry, ...changes })
    .parts.map((part) => ("text" in part ? part.text : part.name))
    .join("");

test("an entry reads as a sentence", () => {
  assert.equal(told({}), "ann@example.com revoked the key CI (…x3f9)");
  assert.equal(
    told({ action: "key.issued", subject: "Claude", detail: { redirectUri: "https://x.example" } }),
    "ann@example.com connected the app Claude",
  );
  assert.equal(
    told({
      action: "member.role_changed",
      subject: "bob@x.example",
      detail: { from: "viewer", to: "admin" },
    }),
    "ann@example.com changed the role of bob@x.example from viewer to admin",
  );
  assert.equal(
    told({ action: "member.removed", subject: "ann@example.com", detail: { role: "owner" } }),
    "ann@example.com left the workspace",
  );
  assert.equal(
    told({
      actorEmail: null,
      action: "deliveries.resent",
      subject: "https://x.example",
      detail: { count: "12" },
    }),
    "The operator, at the command line, sent 12 deliveries again to https://x.example",
  );
});

test("a detail that is missing leaves a sentence behind", () => {
  assert.equal(told({ detail: {} }), "ann@example.com revoked the key CI");
});

test("names are parts of their own, even when they look like our words", () => {
  const { parts } = sentenceOf({ ...entry, subject: "{=lastFour} and [more]" });
  assert.deepEqual(parts[3], { name: "{=lastFour} and [more]" });
});

test("details that the sentence has no place for are listed, and nothing twice", () => {
  const { rest } = sentenceOf({
    ...entry,
    action: "settings.changed",
    detail: { expiryMinutes: "1440 to 60", reviewCode: "off to on" },
  });
  assert.deepEqual(
    rest.map(({ label, value }) => `${label}: ${value}`),
    ["Default expiry in minutes: 1440 to 60", "Review code: off to on"],
  );
  assert.deepEqual(sentenceOf(entry).rest, []);
});

test("an action that this page does not know is still told", () => {
  const action = "workspace.frozen" as Activity["action"];
  assert.match(told({ action }), /^ann@example\.com workspace\.frozen: CI/);
});
