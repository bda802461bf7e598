import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countValues, rootOf } from "../../../../server/src/domain/json-tree.ts";
import {
  carrySeen,
  countUnseen,
  keyOf,
  openValuesAtFirst,
  seenAlong,
  seenAtFirst,
  seenWhole,
  splitLongText,
  textCharactersAtFirst,
} from "./folding.ts";

test("a small payload is open as a whole", () => {
  const text = '{"a":{"b":[1,2,{"c":[]}]},"d":"x"}';
  assert.equal(countUnseen(text, seenAtFirst(text)), 0);
});

test("what is folded at first is counted to the last value", () => {
  const text = JSON.stringify({
    rows: Array.from({ length: 5_000 }, (_, id) => ({ id, ok: true })),
  });
  const all = countValues(text, rootOf(text));
  assert.equal(countUnseen(text, seenAtFirst(text)), all - openValuesAtFirst);
});

test("after everything was opened nothing is left, for any payload", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      assert.equal(countUnseen(text, seenWhole(text)), 0);
      assert.equal(countUnseen(text, new Map()), countUnseenNaively(value));
    }),
  );
});

test("a payload is never said to be open while a value of it is not", () => {
  const json = fc.jsonValue({ maxDepth: 5 });
  fc.assert(
    fc.property(fc.array(json, { minLength: 60, maxLength: 120 }), (values) => {
      const text = JSON.stringify(values);
      const seen = seenAtFirst(text);
      const shown = [...seen.values()].reduce((sum, count) => sum + count, 0);
      assert.equal(countUnseen(text, seen), countValues(text, rootOf(text)) - shown);
    }),
    { numRuns: 30 },
  );
});

test("the way to a value deep inside is opened as far as it goes", () => {
  const text = '{"list":[0,1,{"deep":"x"}]}';
  assert.deepEqual(seenAlong(text, ["list", 2, "deep"]), [
    [keyOf([]), 1],
    [keyOf(["list"]), 3],
    [keyOf(["list", 2]), 1],
    [keyOf(["list", 2, "deep"]), 1],
  ]);
  assert.deepEqual(seenAlong(text, ["nowhere", 1]), []);
});

test("a long text is folded, and counts as not opened until it was", () => {
  const text = JSON.stringify({ essay: "word ".repeat(1_000) });
  const seen = seenAtFirst(text);
  assert.equal(countUnseen(text, seen), 1);
  seen.set(keyOf(["essay"]), 1);
  assert.equal(countUnseen(text, seen), 0);
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

function countUnseenNaively(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + 1 + countUnseenNaively(each), 0);
}

test("a part that an edit moved into the place of another must be opened again", () => {
  const fields = (name: string) =>
    Object.fromEntries(Array.from({ length: 248 }, (_, at) => [`${name}${at}`, at]));
  const [a, b] = [JSON.stringify(fields("a")), JSON.stringify(fields("b"))];
  const seen = seenAtFirst(`[${a},${b}]`);
  assert.ok(countUnseen(`[${a},${b}]`, seen) > 0);
  assert.equal(countUnseen(`[${b}]`, carrySeen(`[${a},${b}]`, `[${b}]`, seen)), 248);
});

test("what the approver typed, and what stayed where it was, need not be opened again", () => {
  const before = '{"list":[{"a":1},{"b":[1,2]}],"x":{"y":"z"}}';
  const seen = seenWhole(before);
  for (const after of [
    '{"list":[{"a":2},{"b":[1,2]}],"x":{"y":"z"}}',
    '{"list":[{"a":1},{"b":[1,2]}],"x":{"y":{"deep":[1,[2]]}}}',
    '{"list":[{"a":1},{"b":[1,2]},{"more":{"c":[]}}],"x":{"y":"z"}}',
    '{ "list": [ {"a":1}, {"b":[1,2]} ], "x": {"y":"z"}, "new": [[1]] }',
    "[[[1]]]",
  ]) {
    assert.equal(countUnseen(after, carrySeen(before, after, seen)), 0, after);
  }
});

test("an edit never makes anything count as seen that was neither seen nor typed", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(fc.array(json, { maxLength: 6 }), fc.array(json, { maxLength: 6 }), (one, two) => {
      const [before, after] = [JSON.stringify(one), JSON.stringify(two)];
      // Of a document of which only the outline was seen, whatever is neither typed nor outline stays unseen.
      const seen = new Map([[keyOf([]), one.length]]);
      const carried = carrySeen(before, after, seen);
      for (const [at, value] of two.entries()) {
        const isUntouched = JSON.stringify(one[at]) === JSON.stringify(value);
        const isFull = typeof value === "object" && value !== null && Object.keys(value).length > 0;
        if (isUntouched && isFull) assert.equal(carried.has(keyOf([at])), false);
      }
    }),
  );
});

test("names of a megabyte make no long keys", () => {
  const long = "k".repeat(1_000_000);
  assert.ok(keyOf([long, 7]).length < 20);
  assert.equal(keyOf([long, 7]), keyOf([long, 7]));
  assert.notEqual(keyOf([long, 7]), keyOf([`${long}x`, 7]));
  assert.notEqual(keyOf(["a", "b"]), keyOf(['a"/"b']));
});
