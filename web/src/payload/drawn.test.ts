import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { diffJson } from "../../../server/src/domain/shown/json-diff.ts";
import { nextOf, numberAt } from "../../../server/src/domain/shown/json-outline.ts";
import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import {
  type Drawn,
  drawnAfterEdit,
  isSeen,
  markAllDrawn,
  markDrawn,
  nothingDrawn,
  unseenFrom,
  unseenInside,
} from "./drawn.ts";

function numberOf({ outline }: Drawn, path: JsonPath): number {
  return numberAt(outline, path) ?? assert.fail(`there is no ${JSON.stringify(path)}`);
}

/** As the page does it: `original` is what the agent sent. */
function edited(original: string, before: readonly Drawn[], after: string): Drawn {
  return drawnAfterEdit(after, before, diffJson(original, after));
}

test("nothing is seen before it is drawn, and each value counts once", () => {
  const drawn = nothingDrawn('{"a":[1,{"b":2}],"c":"x"}');
  assert.equal(drawn.unseen, 6);
  for (let times = 0; times < 2; times += 1) markDrawn(drawn, numberOf(drawn, ["a", 1]));
  assert.equal(drawn.unseen, 5);
  assert.equal(unseenInside(drawn, numberOf(drawn, ["a"])), 2);
  assert.equal(unseenFrom(drawn, numberOf(drawn, ["a"]), numberOf(drawn, ["a", 1])), 1);
});

test("a value that is not there cannot be marked", () => {
  const drawn = nothingDrawn("[1]");
  markDrawn(drawn, 7);
  markDrawn(drawn, -1);
  assert.equal(drawn.unseen, 2);
});

const json = fc.jsonValue({ maxDepth: 4 });

test("the number of unseen values is the number of values without a mark, whatever is drawn and edited", () => {
  fc.assert(
    fc.property(
      fc.array(json, { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat()),
      (versions, choices) => {
        const [original = "null", ...edits] = versions.map((value) => JSON.stringify(value));
        let drawn = nothingDrawn(original);
        const drawSome = () => {
          for (let count = 0; count < 5; count += 1) {
            markDrawn(drawn, (choices.next().value ?? 0) % drawn.marks.length);
          }
          assert.equal(drawn.unseen, drawn.marks.filter((mark) => mark === 0).length);
        };
        drawSome();
        for (const edit of edits) {
          drawn = edited(original, [drawn], edit);
          drawSome();
        }
      },
    ),
  );
});

test("after an edit only what was drawn at its place with its text, or was typed, counts as seen", () => {
  fc.assert(
    fc.property(json, json, fc.infiniteStream(fc.boolean()), (one, other, choices) => {
      const [before, after] = [JSON.stringify(one), JSON.stringify(other)];
      const first = nothingDrawn(before);
      first.marks.forEach((_, value) => {
        if (choices.next().value) markDrawn(first, value);
      });
      const drawn = edited(before, [first], after);
      const typed = diffJson(before, after).filter(
        ({ kind }) => kind === "changed" || kind === "added",
      );
      const isTyped = (value: number) =>
        typed.some(({ path }) => {
          const at = numberOf(drawn, path);
          return value >= at && value < nextOf(drawn.outline, at);
        });
      for (const path of pathsOf(other)) {
        const value = numberOf(drawn, path);
        const old = numberAt(first.outline, path);
        const wasDrawn =
          old !== null &&
          isSeen(first, old) &&
          isSameLine(valueAt(one, path), valueAt(other, path));
        assert.equal(isSeen(drawn, value), wasDrawn || isTyped(value), JSON.stringify(path));
      }
    }),
  );
});

function pathsOf(value: unknown): JsonPath[] {
  if (typeof value !== "object" || value === null) return [[]];
  const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [
    [],
    ...steps.flatMap((step) => pathsOf(valueAt(value, [step])).map((path) => [step, ...path])),
  ];
}

function valueAt(value: unknown, path: JsonPath): unknown {
  return path.reduce((at, step) => (at as Record<string | number, unknown>)[step], value);
}

/** A container's own line is its name and its kind; what is in it are other lines. */
function isSameLine(one: unknown, other: unknown): boolean {
  const isBoth = [one, other].every((value) => typeof value === "object" && value !== null);
  return isBoth
    ? Array.isArray(one) === Array.isArray(other)
    : JSON.stringify(one) === JSON.stringify(other);
}

test("a part that an edit moved into the place of another must be drawn again", () => {
  const original = '[{"a":1,"b":2},{"c":3,"d":4}]';
  const drawn = nothingDrawn(original);
  markAllDrawn(drawn);
  const after = edited(original, [drawn], '[{"c":3,"d":4}]');
  assert.equal(after.unseen, 2);
  assert.equal(isSeen(after, numberOf(after, [0, "c"])), false);
});

test("values that the approver typed, or that stayed where they were, need not be drawn again", () => {
  const before = '{"list":[{"a":1},{"b":[1,2]}],"x":{"y":"z"}}';
  const drawn = nothingDrawn(before);
  markAllDrawn(drawn);
  for (const after of [
    '{"list":[{"a":2},{"b":[1,2]}],"x":{"y":"z"}}',
    '{"list":[{"a":1},{"b":[1,2]}],"x":{"y":{"deep":[1,[2]]}}}',
    '{"list":[{"a":1},{"b":[1,2]},{"more":{"c":[]}}],"x":{"y":"z"}}',
    '{ "list": [ {"a":1}, {"b":[1,2]} ], "x": {"y":"z"}, "new": [[1]] }',
    '{"list":[{"a":1},{"b":[1,2]}],"x":{"\\u0079":"\\u007a"}}',
    "[[[1]]]",
  ]) {
    assert.equal(edited(before, [drawn], after).unseen, 0, after);
  }
});

test("an edit that is taken back shows nothing that had not been drawn before it", () => {
  const original = '{"a":1,"tail":"DROP TABLE"}';
  const first = nothingDrawn(original);
  markDrawn(first, 0);
  markDrawn(first, numberOf(first, ["a"]));
  const pasted = edited(original, [first, first], '"mine"');
  assert.equal(pasted.unseen, 0, "all of it was typed");
  const restored = edited(original, [pasted, first], original);
  assert.equal(isSeen(restored, numberOf(restored, ["a"])), true);
  assert.equal(isSeen(restored, numberOf(restored, ["tail"])), false);
});

test("an edit among two million values is carried over in a moment", () => {
  const numbers = Array.from({ length: 1_000_000 }, (_, at) => at % 10);
  const original = JSON.stringify(numbers);
  const drawn = nothingDrawn(original);
  markAllDrawn(drawn);
  const after = edited(original, [drawn], JSON.stringify([...numbers.slice(0, -1), 77]));
  assert.equal(after.unseen, 0);
});
