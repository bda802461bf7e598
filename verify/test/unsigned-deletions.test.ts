// Requests of which the export alone says that they were deleted. Retention may have taken them while the log wasn't
// signed, and somebody may hide them: nothing in the file tells which, so the answer names them and is neither.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asOf, folder, known, print, run, save, saveLines, verify } from "./run-program.ts";
import {
  entryOf,
  linesOf,
  type Opened,
  partsOf,
  type Row,
  requestOf,
  signTree,
  type Tree,
} from "./test-export.ts";

const parts = partsOf(10, 7);
const [tree] = parts.trees;
const [row, ...rest] = parts.rows as [Row, ...Row[]];

function closed(entries: readonly Opened[], id: string): Opened[] {
  return entries.map((each) =>
    each.entry.includes(`"request":"${id}"`) ? { ...each, salt: null, fact: null } : each,
  );
}

function saying(lines: Iterable<string>, ...ids: string[]): string[] {
  const said = ids.map((request) => JSON.stringify({ type: "deleted", request }));
  return [...[...lines].slice(0, -1), ...said, [...lines].at(-1) as string];
}

function writtenAt(at: string, lines: readonly string[]): string[] {
  return lines.map((line) =>
    line.startsWith('{"type":"export"') ? JSON.stringify({ ...JSON.parse(line), at }) : line,
  );
}

const hidden: Tree = { ...tree, entries: closed(tree.entries, row.id) };
const silent = [...linesOf({ trees: [hidden], rows: rest })];

test("what the export says was deleted, and the log doesn't, can't be told, and is named", async () => {
  const kept = ["--checkpoint", save(signTree(tree).notes.at(-1) as string)];
  const keep = join(folder, "unsigned.txt");
  const said = await verify(saying(silent, row.id), ...kept, "--keep", keep);
  assert.deepEqual([said.exitCode, said.found], [2, []]);
  assert.match(
    said.doubts.join(),
    new RegExp(`1 requests can't be read.*hide.*${row.id} \\(entry 1\\)`),
  );
  assert.equal(existsSync(keep), false);
  const { exitCode, text } = await print(
    "export",
    saveLines(saying(silent, row.id)),
    ...asOf,
    ...known,
  );
  assert.equal(exitCode, 2);
  assert.match(text, new RegExp(`^Can't tell: .*${row.id}`));
});

test("an entry that is hidden without a word, or with a word of another request, is found", async () => {
  const found = [1, 2, 3].map((index) => `opening_missing ${index}`);
  for (const lines of [silent, saying(silent, "req_other")]) {
    const said = await verify(lines);
    assert.deepEqual([said.exitCode, said.found], [1, found]);
  }
});

test("no export says that a request was deleted which it has, or of which an entry can be read", async () => {
  const whole = await verify(saying([...linesOf(parts)], row.id));
  assert.deepEqual([whole.exitCode, whole.found], [1, [`deletion_differs ${row.id}`]]);
  assert.match(whole.findings[0]?.message ?? "", /^the export says/);
  const open = await verify(saying([...linesOf({ trees: parts.trees, rows: rest })], row.id));
  assert.deepEqual([open.exitCode, open.found], [1, ["deletion_differs 3"]]);
});

test("no request is said to be deleted less than 30 days after it was decided", async () => {
  // It was decided on 2026-11-15 at 13:00.
  const lines = saying(silent, row.id);
  const early = await verify(writtenAt("2026-12-15T12:58:00.000Z", lines));
  assert.deepEqual([early.exitCode, early.found], [1, ["request_missing 3"]]);
  const later = await verify(writtenAt("2026-12-15T13:00:00.000Z", lines));
  assert.deepEqual([later.exitCode, later.found], [2, []]);
});

test("a request whose end isn't signed yet, either, is no finding", async () => {
  const entries = closed(tree.entries.slice(0, 2), row.id);
  const lines = linesOf({ trees: [{ ...tree, entries }], rows: [] });
  const said = await verify(saying([...lines], row.id));
  assert.deepEqual([said.exitCode, said.found], [2, []]);
});

test("what the log itself says needs no other word, and a later export must say it", async () => {
  const at = "2026-12-16T13:00:00.000Z";
  const deleted = { kind: "request.deleted", id: row.id, at };
  const told = entryOf(deleted, { at, request: row.id }, Buffer.alloc(32, 1));
  const signed = { ...hidden, entries: [...hidden.entries, told] };
  const lines = [...linesOf({ trees: [signed], rows: rest })];
  for (const each of [lines, saying(lines, row.id)]) {
    const said = await verify(each);
    assert.deepEqual([said.exitCode, said.found], [0, []]);
  }
  const first = saveLines(saying(silent, row.id));
  const next = requestOf(10);
  const grown = { ...hidden, entries: [...hidden.entries, ...next.entries] };
  const newer = saveLines(linesOf({ trees: [grown], rows: [...rest, next.row] }));
  const across = await run("consistency", first, newer, ...asOf, ...known);
  assert.equal(across.exitCode, 1);
  assert.deepEqual(
    across.found,
    [1, 2, 3].map((index) => `opening_missing ${index}`),
  );
});

test("a line that says who was deleted in another shape is named", async () => {
  const odd = JSON.stringify({ type: "deleted", request: 7 });
  assert.ok((await verify([...linesOf(parts), odd])).found.includes("line_malformed"));
});
