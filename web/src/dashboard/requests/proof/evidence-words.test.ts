import assert from "node:assert/strict";
import { test } from "node:test";
import { openWords, shortened, wayInWords } from "./evidence-words.ts";

test("the way in is told in words, and one that the page doesn't know by its name", () => {
  assert.equal(wayInWords(["mail", "code"]), "Link in the mail, code from the mail");
  assert.equal(wayInWords(["session", "passkey"]), "Signed in, passkey");
  assert.equal(wayInWords(["telepathy" as "mail"]), "telepathy");
});

test("a time that nobody measured is not told as no time", () => {
  assert.equal(openWords(null), "Not known");
  assert.equal(openWords(42_000), "42\u00a0s");
});

test("a digest is shortened, and a short name is not", () => {
  assert.equal(shortened("abcdefghijklmnop"), "abcdefghijkl…");
  assert.equal(shortened("abc123"), "abc123");
});
