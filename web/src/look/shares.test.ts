import assert from "node:assert/strict";
import { test } from "node:test";
import { describeCount, describeShare, percentagesOf } from "./shares.ts";

test("shares add up to 100, whatever is divided", () => {
  assert.deepEqual(percentagesOf([1, 1, 1]), [34, 33, 33]);
  assert.deepEqual(percentagesOf([2, 1]), [67, 33]);
  assert.deepEqual(percentagesOf([5]), [100]);
  for (let seed = 1; seed < 300; seed++) {
    const values = [seed % 7, (seed * 13) % 101, (seed * 29) % 17, seed];
    const sum = percentagesOf(values).reduce((a, b) => a + b, 0);
    assert.equal(sum, 100, `${values} add up to ${sum}`);
  }
});

test("nothing has no shares", () => {
  assert.deepEqual(percentagesOf([0, 0]), [0, 0]);
  assert.deepEqual(percentagesOf([]), []);
});

test("a part that is nothing stays nothing, and no share is off by a whole per cent", () => {
  const values = [997, 1, 1, 1, 0];
  const total = 1_000;
  const shares = percentagesOf(values);
  assert.equal(shares.at(-1), 0);
  for (const [at, share] of shares.entries()) {
    assert.ok(Math.abs(share - ((values[at] ?? 0) / total) * 100) < 1);
  }
});

test("a small part does not read as nothing, nor a large one as all", () => {
  assert.equal(describeShare(0, 1, 1_000), "<1%");
  assert.equal(describeShare(100, 999, 1_000), ">99%");
  assert.equal(describeShare(0, 0, 1_000), "0%");
  assert.equal(describeShare(100, 5, 5), "100%");
});

test("large counts are grouped", () => {
  assert.equal(describeCount(0), "0");
  assert.equal(describeCount(1_234_567), "1,234,567");
});
