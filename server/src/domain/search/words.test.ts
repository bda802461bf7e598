import assert from "node:assert/strict";
import { test } from "node:test";
import { isMatch, termsOf, wordsOf } from "./words.ts";

function finds(typed: string, text: string): boolean {
  const words = wordsOf(text);
  const terms = termsOf(typed);
  return terms.length > 0 && terms.every((term) => isMatch(term, words));
}

test("a text is found by whole words and by their beginnings, in any order and case", () => {
  const text = "Refund (Ärger) for ORDER_1042 — “urgent” C:\\temp";
  for (const typed of [
    "refund",
    "REF",
    "1042 ref",
    "order_10",
    "order-1042",
    "urgent!",
    "c:\\te",
  ]) {
    assert.ok(finds(typed, text), typed);
  }
  for (const typed of ["efund", "rgent", "refund deploy", "042", "!!!", ""]) {
    assert.ok(!finds(typed, text), typed);
  }
});

test("addresses, ids and numbers are found as they are typed, by the beginning of each part", () => {
  for (const typed of [
    "ann.lee@example.com",
    "Ann.Lee@exam",
    "lee@example",
    "example.com",
    "com",
  ]) {
    assert.ok(finds(typed, "to ann.lee@example.com now"), typed);
  }
  assert.ok(!finds("ann@example.com", "ann.lee@example.com"));
  assert.ok(finds("550e8400-e29b", "550e8400-e29b-41d4-a716-446655440000"));
  assert.ok(finds("41d4-a716", "550e8400-e29b-41d4-a716-446655440000"));
  assert.ok(finds("49.00", "49.00"));
  assert.ok(finds("-49.0", "-49.00"));
  assert.ok(!finds("49.00", "49 of 100.00"));
  assert.ok(finds("9007199254740993", "9007199254740993"));
});

test("letters match whatever their accents, width and form", () => {
  for (const [typed, text] of [
    ["muller", "Müller"],
    ["MÜLLER", "Mu\u0308ller"],
    ["strasse", "Straße"],
    ["soren", "Søren"],
    ["ŁUKASZ", "Lukasz"],
    ["aeble", "Æble"],
    ["istanbul", "ıstanbul"],
    ["o'brien", "O’Brien"],
    ["o'br", "Oʼbrien"],
    ["istanbul", "İSTANBUL"],
    ["οδος", "Οδός"],
    ["abc12", "ＡＢＣ１２"],
    ["محمد", "مُحَمَّد"],
    ["محمد", "مـحـمـد"],
    ["서울", "서울특별시"],
    ["москва", "МОСКВА"],
    ["हिन्दी", "हिन्दी भाषा"],
  ] as const) {
    assert.ok(finds(typed, text), typed);
  }
});

test("signs and spaces inside names, ids and numbers may be left out", () => {
  for (const [typed, text] of [
    ["obrien", "O'Brien"],
    ["brien", "O'Brien"],
    ["ord20240017", "ORD-2024-0017"],
    ["johnsmith", "john.smith@example.com"],
    ["1000", "1,000.00"],
    ["49171123", "call +49 171 1234567 now"],
    ["DE893704", "DE89 3704 0044 0532 0130 00"],
    ["89370400", "DE89 3704 0044 0532 0130 00"],
  ] as const) {
    assert.ok(finds(typed, text), typed);
  }
  assert.ok(!finds("49100", "49 of 100.00"));
});

test("signs and spaces may be typed where a number has none, or has others", () => {
  for (const [typed, text] of [
    ["+49 171 123", "call +491711234567 now"],
    ["0171/123-45", "01711234567"],
    ["+49 171 123", "+49 (171) 123-4567"],
    ["ORD-2024-0017", "ORD 2024 0017"],
    ["ORD-2024-0017", "ord20240017"],
    ["ORD 2024 0017", "ORD-2024-0017"],
    ["DE89 3704 0044", "DE89370400440532013000"],
    ["de89-3704-0044", "DE89 3704 0044 0532 0130 00"],
    ["1 000 000", "1000000"],
    ["refund 2024 0017", "Refund of 20240017"],
    ["paid 1042 2024 17", "17 apples, paid in 2024 for 1042"],
  ] as const) {
    assert.ok(finds(typed, text), `${typed} in ${text}`);
  }
  for (const [typed, text] of [
    ["ORD-2024-0017", "INV-2024-0017"],
    ["ORD-2024-0017", "20240017"],
    ["ORD-2024-0017", "0017 of ORD, 2024"],
    ["order 2024 0017", "20240017"],
    ["49.00", "4900"],
    ["1000.50", "100050"],
    ["100 200.50", "100200"],
    ["5 1042", "51042"],
    ["+49 171 123", "+49 171 and 99123"],
  ] as const) {
    assert.ok(!finds(typed, text), `${typed} in ${text}`);
  }
});

test("words at the seams of a long text are found", () => {
  const text = Array.from({ length: 3_000 }, (_, at) => `w${at}x`).join(" ");
  const words = new Set(wordsOf(text));
  for (let at = 0; at < 3_000; at += 1) assert.ok(words.has(`w${at}x`), `w${at}x`);
  for (const long of ["\u{20bb7}".repeat(9_001), `a${"\u{1d400}".repeat(9_000)}`]) {
    assert.ok(wordsOf(long).every((word) => word.isWellFormed()));
  }
});

test("scripts without spaces are found in the middle of a text", () => {
  for (const [typed, text] of [
    ["東京", "請求書：東京都港区"],
    ["京都港", "東京都港区"],
    ["区", "東京都港区"],
    ["ドラえもん", "ドラえもんのぬいぐるみ"],
    ["ﾄﾞﾗ", "ドラえもん"],
    ["客户王小明", "退款给客户王小明，订单1042"],
    ["1042", "订单1042号"],
    ["กรุงเทพ", "ส่งไปกรุงเทพมหานคร"],
    ["tower", "東京tower"],
  ] as const) {
    assert.ok(finds(typed, text), typed);
  }
  assert.ok(!finds("京東", "東京都"));
});

test("invisible characters hide no word", () => {
  assert.ok(finds("mallory", "Mal\u200blo\u00adry"));
  assert.ok(finds("mallory", "\u202eMallory"));
  assert.ok(finds("bob", "ann\u0000bob"));
  assert.ok(finds("bob", "ann\ud800bob".replace("bob", " bob")));
});

test("a text without an end takes time in proportion, and its words have a bounded length", () => {
  const words = wordsOf(`${"a".repeat(1_000)} ${"b.".repeat(30_000)} ${"\u{20bb7}".repeat(1_000)}`);
  assert.ok(words.every((word) => word.length <= 64 && word.isWellFormed()));
});
