import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jsonPartsOf, jsonSegmentsOf, lengthOf } from "./json-escapes.ts";

test("the letter of an escape is no letter of the word behind it", () => {
  const json = '"one\\nПривет\\tмир"';
  assert.deepEqual(jsonSegmentsOf(json), [{ kind: "text", text: json }]);
});

test("what is hidden or mixed in JSON is marked all the same", () => {
  const kinds = jsonSegmentsOf('"\\n\u202ex p\u0430ypal"').map(({ kind }) => kind);
  assert.deepEqual(kinds, ["text", "hidden", "text", "marked", "text"]);
});

test("the segments together are as long as the text, and those of text are its own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      const json = JSON.stringify(value);
      let at = 0;
      for (const segment of jsonSegmentsOf(json)) {
        const from = at;
        at += lengthOf(segment);
        if ("text" in segment) assert.equal(segment.text, json.slice(from, at));
      }
      assert.equal(at, json.length);
    }),
  );
});

test("strings that may run from right to left stand alone, and the pieces together are the text", () => {
  const json = '{"from":["\u05d0\u05d1\u05d9",250000,"\u05d3\u05e0\u05d4"],"a\\"b":"c"}';
  const parts = jsonPartsOf(json);
  assert.equal(parts.map(({ text }) => text).join(""), json);
  assert.deepEqual(
    parts.filter(({ isForeign }) => isForeign).map(({ text }) => text),
    ['"\u05d0\u05d1\u05d9"', '"\u05d3\u05e0\u05d4"'],
  );
  assert.deepEqual(jsonPartsOf('{"a":1}'), [{ text: '{"a":1}', isForeign: false }]);
});
