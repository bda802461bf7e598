// The page of the documentation, and the files that a run leaves behind.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { renderMarkdown } from "../../scripts/docs/markdown.ts";
import { metRatio, metValue, results } from "./example-figures.ts";
import { joined, pageOf, writeResults } from "./page.ts";

test("the page says when, where and of what commit it was measured", () => {
  const page = pageOf(results);
  assert.match(page, /^# Performance\n/);
  assert.match(
    page,
    /^Measured 2 January 2026 at 03:04 UTC by `npm run bench -- --quick` at commit `0123abc`\. The machine: 2 cores /m,
  );
  assert.match(page, /\*\*3 of 5 targets met\.\*\*/);
});

test("every figure has its line, with its target marked met or not met", () => {
  const page = pageOf(results).replaceAll("\u00a0", " ");
  const lines = [
    "| what | Countersign | pgbench | ratio | target | spread | p50 / p99 |",
    "| 64 clients | 9,000/s | 10,000/s | 0.90 × | ≥ 0.8 × met | 0.80 to 1.00 | 7.04 / 21.3 |",
    "| 256 clients | 7,996/s | 10,000/s | 0.7996 × | ≥ 0.8 × **not met** | 0.80 to 0.84 | 7.04 / 21.3 |",
    "| 16 clients | 9,000/s | 10,000/s | 0.90 × |  | 0.80 to 1.00 | 7.04 / 21.3 |",
    "| idle | 96.0 MB | ≤ 120 MB met | 95.0 to 97.0 |",
    "| until it answers | 1.25 s | 1.20 to 1.30 |",
  ];
  for (const line of lines) assert.ok(page.includes(`\n${line}\n`), line);
});

test("missed targets have a section of their own, and only when there are any", () => {
  assert.match(
    pageOf(results),
    /## Where a target is not met\n\n- \*\*Create, 256 clients\*\*: 0\.7996 ×, the target is ≥ 0\.8 ×\..*\n- \*\*Expiry, /,
  );
  assert.doesNotMatch(pageOf({ ...results, figures: [metRatio, metValue] }), /not met\n/);
});

test("the site renders it without a flaw, whatever names are measured", () => {
  const { title, html, problems } = renderMarkdown(
    pageOf(results),
    (href) => ({ href }),
    () => null,
  );
  assert.equal(title, "Performance");
  assert.deepEqual(problems, []);
  assert.match(html, /Peer &amp; &lt;sons&gt;/);
});

test("a run leaves its figures and its page, and the page only where it is wanted", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const places = { results: join(folder, "results"), docs: join(folder, "docs") };
  assert.equal((await writeResults(results, { ...places, docs: null })).length, 1);
  assert.deepEqual(await readdir(folder), ["results"]);

  await mkdir(places.docs);
  const written = await writeResults(results, places);
  const [json = "", page = ""] = await Promise.all(written.map((path) => readFile(path, "utf8")));
  assert.deepEqual(JSON.parse(json), results);
  assert.match(json, /"ours": \[9000, 8000, 10000\],/);
  assert.equal(page, pageOf(results));
});

test("a part that was measured later takes the place of older figures of its name, and adds the others", () => {
  const again = { ...metRatio, ours: metRatio.ours.map((each) => each * 2) };
  const other = { ...metValue, variant: "another one" };
  const more = { ...results, at: "2026-02-03T04:05:06.000Z", options: "--peers" };
  const both = joined(results, { ...more, figures: [again, other] });
  assert.equal(both.figures.length, results.figures.length + 1);
  assert.ok(both.figures.includes(again) && !both.figures.includes(metRatio));
  assert.equal(both.at, results.at);
  assert.equal(both.options, "--quick --peers");
});
