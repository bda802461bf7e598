import assert from "node:assert/strict";
import { test } from "node:test";
import { charactersLike, digitValueOf, plainOf, readingOf } from "./confusables.ts";

test("letters of any alphabet are read as the plain ones they look like", () => {
  for (const [letters, reading] of [
    ["\u0430\u0435\u043E\u0440\u0441\u0443\u0445", "aeopcyx"],
    ["\u0406\u04C0\u04CF", "IIl"],
    ["\u0391\u0392\u0395", "ABE"],
    ["\uA4D1\uA4EE\uA4EC", "PAY"],
    ["\u0251\u0261\u029F\u1D0F", "aglo"],
    ["\u2044\u2215\u2236\uA789", "//::"],
    ["\u{1D6A8}\uFF21\u2160", "AAI"],
  ] as const) {
    assert.equal(readingOf(letters), reading);
  }
  assert.equal(readingOf("Straße, 日本 שלום жж"), "Straße, 日本 שלום жж".replace("\u05D5", "l"));
});

test("plain characters, and those that look like none, have no other reading", () => {
  for (let code = 0; code < 0x80; code += 1) {
    assert.equal(plainOf(String.fromCodePoint(code)), undefined);
  }
  for (const letter of "жéß日ñ") assert.equal(plainOf(letter), undefined);
  for (const plain of ["a", "O", "/"]) assert.ok(charactersLike(plain).length > 5);
});

test("every digit of every script has its value", () => {
  const digits = [...allCharacters()].filter((character) => /\p{Nd}/u.test(character));
  assert.ok(digits.length > 700);
  digits.forEach((digit, at) => {
    assert.equal(digitValueOf(digit), at % 10, digit);
  });
});

function* allCharacters(): Generator<string> {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code);
  }
}
