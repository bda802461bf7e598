import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jsonSegmentsOf, lengthOf } from "./json-escapes.ts";

test("the letter of an escape is no letter of the word behind it", () => {
  const json = '"one\\nПривет\\tмир"';
  assert.deepEqual(jsonSegmentsOf(json), [{ kind: "text", text: json }]);
});

test("what is hidden or mixed in JSON is marked all the same", () => {
  const kinds = jsonSegmentsOf('"\\n\u202ex p\u0430ypal"').map(({ kind }) => kind);
  assert.deepEqual(kinds, ["text", "hidden", "text", "mixed", "text"]);
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
