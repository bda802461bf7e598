import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { charactersPerPiece, piecesOf } from "./text-pieces.ts";

test("the pieces of a text are the text, in sizes that are quick to draw, and cut no character", () => {
  const unit = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\n", " ", "👩‍👩‍👧", "word "),
  );
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 9 }), fc.nat(4_000), (units, times) => {
      const text = units.join("").repeat(times);
      const pieces = piecesOf(text);
      assert.equal(pieces.map((piece) => piece.text).join(""), text);
      for (const piece of pieces) {
        assert.ok(piece.text.length > 0 && piece.text.length <= charactersPerPiece);
        assert.ok(piece.text.isWellFormed() || !text.isWellFormed());
      }
    }),
    { numRuns: 50 },
  );
});

test("a piece ends with a line or a word where it can, and says when it cannot end with a line", () => {
  const line = `${"word ".repeat(15)}\n`;
  assert.ok(piecesOf(line.repeat(1_000)).every(({ isCut }) => !isCut));
  const [first] = piecesOf("word ".repeat(10_000));
  assert.deepEqual([first?.text.endsWith(" "), first?.isCut], [true, true]);
  assert.equal(piecesOf("x".repeat(charactersPerPiece + 1))[0]?.isCut, true);
  assert.deepEqual(piecesOf("short"), [{ text: "short", isCut: false }]);
});
