// Runs the table of tricks and of honest texts through the rules, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { honestTexts } from "../../../../e2e/honest-texts.ts";
import { linesOfRules, ordinary, storedOrder, type Trick, wordsOf } from "../../../../e2e/trick.ts";
import { tricks } from "../../../../e2e/tricks-table.ts";
import { mixesDirections } from "../../../../server/src/domain/shown/text/writing-order.ts";
import { words } from "../../look/words.ts";
import { describeFinding, type Sentence } from "./finding-sentences.ts";
import { findingsOf, type ReviewedWords } from "./findings.ts";

/** As it is read: what is quoted stands within the words. */
function said(sentence: Sentence): string {
  return sentence
    .map((part) => {
      if (typeof part === "string") return part;
      return part.quoted.map((one) => ("text" in one ? one.text : one.chip)).join(" ");
    })
    .join("");
}

function toldOf(review: ReviewedWords): string[] {
  return findingsOf(review).flatMap(({ listed }) =>
    listed.map((finding) => said(describeFinding(finding))),
  );
}

function notesOf(payload: unknown): string[] {
  return Object.values(Object(payload)).flatMap((value) =>
    typeof value === "string" && mixesDirections(value) ? [words.order.note] : [],
  );
}

function isTold({ tells }: Trick, told: readonly string[]): boolean {
  return told.some((sentence) =>
    typeof tells === "string" ? sentence === tells : tells.test(sentence),
  );
}

test("the table is long enough to be worth its name", () => {
  assert.ok(tricks.length >= 60);
  assert.ok(honestTexts.length >= 30);
  assert.equal(storedOrder, words.order.note);
  assert.equal(new Set(tricks.map(({ name }) => name)).size, tricks.length);
});

for (const trick of tricks.filter(({ line }) => linesOfRules.includes(line))) {
  test(`${trick.name} is told`, () => {
    const told = toldOf(wordsOf(trick));
    assert.ok(isTold(trick, [...told, ...notesOf(trick.payload)]), JSON.stringify(told));
  });
}

for (const { name, text } of honestTexts) {
  test(`${name} raises no warning`, () => {
    // A byte order mark is one of the whole text.
    const lines = text.replace(/^\uFEFF/, "").split(/[\r\n]+/);
    const payload = JSON.stringify({ value: text, list: [text, ...lines] });
    const prose = { summary: text, reasoning: text, recentActions: [text] };
    assert.deepEqual(toldOf({ ...ordinary, ...prose, payload }), []);
  });
}
