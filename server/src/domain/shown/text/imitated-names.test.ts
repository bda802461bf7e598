import assert from "node:assert/strict";
import { test } from "node:test";
import { imitationIn } from "./imitated-names.ts";

const trusted = {
  workspaceName: "Acme Shop",
  groupName: "Finance",
  reviewerEmail: "ann@example.com",
};

test("a name that looks like ours, the workspace's, the group's or the approver's is found", () => {
  for (const [name, of] of [
    ["Countersign", "product"],
    ["countersign security", "product"],
    ["C\u043Eunter\u0455ign", "product"],
    ["C0unters1gn", "product"],
    ["Counter-Sign", "product"],
    ["Counte\u200Brsign", "product"],
    [
      "\u{1D402}\u{1D428}\u{1D42E}\u{1D427}\u{1D42D}\u{1D41E}\u{1D42B}\u{1D42C}\u{1D422}\u{1D420}\u{1D427}",
      "product",
    ],
    ["Cóuntersign", "product"],
    ["Countersiɡn", "product"],
    ["ACME-SHOP", "workspace"],
    ["Acm\u0435 Shop", "workspace"],
    ["finance", "group"],
    ["F\u0456nance", "group"],
    ["ann@example.com", "approver"],
    ["on behalf of Ann@Example.com", "approver"],
  ] as const) {
    assert.equal(imitationIn(name, trusted)?.of, of, name);
  }
});

test("an agent that is named after its company or its work is no imitation", () => {
  for (const name of [
    "Acme refund bot",
    "Acme Shop payer",
    "finance-bot",
    "ann",
    "payer",
    "counter",
    "sign-off",
    "",
  ]) {
    assert.equal(imitationIn(name, trusted), null, name);
  }
  assert.equal(imitationIn("payer", {}), null);
});
