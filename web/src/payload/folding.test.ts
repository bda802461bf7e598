import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { outlineOf } from "../../../server/src/domain/shown/json-outline.ts";
import {
  keyOf,
  openAtFirst,
  openValuesAtFirst,
  splitLongText,
  textCharactersAtFirst,
  wayTo,
} from "./folding.ts";

test("a small payload is open as a whole", () => {
  assert.deepEqual(
    [...openAtFirst(outlineOf('{"a":{"b":[1,2,{"c":[]}]},"d":"x"}'))],
    [
      [keyOf([]), 2],
      [keyOf(["a"]), 1],
      [keyOf(["a", "b"]), 3],
      [keyOf(["a", "b", 2]), 1],
    ],
  );
});

test("no more than a few screens are open at first, and the outline before the depths", () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, ok: true }));
  const counts = openAtFirst(outlineOf(JSON.stringify({ rows, last: [1, 2] })));
  const shown = [...counts.values()].reduce((sum, count) => sum + count, 0);
  assert.equal(shown, openValuesAtFirst);
  assert.equal(counts.get(keyOf([])), 2);
  assert.equal(counts.get(keyOf(["rows"])), openValuesAtFirst - 2);
});

test("the way to a value deep inside is opened as far as it goes", () => {
  const outline = outlineOf('{"list":[0,1,{"deep":"x"}]}');
  assert.deepEqual(wayTo(outline, ["list", 2, "deep"]), [
    [keyOf([]), 1],
    [keyOf(["list"]), 3],
    [keyOf(["list", 2]), 1],
  ]);
  assert.deepEqual(wayTo(outline, ["nowhere", 1]), []);
});

test("a text that is long only in what cannot be seen shows its end at once", () => {
  const padded = `a${" ".repeat(50_000)}tail`;
  assert.deepEqual(splitLongText(padded), { start: padded, rest: "" });
});

test("folding cuts no character in two and loses none", () => {
  const emoji = "👩‍👩‍👧 ".repeat(1_500);
  const { start, rest } = splitLongText(emoji);
  assert.equal(start + rest, emoji);
  assert.ok(rest !== "");
  assert.ok(start.isWellFormed() && rest.isWellFormed());
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }), (unit) => {
      const value = unit.repeat(textCharactersAtFirst);
      const parts = splitLongText(value);
      assert.equal(parts.start + parts.rest, value);
      assert.ok(parts.start.isWellFormed());
    }),
    { numRuns: 50 },
  );
});

test("names of a megabyte make no long keys", () => {
  const long = "k".repeat(1_000_000);
  assert.ok(keyOf([long, 7]).length < 20);
  assert.equal(keyOf([long, 7]), keyOf([long, 7]));
  assert.notEqual(keyOf([long, 7]), keyOf([`${long}x`, 7]));
  assert.notEqual(keyOf(["a", "b"]), keyOf(['a"/"b']));
});
