import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type Keyring, parseKeyring } from "./keyring.ts";
import { deriveReviewCode, formatReviewCode, normaliseReviewCode } from "./review-code.ts";
import { deriveReviewToken } from "./review-link.ts";

const keyOf = (byte: number) =>
  (parseKeyring(Buffer.alloc(32, byte).toString("base64")) as Keyring).current;
const key = keyOf(7);

function nonceOf(n: number): Buffer {
  return createHash("sha256").update(String(n)).digest().subarray(0, 16);
}

test("a code is six characters that spell nothing and are not taken for each other", () => {
  for (let n = 0; n < 2_000; n += 1) {
    assert.match(deriveReviewCode(key, nonceOf(n)), /^[B-DF-HJKMNP-TV-XZ34679]{6}$/);
  }
});

test("the same key and nonce give the same code, on every machine and in every version", () => {
  assert.equal(deriveReviewCode(key, nonceOf(1)), "QBKTCD");
  assert.equal(deriveReviewCode(keyOf(7), nonceOf(1)), "QBKTCD");
  assert.notEqual(deriveReviewCode(keyOf(8), nonceOf(1)), "QBKTCD");
  assert.notEqual(deriveReviewCode(key, nonceOf(2)), "QBKTCD");
});

test("every character is as likely as any other, in every place", () => {
  const count = 24_000;
  const places = Array.from({ length: 6 }, () => new Map<string, number>());
  for (let n = 0; n < count; n += 1) {
    [...deriveReviewCode(key, nonceOf(n))].forEach((character, place) => {
      places[place]?.set(character, (places[place].get(character) ?? 0) + 1);
    });
  }
  for (const place of places) {
    assert.equal(place.size, 24);
    // A thousand each are expected; six standard deviations are 186.
    for (const [character, times] of place) assert.ok(Math.abs(times - 1_000) < 190, character);
  }
});

test("the link does not hold its code: who has one cannot work out the other", () => {
  const alphabet = "BCDFGHJKMNPQRSTVWXZ34679";
  for (let n = 0; n < 20; n += 1) {
    const token = Buffer.from(deriveReviewToken(key, nonceOf(n)), "base64url");
    const fromToken = alphabet.charAt(Number(token.readBigUInt64BE() % 24n ** 6n) % 24);
    if (!deriveReviewCode(key, nonceOf(n)).startsWith(fromToken)) return;
  }
  assert.fail("both are derived from the same bytes");
});

test("it is printed in two halves, and typed in any way that a person may read it", () => {
  assert.equal(formatReviewCode("BCDFGH"), "BCD-FGH");
  for (const typed of [
    "BCDFGH",
    "bcdfgh",
    "BCD-FGH",
    " bcd fgh\n",
    "B C D - F G H",
    "bcd\u2011fgh",
    "BCD\u2013FGH",
    "BCD\u00A0FGH",
  ]) {
    assert.equal(normaliseReviewCode(typed), "BCDFGH", JSON.stringify(typed));
  }
  assert.equal(normaliseReviewCode(""), "");
  assert.notEqual(normaliseReviewCode("BCD_FGH"), "BCDFGH");
});

test("whatever is printed is read back", () => {
  for (let n = 0; n < 100; n += 1) {
    const code = deriveReviewCode(key, nonceOf(n));
    assert.equal(normaliseReviewCode(formatReviewCode(code).toLowerCase()), code);
  }
});
