import assert from "node:assert/strict";
import { test } from "node:test";
import { changeBetween, offsetAfterFormatting } from "./text-change.ts";

function applied(before: string, after: string): string {
  const { from, to, insert } = changeBetween(before, after);
  return before.slice(0, from) + insert + before.slice(to);
}

test("a change spans only the stretch that differs", () => {
  assert.deepEqual(changeBetween('{"a":1}', '{"a":25}'), { from: 5, to: 6, insert: "25" });
  assert.deepEqual(changeBetween("aaa", "aa"), { from: 2, to: 3, insert: "" });
  assert.deepEqual(changeBetween("same", "same"), { from: 4, to: 4, insert: "" });
});

test("a change leads from each text to each other", () => {
  const texts = ["", "a", "aa", "ab", "ba", "aba", '{"a":1}', '{ "a" : 1 }', "\ud83d\ude00"];
  for (const before of texts) {
    for (const after of texts) assert.equal(applied(before, after), after);
  }
});

test("an offset stays behind the character that it stood behind", () => {
  const before = '{"a":[1,2],"b c":"x  y"}';
  const after = '{\n  "a": [\n    1,\n    2\n  ],\n  "b c": "x  y"\n}';
  for (let offset = 1; offset <= before.length; offset += 1) {
    const found = offsetAfterFormatting(before, after, offset) ?? 0;
    assert.equal(after[found - 1], before[offset - 1], `offset ${offset}`);
    assert.equal(
      after.slice(0, found).replaceAll(/\s/g, ""),
      before.slice(0, offset).replaceAll(" ", ""),
    );
  }
  assert.equal(offsetAfterFormatting(before, after, 0), 0);
});

test("an offset within white space that goes away lands between the same tokens", () => {
  assert.equal(offsetAfterFormatting("[ \r\n\t 1 ]", "[1]", 3), 1);
  assert.equal(offsetAfterFormatting("[ \r\n\t 1 ]", "[1]", 8), 2);
  assert.equal(offsetAfterFormatting("  {}", "{}", 1), 0);
});

test("a formatted text that differs in more than white space is refused", () => {
  assert.equal(offsetAfterFormatting('{"a":1}', '{ "a": 2 }', 0), null);
  assert.equal(offsetAfterFormatting("[1.0]", "[1]", 0), null);
  assert.equal(offsetAfterFormatting("[1]", "[1,2]", 0), null);
  assert.equal(offsetAfterFormatting("[1,2]", "[1", 0), null);
});
