import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatPath } from "../../../server/src/domain/shown/json-tree.ts";
import { assertRatio } from "../../../server/test/linear-time.ts";
import { words } from "../look/words.ts";
import { pathName, visibleCut } from "./path-name.ts";

test("a short path is named whole, and the root in our own words", () => {
  assert.equal(pathName([]), words.wholePayload);
  for (const path of [["items", 3, "id"], ["odd key", "x"], [0], ["amount "], [""]]) {
    assert.equal(pathName(path), formatPath(path));
  }
});

test("invisible characters in a key are named", () => {
  assert.equal(pathName(["a", "x\u202ey"]), 'a["x[U+202E RLO]y"]');
  assert.equal(pathName(["a\nb\ud800"]), '["a\\nb\\ud800"]');
});

test("a long key is cut in its middle", () => {
  assert.equal(pathName(["k".repeat(1_000)], 20), '["kkkkkkk…kkkkkkk"]');
  const name = pathName(["a", "k".repeat(1_000), "amount"]);
  assert.match(name, /^a\["k+…k+"\]\.amount$/);
});

test("of a deep path its begin and its end are named", () => {
  const path = ["order", ...Array.from({ length: 100 }, (_, at) => `level${at}`), 7, "amount"];
  const name = pathName(path);
  assert.match(name, /^order….*\.level99\[7\]\.amount$/);
  assert.ok(name.length > 70 && name.length <= 80);
});

test("no character is cut in half", () => {
  for (const charactersMax of [20, 21, 22, 23]) {
    assert.doesNotMatch(pathName(["\u{1f600}".repeat(99)], charactersMax), /U\+D|\\ud/);
    assert.doesNotMatch(visibleCut("\u{1f600}".repeat(99), charactersMax), /U\+D/);
  }
});

test("a name is never longer than asked for, and holds nothing hidden", () => {
  const step = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.nat(),
    fc.constantFrom("\uffa0".repeat(300), "аmount", "\u0000".repeat(200)),
  );
  const asked = fc.record({
    path: fc.array(step, { minLength: 1, maxLength: 20 }),
    charactersMax: fc.integer({ min: 20, max: 100 }),
  });
  fc.assert(
    fc.property(asked, ({ path, charactersMax }) => {
      const name = pathName(path, charactersMax);
      assert.ok(name.length <= charactersMax);
      assert.doesNotMatch(name, /[\p{Cc}\p{Cf}\uffa0]/u);
    }),
  );
});

test("the length of keys and the depth cost nothing", () => {
  const name = (levels: number, size: number) => {
    const path = Array.from({ length: levels }, (_, at) => `${at}${"\u200b ".repeat(size)}`);
    return () => {
      for (let round = 0; round < 100; round += 1) pathName(path);
    };
  };
  assertRatio(20, name(8, 500), name(128, 500_000));
});
