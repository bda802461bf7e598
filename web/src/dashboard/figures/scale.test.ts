import assert from "node:assert/strict";
import { test } from "node:test";
import { countTicks, durationTicks, labelledAt, numberedAt } from "./scale.ts";

const minute = 60_000;
const hour = 60 * minute;

test("marks of counts are whole, round, begin at zero and reach over every value", () => {
  assert.deepEqual(countTicks(0), [0, 1]);
  assert.deepEqual(countTicks(1), [0, 1]);
  assert.deepEqual(countTicks(3), [0, 1, 2, 3]);
  assert.deepEqual(countTicks(7), [0, 2, 4, 6, 8]);
  assert.deepEqual(countTicks(31), [0, 10, 20, 30, 40]);
  assert.deepEqual(countTicks(1_000), [0, 500, 1_000]);
  for (let max = 0; max < 5_000; max += 7) {
    const ticks = countTicks(max);
    assert.equal(ticks[0], 0);
    assert.ok((ticks.at(-1) ?? 0) >= max && ticks.every(Number.isInteger), `${max}: ${ticks}`);
    assert.ok(ticks.length <= 5, `${max} has ${ticks.length} marks`);
  }
});

test("marks of durations are round for people, not for milliseconds", () => {
  assert.deepEqual(
    durationTicks(50 * minute),
    [0, 15, 30, 45, 60].map((each) => each * minute),
  );
  assert.deepEqual(
    durationTicks(7 * hour),
    [0, 2, 4, 6, 8].map((each) => each * hour),
  );
  assert.deepEqual(durationTicks(0), [0, 1_000]);
  assert.ok((durationTicks(900 * 24 * hour).at(-1) ?? 0) >= 900 * 24 * hour);
});

test("of crowded names some are left out, never the last, and none touches the next", () => {
  const middles = (count: number) => Array.from({ length: count }, (_, at) => at * 10);
  const widths = (count: number, width: number) => Array.from({ length: count }, () => width);
  assert.deepEqual(labelledAt(middles(3), widths(3, 5)), [0, 1, 2]);
  assert.deepEqual(labelledAt(middles(7), widths(7, 30)), [0, 3, 6]);
  assert.deepEqual(labelledAt(middles(8), widths(8, 25)), [1, 4, 7]);
  assert.deepEqual(labelledAt([], []), []);
  // The last one had to move inwards, and its neighbour gives way.
  assert.deepEqual(labelledAt([0, 10, 20, 30, 40, 50, 48], widths(7, 30)), [1, 6]);
});

test("numbers above bars never touch: where they would, only the highest bar has one", () => {
  const middles = [20, 53, 86, 119];
  const narrow = middles.map(() => 22);
  const wide = middles.map(() => 54);
  assert.deepEqual(numberedAt([3, 0, 7, 5], middles, narrow), [0, 2, 3]);
  assert.deepEqual(numberedAt([12_345, 0, 98_765, 45_678], middles, wide), [2]);
  assert.deepEqual(numberedAt([9, 9, 1, 1], middles, wide), [1], "the last of several");
  // Empty bars leave room for their neighbours' numbers.
  assert.deepEqual(numberedAt([12_345, 0, 98_765, 0], middles, wide), [0, 2]);
  assert.deepEqual(numberedAt([0, 0], [10, 20], [30, 30]), []);
});
