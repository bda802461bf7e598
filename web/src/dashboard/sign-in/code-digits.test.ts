// Tests of the code as people type and paste it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toCodeDigits } from "./code-digits.ts";

test("blanks, dashes and words around a pasted code are left out", () => {
  assert.equal(toCodeDigits(" 123 456\n"), "123456");
  assert.equal(toCodeDigits("123-456"), "123456");
  assert.equal(toCodeDigits("Your code: 123456."), "123456");
});

test("no more than six digits are taken", () => {
  assert.equal(toCodeDigits("12345678"), "123456");
  assert.equal(toCodeDigits("abc"), "");
});
