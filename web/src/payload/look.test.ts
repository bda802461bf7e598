import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { groupedDigits } from "./look.ts";

test("a long number is shown in groups", () => {
  assert.equal(groupedDigits("1248000.00"), "1,248,000.00");
  assert.equal(groupedDigits("-99999"), "-99,999");
  assert.equal(groupedDigits("9007199254740993"), "9,007,199,254,740,993");
  assert.equal(groupedDigits("12345.67890"), "12,345.67890");
});

test("a text that is no plain decimal number of five digits is left alone", () => {
  for (const text of [
    ...["1234", "1234.56789", "0.00001", "0012345", "00000", "-012345", "0"],
    ...["1E400", "1248000e2", "12345.", ".12345", "12345.6.7", "12,345", "12 345"],
    ...["+12345", "--12345", "-+12345", "12345-", "1-23456", "", " 12345", "12345\n"],
    ...["\u0661\u0662\u0663\u0664\u0665", "12345\u200b", "12345 EUR", "9".repeat(31)],
  ]) {
    assert.equal(groupedDigits(text), null, JSON.stringify(text));
  }
});

test("without its commas it is the number itself", () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.option(fc.nat()), (whole, fraction) => {
      const text = fraction === null ? `${whole}` : `${whole}.${fraction}`;
      const grouped = groupedDigits(text);
      if (grouped === null) return;
      assert.equal(grouped.replaceAll(",", ""), text);
      assert.match(grouped, /^-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/);
    }),
  );
});
