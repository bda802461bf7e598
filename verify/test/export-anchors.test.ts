// What an export is compared with, and as of when: keys, checkpoints, witnesses, the installation's logs, and the clock.
// Without anything from outside, nothing can be told.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bodyOf, keyLine, signNote } from "../../scripts/proof-vectors/log-parts.ts";
import { ed25519Key } from "../../scripts/proof-vectors/test-keys.ts";
import {
  asOf,
  folder,
  known,
  print,
  run,
  save,
  saveLines,
  saveLog,
  verify,
  verifyAlone,
} from "./run-program.ts";
import {
  installation,
  installedLog,
  key,
  leafOf,
  linesOf,
  partsOf,
  signTree,
  type Tree,
  witnessKey,
} from "./test-export.ts";

const parts = partsOf(10, 7);
const lines = [...linesOf(parts)];
const [tree] = parts.trees;
const { notes } = signTree(tree);

test("an export that is compared with nothing from outside can't be told, and the answer says what to give", async () => {
  const keep = join(folder, "never.txt");
  const said = await verifyAlone(lines, "--keep", keep);
  assert.deepEqual([said.exitCode, said.found], [2, []]);
  assert.match(said.doubts.join(), /--jwks.*--checkpoint.*--witness.*--log/);
  assert.equal(existsSync(keep), false);
  const { text } = await print("export", saveLines(lines), ...asOf);
  assert.match(text, /^Can't tell: /);
  for (const flags of [
    known,
    ["--checkpoint", save(notes[2] as string)],
    ["--witness", witnessKey],
    ["--log", saveLog(installedLog([notes]).entries)],
  ]) {
    assert.equal((await verifyAlone(lines, ...flags)).exitCode, 0, flags[0]);
  }
  // What is wrong is wrong, also by its own keys.
  assert.equal((await verifyAlone(lines.slice(0, -1))).exitCode, 1);
});

function datedAt(at: string): string[] {
  return lines.map((line) =>
    line.startsWith('{"type":"export"') ? JSON.stringify({ ...JSON.parse(line), at }) : line,
  );
}

test("the date of the export is told, and one that is yet to come is refused", async () => {
  const { text } = await print("export", saveLines(lines), ...asOf, ...known);
  assert.match(text, /^Valid: /);
  assert.match(text, /\nWritten at 2027-11-16T00:00:00\.000Z, as the export says itself/);
  assert.deepEqual((await verify(datedAt("2027-11-17T00:00:59.000Z"))).found, []);
  for (const at of ["2027-11-17T00:01:01.000Z", "some day"]) {
    const said = await verify(datedAt(at));
    assert.equal(said.exitCode, 1, at);
    assert.ok(said.found.includes("date_wrong"), said.found.join());
  }
  assert.deepEqual((await verify(lines, "--at", "2027-11-15T23:58:59Z")).found, ["date_wrong"]);
  assert.equal((await verify(lines, "--at", "soon")).exitCode, 2);
});

/** An export of the log's first entries, and the installation's whole log, which has gone on. */
function cutOff(at: string, entryAt?: string) {
  const first: Tree = { ...tree, entries: tree.entries.slice(0, 7) };
  const early = installedLog([signTree(first).notes]);
  const more = installedLog([notes.slice(1)]).entries.slice(1, -1);
  const later = more.map((entry) =>
    entryAt === undefined ? entry : entry.replace(/"at":"[^"]+"/, `"at":"${entryAt}"`),
  );
  const cut = [...linesOf({ trees: [first], rows: parts.rows.slice(0, 2) })].map((line) =>
    line.startsWith('{"type":"export"') ? JSON.stringify({ ...JSON.parse(line), at }) : line,
  );
  return { cut, flags: ["--witness", witnessKey, "--log", saveLog([...early.entries, ...later])] };
}

test("an export that is set back behind what the installation's log has of the workspace can't be told", async () => {
  const { cut, flags } = cutOff("2026-11-15T13:00:59.000Z");
  const said = await verify(cut, ...flags);
  assert.deepEqual([said.exitCode, said.found], [2, []]);
  assert.match(said.doubts.join(), /4 newer checkpoints of this workspace, .*2026-11-15T13:00:00/);
  // As of that hour it is what there was, and the answer still tells of the newer ones.
  const then = await verify(cut, ...flags, "--at", "2026-11-15T13:30:00.000Z");
  assert.deepEqual([then.exitCode, then.found], [0, []]);
  assert.match(then.notes.join(), /4 newer checkpoints of this workspace/);
});

test("a checkpoint from after the time that was asked about says nothing, and one from before the export is hidden", async () => {
  const asked = ["--at", "2026-11-15T15:00:00.000Z"];
  const after = cutOff("2026-11-15T13:00:59.000Z", "2026-11-15T15:30:00.000Z");
  const said = await verify(after.cut, ...after.flags, ...asked);
  assert.deepEqual(
    [said.exitCode, said.found, said.notes.join().includes("newer")],
    [0, [], false],
  );
  const before = cutOff("2026-11-15T14:59:00.000Z", "2026-11-15T14:30:00.000Z");
  const hidden = await verify(before.cut, ...before.flags, ...asked);
  assert.deepEqual(hidden.found, Array(4).fill("checkpoint_hidden"));
});

test("the log's own key is no witness", async () => {
  for (const own of [
    keyLine(installation, 0x01, key).vkey,
    keyLine("witness.example.org/w1", 0x01, key).vkey,
  ]) {
    const { exitCode, text } = await print("export", saveLines(lines), ...asOf, "--witness", own);
    assert.equal(exitCode, 2);
    assert.match(text, /is the key of a log \(type 0x01\), and not of a witness \(0x04\)/);
  }
});

type Line = {
  type?: "entry" | "checkpoint";
  origin: string;
  index?: number;
  entry?: string;
  note?: string;
};

function saveInstalled(lines: Line[]): string {
  return save(lines.map((line) => `${JSON.stringify({ type: "entry", ...line })}\n`).join(""));
}

function entriesOf(origin: string, entries: readonly string[]): Line[] {
  return entries.map((entry, index) => ({ origin, index, entry }));
}

test("older logs of the installation are read, too: one behind whose next name a log was written anew", async () => {
  const next = `${installation}/2`;
  const entries = [...tree.entries];
  entries.splice(13, 3, ...partsOf(11, 7).trees[0].entries.slice(-3));
  const rows = parts.rows.with(4, partsOf(11, 7).rows[10] as (typeof parts.rows)[number]);
  const forged = { trees: [{ ...tree, entries }], rows };
  const anew = [...linesOf(forged, next)];
  const before = installedLog([notes]);
  const after = installedLog([signTree(forged.trees[0] as Tree).notes], next);
  const both = saveInstalled([
    ...entriesOf(installation, before.entries),
    ...entriesOf(next, after.entries),
  ]);
  const kept = ["--checkpoint", save(before.checkpoint)];
  const flags = ["--witness", witnessKey, "--log"];
  const said = await verify(anew, ...flags, both, ...kept);
  assert.deepEqual(said.found, Array(notes.length).fill("checkpoint_hidden"));
  // Its entries alone are no whole log: some may be cut off.
  const alone = await verify(anew, ...flags, both);
  assert.deepEqual([alone.exitCode, alone.found.includes("checkpoint_hidden")], [1, true]);
  const cut = saveInstalled([
    ...entriesOf(installation, before.entries.slice(0, 1)),
    ...entriesOf(next, after.entries),
  ]);
  const short = await verify(anew, ...flags, cut);
  assert.deepEqual([short.exitCode, short.found], [2, []]);
  assert.match(short.doubts.join(), /how long .*\/log was.*--checkpoint/);
  assert.equal((await verify(anew, ...flags, cut, ...kept)).exitCode, 2);
  const none = await verify(anew, ...flags, saveLog(after.entries, next));
  assert.deepEqual([none.exitCode, none.found], [2, []]);
  const other = saveLog([before.entries[0] as string, ...before.entries.slice(0, -1)]);
  assert.equal(
    (await run("export", saveLines(lines), ...asOf, ...known, "--log", other)).exitCode,
    1,
  );
});

test("an older log of another address counts if its newest checkpoint was kept", async () => {
  const [old, next] = ["old.example.com/log", `${installation}/2`];
  const [first, second] = [
    installedLog([[`${old}/ws_other\n5\nAAAA\n\n`]], old),
    installedLog([notes], next),
  ];
  const whole = [
    "--log",
    saveInstalled([...entriesOf(old, first.entries), ...entriesOf(next, second.entries)]),
  ];
  const honest = [...linesOf(parts, next)];
  const said = await verify(honest, ...whole);
  assert.deepEqual([said.exitCode, said.found], [2, []]);
  assert.match(said.doubts.join(), /another address.*--checkpoint/);
  const kept = ["--checkpoint", save(first.checkpoint)];
  assert.deepEqual((await verify(honest, ...whole, ...kept)).found, []);
  assert.equal((await verify(honest, ...whole, ...kept)).exitCode, 0);
  // Of a log that isn't there it accuses, and without a log it is another's.
  const alone = ["--log", saveLog(second.entries, next)];
  for (const flags of [alone, []])
    assert.deepEqual((await verify(honest, ...flags, ...kept)).found, ["split_view"]);
});

test("an older log of the installation may say itself how it ended, if a witness has seen that", async () => {
  const next = `${installation}/2`;
  const [before, after] = [installedLog([notes]), installedLog([notes], next)];
  const opened = before.installed.map((each) => JSON.stringify({ type: "installed", ...each }));
  const honest = [...linesOf(parts, next), ...opened];
  const verifyWith = (note: string, first = before.entries) =>
    verify(
      honest,
      ...["--witness", witnessKey, "--log"],
      saveInstalled([
        ...entriesOf(installation, first),
        { type: "checkpoint", origin: installation, note },
        ...entriesOf(next, after.entries),
      ]),
    );
  const said = await verifyWith(before.checkpoint);
  assert.deepEqual([said.exitCode, said.found, said.doubts], [0, [], []]);
  assert.match(said.notes.join(), /itself says that it ended with 7 entries/);
  assert.equal((await verifyWith(before.checkpoint, before.entries.slice(0, 3))).exitCode, 2);
  // The operator signs any beginning of it as the end.
  const [first = ""] = before.entries;
  const note = signNote(bodyOf(installation, [leafOf(first)]), installation, key);
  const unseen = await verifyWith(note, [first]);
  assert.deepEqual([unseen.exitCode, unseen.found], [2, []]);
  const forged = await verifyWith(
    signNote(bodyOf(installation, []), installation, ed25519Key("attacker")),
  );
  assert.equal(forged.exitCode, 2);
});
