import assert from "node:assert/strict";
import { test } from "node:test";
import { type BarRow, groupRows, groupSize, seriesOf, totalOf } from "./series.ts";

function days(count: number): BarRow[] {
  return Array.from({ length: count }, (_, at) => ({
    label: `day ${at + 1}`,
    parts: [
      { name: "approved", value: 2, tone: "good" as const },
      { name: "rejected", value: at % 2, tone: "bad" as const },
    ],
  }));
}

test("parts that share a tone differ in pattern", () => {
  const row: BarRow = {
    label: "today",
    parts: [
      { name: "expired", value: 1, tone: "neutral" },
      { name: "cancelled", value: 2, tone: "neutral" },
      { name: "rejected", value: 3, tone: "bad" },
    ],
  };
  assert.deepEqual(seriesOf([row, row]), [
    { name: "expired", look: { tone: "neutral", variant: 0 }, total: 2 },
    { name: "cancelled", look: { tone: "neutral", variant: 1 }, total: 4 },
    { name: "rejected", look: { tone: "bad", variant: 0 }, total: 6 },
  ]);
});

test("a neutral part beside a good one is not solid, too", () => {
  const good = { name: "approved", value: 1, tone: "good" as const };
  const neutral = { name: "expired", value: 1, tone: "neutral" as const };
  const beside = seriesOf([{ label: "", parts: [good, neutral] }]);
  assert.deepEqual(beside[1]?.look, { tone: "neutral", variant: 1 });
  assert.deepEqual(seriesOf([{ label: "", parts: [neutral] }])[0]?.look.variant, 0);
});

test("days share a bar by the week only where there is no room for each", () => {
  assert.equal(groupSize(30, 30), 1);
  assert.equal(groupSize(90, 42), 7);
  assert.equal(groupSize(90, 10), 14);
  assert.ok(Math.ceil(90 / groupSize(90, 1)) === 1);
});

test("grouping loses nothing, and the newest group is a full one", () => {
  const rows = days(90);
  const groups = groupRows(rows, 7);
  const sum = (list: BarRow[]) => list.reduce((total, row) => total + totalOf(row), 0);
  assert.equal(sum(groups), sum(rows));
  assert.equal(groups.at(-1)?.label, "day 84 – day 90");
  assert.equal(groups[0]?.label, "day 1 – day 6");
  assert.deepEqual(groupRows(rows, 1), rows);
});
