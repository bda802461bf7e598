import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../../../server/test/linear-time.ts";
import { leadingValues } from "./leading-values.ts";

test("the first simple values come in the order of the text, with their paths and digits", () => {
  const { values, more } = leadingValues('{"b":1.0,"a":{"x":[true,{}]},"2":"t","1":null}', 4);
  assert.deepEqual(values, [
    { path: ["b"], text: "1.0" },
    { path: ["a", "x", 0], text: "true" },
    { path: ["a", "x", 1], text: "{}" },
    { path: ["2"], text: '"t"' },
  ]);
  assert.equal(more, 1);
});

test("a payload that is one value, or empty, is that value", () => {
  for (const text of ["1", '"a"', "{}", "[ ]", "null"]) {
    assert.deepEqual(leadingValues(` ${text} `, 3), { values: [{ path: [], text }], more: 0 });
  }
});

test("those listed and those counted are all simple values, for any payload", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(8), (value, max) => {
      const { values, more } = leadingValues(JSON.stringify(value, null, 1), max);
      assert.equal(values.length + more, countSimple(value));
      assert.ok(values.length <= max || (max === 0 && values.length === 0));
    }),
  );
});

function countSimple(value: unknown): number {
  const inside = typeof value === "object" && value !== null ? Object.values(value) : [];
  return inside.length === 0 ? 1 : inside.reduce((sum: number, one) => sum + countSimple(one), 0);
}

test("values at a depth of a hundred take time by their length alone", () => {
  const textOf = (size: number) => `${"[".repeat(100)}${"1,".repeat(size)}1${"]".repeat(100)}`;
  const size = 2 ** 16;
  assert.equal(leadingValues(textOf(size), 6).more, size + 1 - 6);
  assertLinear(size, textOf, (text) => leadingValues(text, 6));
});
