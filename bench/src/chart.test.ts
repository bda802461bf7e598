// The chart: well-formed, by itself, and saying in words what it shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chartOf } from "./chart.ts";
import {
  farRatio,
  figures,
  freeRatio,
  freeValue,
  metRatio,
  metValue,
  missedRatio,
} from "./example-figures.ts";

test("the chart is an image with a title and a description of what it shows", () => {
  const svg = chartOf(figures, "A run");
  assert.match(
    svg,
    /^<svg xmlns="[^"]+" width="440" [^>]*role="img" aria-labelledby="title description">/,
  );
  assert.match(svg, /<title id="title">Measured against the ceiling: 3 of 5 targets met<\/title>/);
  const [, description = ""] = /<desc id="description">(.*)<\/desc>/.exec(svg) ?? [];
  assert.match(description, /create, 64 clients: 0\.90 × pgbench \(target ≥ 0\.8 ×: met\)\./);
  assert.match(
    description,
    /create, 256 clients: 0\.7996 × pgbench \(target ≥ 0\.8 ×: NOT MET\)\./,
  );
  assert.match(description, /memory, idle: 96\.0 MB \(target ≤ 120 MB: met\)\./);
});

test("it needs nothing from elsewhere, runs nothing, and follows light and dark", () => {
  const svg = chartOf(figures, "A run");
  const withoutNamespace = svg.replace(' xmlns="http://www.w3.org/2000/svg"', "");
  assert.doesNotMatch(withoutNamespace, /https?:|<script|@import|url\(|href| on[a-z]+=/);
  assert.match(svg, /@media \(prefers-color-scheme: dark\)/);
});

test("every element is closed, whatever names are measured", () => {
  const svg = chartOf(figures, `A "run" & <more>`);
  const open: string[] = [];
  for (const [, slash, name = "", end] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (slash === "/") assert.equal(open.pop(), name);
    else if (end !== "/") open.push(name);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(svg, /NaN|Infinity|undefined|&(?!#\d+;)/);
});

test("a missed target is told by shape and word, not by colour alone", () => {
  const rowOf = (svg: string) => /<g class="(met|missed|free)">.*<\/g>/g.exec(svg)?.[0] ?? "";
  const [met, missed] = [metRatio, missedRatio].map((figure) => rowOf(chartOf([figure], "")));
  assert.match(met ?? "", /<circle class="mark"/);
  assert.match(missed ?? "", /<path class="mark".*not met/);
  assert.doesNotMatch(met ?? "", /not met/);
});

test("every ratio has its row, every value with a target too, and no other value", () => {
  const rows = (shown: typeof figures) =>
    chartOf(shown, "").match(/<g class="(met|missed|free)">/g)?.length ?? 0;
  assert.equal(rows(figures), 6);
  assert.equal(rows([freeRatio]), 1);
  assert.equal(rows([freeValue]), 0);
  assert.equal(rows([{ ...metRatio, target: metValue.target }]), 2);
});

test("what lies beyond the scale stays within the picture", () => {
  const svg = chartOf(
    [farRatio, { ...metValue, ours: [9_999] }, { ...metRatio, ours: [0, 0, 0] }],
    "",
  );
  const places = [...svg.matchAll(/ (?:x|cx)="(-?[\d.]+)"/g)].map(([, x]) => Number(x));
  assert.ok(Math.min(...places) >= 0 && Math.max(...places) <= 440);
  assert.doesNotMatch(svg, /NaN|Infinity/);
});

test("the same figures make the same picture", () => {
  assert.equal(chartOf(figures, "A run"), chartOf(figures, "A run"));
});
