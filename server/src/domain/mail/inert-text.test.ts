import assert from "node:assert/strict";
import { test } from "node:test";
import { inertLines, inertPieces, toInertText } from "./inert-text.ts";

test("a lookalike stands as it is written, with a chip behind it that is no link either", () => {
  for (const [text, expected] of [
    ["p\u0430ypal", "p\u0430ypal[mixes Latin and Cyrillic]"],
    ["раураl.com/x", "раураl[.]com[really xn--l-7sba6dbr[.]com]/x"],
    ["https://bücher.de", "https[:]//bücher[.]de[really xn--bcher-kva[.]de]"],
    ["ann@пример.рф", "ann[@]пример[.]рф[really xn--e1afmkfd[.]xn--p1ai]"],
    ["https://１２７.0.0.1/", "https[:]//１２７[.]0[.]0[.]1[really 127[.]0[.]0[.]1]/"],
    ["p\u0430y\u200Bpal.com", "p\u0430y[mixes Latin and Cyrillic][U+200B ZWSP]pal[.]com"],
  ] as const) {
    assert.equal(toInertText(text), expected);
  }
});

test("the chip is a piece of its own, and lines stay lines", () => {
  assert.deepEqual(inertPieces("to p\u0430ypal"), [
    { kind: "text", text: "to p\u0430ypal" },
    { kind: "chip", text: "[mixes Latin and Cyrillic]" },
  ]);
  assert.deepEqual(inertLines("a\r\nbücher.de\nc"), [
    [{ kind: "text", text: "a" }],
    [
      { kind: "text", text: "bücher[.]de" },
      { kind: "chip", text: "[really xn--bcher-kva[.]de]" },
    ],
    [{ kind: "text", text: "c" }],
  ]);
});
