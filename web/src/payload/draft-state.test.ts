import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeDraft, mistakeIn } from "./draft-state.ts";

test("a change of white space alone is no edit", () => {
  assert.deepEqual(judgeDraft('{"a":[1,2]}', '{\n  "a": [1, 2]\n}\n'), { kind: "unchanged" });
});

test("false, 0, empty text, list and object are edits", () => {
  for (const edit of ["false", "0", '""', "[]", "{}"]) {
    assert.equal(judgeDraft('{"a":1}', edit).kind, "changed", edit);
  }
});

test("an edit to null is refused with the reason", () => {
  const state = judgeDraft('{"a":1}', " null\n");
  assert.ok(state.kind === "refused" && /null means “not edited”/.test(state.mistake.message));
});

test("broken JSON is refused with the place of the mistake", () => {
  const state = judgeDraft('{"a":1}', '{"a":1,\n"b" 2}');
  assert.ok(state.kind === "refused");
  assert.match(state.mistake.message, /^Line 2, column 5: /);
  assert.equal(state.mistake.at, 12);
  assert.deepEqual(mistakeIn("")?.at, 0);
});

test("a key that is there twice is refused, however it is spelled and wherever it stands", () => {
  const mistake = mistakeIn('{"list":[{"a":1,"\\u0061":2}]}');
  assert.match(mistake?.message ?? "", /list\[0\]\.a is there twice/);
});

test("the numbers that programs round are compared digit by digit", () => {
  assert.equal(judgeDraft("9007199254740993", "9007199254740992").kind, "changed");
  assert.equal(judgeDraft("1.0", "1").kind, "changed");
});
