// That a claim about time can fail: work that grows with the square of its input does not pass.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLinear, assertRatio } from "./linear-time.ts";

const sumTo = (count: number) => {
  let sum = 0;
  for (let each = 0; each < count; each += 1) sum = (sum + each) % 1_000_003;
  return sum;
};

test("work that takes time by its length alone passes, and work by its square fails", () => {
  const textOf = (size: number) => "x".repeat(size);
  assertLinear(8_000, textOf, ({ length }) => sumTo(100 * length));
  assert.throws(
    () => assertLinear(8_000, textOf, ({ length }) => sumTo(length ** 2 / 8)),
    /times as long, 3 at most are right/,
  );
});

test("work that takes longer than it may fails", () => {
  assert.throws(
    () =>
      assertRatio(
        2,
        () => sumTo(500_000),
        () => sumTo(2_000_000),
        "four times the work",
      ),
    /times as long, 2 at most are right: four times the work/,
  );
});

test("work that is compared with what is not compiled yet fails all the same", () => {
  let runs = 0;
  const compiledLate = () => {
    runs += 1;
    return sumTo(runs < 5 ? 2_000_000 : 250_000);
  };
  assert.throws(
    () => assertRatio(3, compiledLate, () => sumTo(2_000_000)),
    /times as long, 3 at most are right/,
  );
});
