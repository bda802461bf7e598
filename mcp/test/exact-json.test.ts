import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseExactly } from "../src/exact-json.ts";

test("whatever JSON.stringify writes is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.equal(JSON.stringify(parseExactly(text)), JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("a number that a double cannot hold, or JSON.stringify not write, is written again as it was", () => {
  for (const number of [
    "9007199254740993",
    "-9007199254740993",
    "0.1234567890123456789",
    "1e400",
    "-1E+999",
    "1e-400",
    "123456789012345678901234567890",
    "-0",
    "-0.0",
    "-0e3",
  ]) {
    const text = `{"a":[${number},"${number}"],"__proto__":${number}}`;
    assert.equal(JSON.stringify(parseExactly(text)), text);
    assert.equal(JSON.stringify(parseExactly(number)), number);
  }
});

test("a number that a double holds stays a number, however it was written", () => {
  for (const [text, value] of [
    ["50.0", 50],
    ["5e1", 50],
    ["0.50", 0.5],
    ["1.0000000000000000000", 1],
    ["1000000000000000000000", 1e21],
    ["0.000000000000000000000", 0],
    ["0e999", 0],
    ["123456789012345", 123456789012345],
  ] as const) {
    assert.equal(parseExactly(text), value);
  }
});

test("text that is no JSON is refused", () => {
  for (const text of [
    "",
    "{",
    "01",
    "1.",
    "1e",
    "-",
    "1-1",
    "[1 2]",
    '"a',
    "9007199254740993x",
    "00000000000000000000",
  ]) {
    assert.throws(() => parseExactly(text), SyntaxError, text);
  }
});

test("the longest texts are read in one pass, whatever they are made of", () => {
  const many = 2_000_000;
  const digits = "1".repeat(many);
  assert.equal(JSON.stringify(parseExactly(digits)), digits);
  assert.equal(parseExactly(`"${'\\"'.repeat(many)}"`), '"'.repeat(many));
  const long = `["${"x".repeat(2 * many)}",9007199254740993]`;
  assert.equal(JSON.stringify(parseExactly(long)), long);
  assert.throws(() => parseExactly(`"${'\\"'.repeat(many)}`), SyntaxError);
  assert.throws(() => parseExactly('"'.repeat(many + 1)), SyntaxError);
  assert.throws(() => parseExactly("-".repeat(many)), SyntaxError);
});
