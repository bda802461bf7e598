import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jsonSegmentsOf, lengthOf } from "./json-escapes.ts";

test("the letter of an escape is no letter of the word behind it", () => {
  const json = '"one\\nПривет\\tмир"';
  assert.deepEqual(jsonSegmentsOf(json), [{ kind: "text", text: json }]);
});

test("hidden or mixed characters in JSON are marked all the same", () => {
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

test("each string is looked at alone, whatever stands in the others", () => {
  const kindsOf = (json: string) =>
    jsonSegmentsOf(json).flatMap((segment) => (segment.kind === "marked" ? [segment.text] : []));
  assert.deepEqual(kindsOf('{"a":"\u0441\u043e\u0440","b":"\u0436\u0436"}'), [
    "\u0441\u043e\u0440",
  ]);
  assert.deepEqual(
    jsonSegmentsOf('{"a":"\u00a0x"}').map(({ kind }) => kind),
    ["text", "hidden", "text"],
  );
  const broken = '{"a":"b\\';
  assert.deepEqual(jsonSegmentsOf(broken), [{ kind: "text", text: broken }]);
});
