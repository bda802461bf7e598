import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryOf } from "./check-words.ts";

const [right, wrong, open] = [{ state: "right" }, { state: "wrong" }, { state: "open" }] as const;

test("one line that differs outweighs all that fit", () => {
  assert.match(summaryOf([right, right, wrong, open]), /^1 line of 4 doesn’t fit: don’t rely/);
});

test("what could not be checked is never told as checked", () => {
  assert.equal(
    summaryOf([right, right, open]),
    "2 lines were checked, and nothing differs. 1 line could not be checked: read why below.",
  );
  assert.equal(summaryOf([open]), "Nothing could be checked.");
  assert.equal(summaryOf([]), "Nothing could be checked.");
});
