import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../../../test/linear-time.ts";
import {
  hasRightToLeft,
  isMainlyRightToLeft,
  isPath,
  mixesDirections,
  numbersIn,
  piecesInOrder,
} from "./writing-order.ts";

function cut(text: string): string[] {
  return piecesInOrder(text).map(({ text: part, direction }) =>
    direction === null ? part : `<${direction} ${part}>`,
  );
}

test("words that run from right to left stand alone, and digits, signs and Latin letters between them", () => {
  assert.deepEqual(cut("100 אב גד 250/הו.txt"), [
    "100 ",
    "<rtl אב גד>",
    " 250/",
    "<rtl הו>",
    ".txt",
  ]);
  assert.deepEqual(cut("شراء ١٢٫٥، ٣٤؟"), [
    "<rtl شراء>",
    " ",
    "<ltr ١٢٫٥>",
    "<rtl ،>",
    " ",
    "<ltr ٣٤>",
    "<rtl ؟>",
  ]);
  assert.deepEqual(cut("שָׁלוֹם"), ["<rtl שָׁלוֹם>"]);
  assert.deepEqual(cut("می\u200Cخواهم"), ["<rtl می\u200Cخواهم>"]);
  assert.deepEqual(cut("plain 日本"), ["plain 日本"]);
});

test("no piece without a direction holds a letter that runs the other way", () => {
  const mixed = fc.array(
    fc.constantFrom(
      "א",
      "ב",
      "ش",
      "؟",
      "،",
      "٣",
      "۴",
      "1",
      "a",
      "/",
      " ",
      ".",
      "\u05B0",
      "\u{1E900}",
      "\u{10D30}",
    ),
  );
  fc.assert(
    fc.property(mixed, (parts) => {
      const text = parts.join("");
      const pieces = piecesInOrder(text);
      assert.equal(pieces.map((part) => part.text).join(""), text);
      for (const { text: part, direction } of pieces) {
        if (direction === null) assert.doesNotMatch(part, /[אבش؟،٣\u{1E900}\u{10D30}]/u);
        if (direction === "rtl") assert.doesNotMatch(part, /[0-9a-z/.٣۴]/);
      }
    }),
  );
});

test("a value is said to be mixed when something in it could be moved", () => {
  for (const text of ["אב 12", "a/אב", "אב, גד", "١٢ شراء"]) assert.ok(mixesDirections(text), text);
  for (const text of ["אב גד", "12", "שָׁלוֹם", ""]) assert.ok(!mixesDirections(text), text);
  assert.ok(hasRightToLeft("x א") && !hasRightToLeft("x 日本 ١"));
});

test("prose runs the way most of its letters do, whatever it begins with", () => {
  assert.ok(isMainlyRightToLeft("ادفع 120.50 إلى Acme (فاتورة 7)!"));
  assert.ok(!isMainlyRightToLeft("א Pay 100 to Bob, 5 to Eve"));
  assert.ok(isMainlyRightToLeft("שלמו ב-5 עד https://google.com/a/b/c"));
  assert.ok(!isMainlyRightToLeft("12 / 5"));
});

test("numbers and paths in prose are found as a whole", () => {
  const tokens = (text: string) =>
    numbersIn(text)
      .filter(({ isToken }) => isToken)
      .map((part) => part.text);
  assert.deepEqual(tokens("ב-5, ₪120.50 או -7% ו١٢٫٥"), ["5", "₪120.50", "-7%", "١٢٫٥"]);
  for (const token of ["a/אב/5", "ann@x.de", "אב.com", "C:\\א", "12:30"]) assert.ok(isPath(token));
  for (const token of ["שלום,", "(אב)", "5,000", "ב-5"]) assert.ok(!isPath(token), token);
});

test("long texts take time by their length alone", () => {
  for (const part of ["א", "א ", "א1", "/א", "٣ ", "؟"]) {
    const textOf = (size: number) => part.repeat(size / part.length);
    const look = (text: string) => {
      piecesInOrder(text);
      numbersIn(text);
      isMainlyRightToLeft(text);
    };
    assertLinear(2 ** 16, textOf, look, part);
  }
});
