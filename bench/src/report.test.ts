// The table for the terminal, and how numbers and targets are written.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  farRatio,
  figures,
  freeRatio,
  metRatio,
  metValue,
  missedRatio,
  missedValue,
} from "./example-figures.ts";
import {
  groupsOf,
  labelOf,
  numberText,
  oursText,
  ratioText,
  stateText,
  tableOf,
  targetText,
} from "./report.ts";

test("the table has a line for each figure, beneath its work", () => {
  const lines = tableOf(figures).split("\n");
  assert.match(lines[0] ?? "", /ours +spread +p50\/p99 ms +ceiling +ratio +spread +target$/);
  const heading = lines.indexOf("create, against pgbench");
  assert.match(
    lines[heading + 1] ?? "",
    /^ {2}64 clients +9,000\/s +8,000–10,000 +7\.04\/21\.3 +10,000\/s +0\.90 +0\.80–1\.00 +≥ 0\.8 × +met$/,
  );
  assert.match(lines[heading + 2] ?? "", /0\.7996 .* NOT MET$/);
  assert.match(lines[heading + 3] ?? "", /^ {2}16 clients .* 0\.80–1\.00$/);
});

test("the last line counts the targets and names those that are missed", () => {
  assert.equal(
    tableOf(figures).split("\n").at(-1),
    "3 of 5 targets met; NOT MET: create, 256 clients; expiry, 100,000 due at once, while others create.",
  );
  assert.equal(tableOf([metRatio]).split("\n").at(-1), "1 of 1 targets met.");
});

test("the table fits a terminal of 120 columns, and a long name stands above its figures", () => {
  const long = { ...metRatio, variant: "a name that goes on and on ".repeat(3).trim() };
  const lines = tableOf([...figures, long]).split("\n");
  const tooLong = lines.slice(0, -1).filter((line) => line.length > 120);
  assert.deepEqual(tooLong, []);
  const at = lines.indexOf(`  ${long.variant}`);
  assert.match(lines[at + 1] ?? "", /^ +9,000\/s .* met$/);
});

test("columns of which nothing is known are left out", () => {
  assert.doesNotMatch(tableOf([metValue]), /ceiling|ratio|p50/);
});

test("a missed target is never written as if it were met", () => {
  assert.equal(ratioText(missedRatio), "0.7996 ×");
  assert.equal(oursText({ ...metValue, ours: [120.04] }), "120.04 MB");
  assert.equal(ratioText(metRatio), "0.90 ×");
});

test("a target says its side and unit, and its state is a word", () => {
  assert.equal(targetText(metRatio.target, "per second"), "≥ 0.8 ×");
  assert.equal(targetText(metValue.target, "MB"), "≤ 120 MB");
  assert.equal(targetText(missedValue.target, "per second"), "≥ 5,000/s");
  const states = [metRatio, missedRatio, freeRatio].map(stateText);
  assert.deepEqual(states, ["met", "NOT MET", ""]);
});

test("numbers have about three digits, and what was not measured has none", () => {
  const shown = [12_345.6, 96.04, 7.042, 0.4, 0.0123, 0].map((value) => numberText(value));
  assert.deepEqual(shown, ["12,346", "96.0", "7.04", "0.40", "0.012", "0"]);
  assert.equal(numberText(Number.NaN), "–");
});

test("a group says once what its lines are measured against, and a line says so where it differs", () => {
  const [group] = groupsOf([metRatio, missedRatio, { ...farRatio, work: "create" }]);
  assert.ok(group !== undefined);
  assert.equal(group.against, "pgbench");
  assert.deepEqual(
    group.figures.map((figure) => labelOf(figure, group)),
    ["64 clients", "256 clients", "4 clients, against Peer & <sons>"],
  );
});
