import assert from "node:assert/strict";
import { test } from "node:test";
import { tabTitle } from "./tab-title.ts";

test("a short summary is the title, on one line", () => {
  assert.equal(tabTitle("Refund order 1042\n(49.00 EUR)\n"), "“Refund order 1042 (49.00 EUR)”");
});

test("a long one is cut behind a word, and never longer than 60 characters", () => {
  const title = tabTitle(
    "Delete every customer of the region north who has not ordered since 2019",
  );
  assert.equal(title, "“Delete every customer of the region north who has not…”");
  assert.equal([...tabTitle("x".repeat(500))].length, 60);
  assert.equal([...tabTitle("𝒜 ".repeat(500))].length <= 60, true);
});

test("invisible characters are named in the title, too", () => {
  assert.equal(tabTitle("Pay \u202eeno"), "“Pay [U+202E RLO]eno”");
});
