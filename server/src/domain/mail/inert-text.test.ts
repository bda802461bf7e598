import assert from "node:assert/strict";
import { test } from "node:test";
import { inertLines, inertPieces, toInertText } from "./inert-text.ts";

test("a lookalike stands as it is written, with a chip behind it that is no link either", () => {
  for (const [text, expected] of [
    ["p\u0430ypal", "p\u0430ypal[only looks like paypal]"],
    ["раураl.com/x", "раураl[.]com[really xn--l-7sba6dbr[.]com]/x"],
    ["https://bücher.de", "https[:]//bücher[.]de[xn--bcher-kva[.]de]"],
    ["ann@пример.рф", "ann[@]пример[.]рф[xn--e1afmkfd[.]xn--p1ai]"],
    ["https://１２７.0.0.1/", "https[:]//１２７[.]0[.]0[.]1[really 127[.]0[.]0[.]1]/"],
    ["p\u0430y\u200Bpal.com", "p\u0430y[only looks like pay][U+200B ZWSP]pal[.]com"],
    ["https://google.com@evil.com", "https[:]//google[.]com[@][goes to evil[.]com]evil[.]com"],
    ["10\u00A0€, می\u200Cخواهم", "10\u00A0€, می\u200Cخواهم"],
    ["আমি ৪০০ টাকা", "আমি ৪০০[reads 400] টাকা"],
  ] as const) {
    assert.equal(toInertText(text), expected);
  }
});

test("the chip is a piece of its own, and lines stay lines", () => {
  assert.deepEqual(inertPieces("to p\u0430ypal"), [
    { kind: "text", text: "to p\u0430ypal" },
    { kind: "chip", text: "[only looks like paypal]" },
  ]);
  assert.deepEqual(inertLines("a\r\nbücher.de\nc"), [
    [{ kind: "text", text: "a" }],
    [
      { kind: "text", text: "bücher[.]de" },
      { kind: "chip", text: "[xn--bcher-kva[.]de]" },
    ],
    [{ kind: "text", text: "c" }],
  ]);
});
