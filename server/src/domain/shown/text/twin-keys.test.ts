import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLinear } from "../../../../test/linear-time.ts";
import { skeletonOf, twinKeys } from "./twin-keys.ts";

test("names that look alike are twins", () => {
  for (const [one, other] of [
    ["amount", "amount "],
    ["to", " to"],
    ["a b", "a  b"],
    ["a b", "a\u00a0b"],
    ["a b", "a\tb"],
    ["café", "cafe\u0301"],
    ["\u0441\u043e\u0440", "cop"],
    ["\u0422\u041e", "TO"],
    ["\u039d\u039f\u03a4\u0395", "NOTE"],
    ["\u03bf\u03c1", "op"],
    ["id", "ID"],
    ["amount", "am\u200bount"],
    ["amount", "\u200b amount"],
    ["caf\u00e9", "cafe\u200b\u0301"],
    ["amount", "\uff41mount"],
    ["due-date", "due\u2013date"],
    ["line1", "line\u09e7"],
    ["amount", "am\u1d0funt"],
    ["PAY", "\ua4d1\ua4ee\ua4ec"],
    ["amount", "\u{1d44e}mount"],
    ["a/b", "a\u2215b"],
    ["", " "],
    ["user_id", "user id"],
    ["user_id", "user\u00a0id"],
    ["user id", "user\u2009id"],
    ["user_id", "user-id"],
    ["user_id", "User\u2013Id"],
    ["created_at", "created\tat"],
    ["a", `a${" ".repeat(40)}`],
  ] as const) {
    assert.deepEqual(twinKeys([one, "between", other]), [[one, other]]);
  }
});

test("names that differ for the eye are no twins", () => {
  for (const keys of [
    ["id0", "ido"],
    ["a1", "al", "ai"],
    ["rn", "m"],
    ["cafe", "café"],
    ["ab", "a b"],
    ["id", "_id", "__id"],
    ["userid", "user_id"],
    ["сумма", "счёт", "adresse", "Straße"],
    ["👨‍👩‍👧", "👨‍👩‍👦"],
    ["same", "same"],
    ["toString", "__proto__", "constructor"],
  ]) {
    assert.deepEqual(twinKeys(keys), []);
  }
});

test("each further twin is paired with the first", () => {
  assert.deepEqual(twinKeys(["a", "b", "A", "a ", "B"]), [
    ["a", "A"],
    ["a", "a "],
    ["b", "B"],
  ]);
});

test("a skeleton is its own skeleton", () => {
  for (const key of [
    " A\u200b  B ",
    " _a - b_ ",
    "\u0421\u043eP",
    "e\u200b\u0301",
    "\ufdfa",
    "\u0130",
  ]) {
    assert.equal(skeletonOf(skeletonOf(key)), skeletonOf(key));
  }
});

test("many keys and very long keys take time by their length alone", () => {
  const manyOf = (size: number) => Array.from({ length: size }, (_, at) => `Key ${1e6 + at}`);
  const alikeOf = (size: number) =>
    Array.from({ length: size }, (_, at) => `k\u200b${" ".repeat(at % 99)}`);
  const longOf = (size: number) => ["\u200b ".repeat(size), `${"\u200b ".repeat(size)}x`];
  assert.deepEqual(twinKeys([...manyOf(1_000), "key 1000007"]), [["Key 1000007", "key 1000007"]]);
  assert.equal(twinKeys(["k", ...alikeOf(1_000)]).length, 1_000);
  assert.deepEqual(twinKeys(longOf(1_000)), []);
  assertLinear(2 ** 15, manyOf, twinKeys, "many");
  assertLinear(2 ** 13, alikeOf, twinKeys, "alike");
  assertLinear(2 ** 15, longOf, twinKeys, "long");
});
