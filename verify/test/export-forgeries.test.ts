// Forged exports that once passed, each written by somebody with a signing key or a log of their own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, signNote } from "../../scripts/proof-vectors/log-parts.ts";
import { base64url, ed25519Key } from "../../scripts/proof-vectors/test-keys.ts";
import { largestOf } from "../../sdk/src/proof/note.ts";
import { known, run, save, saveLines, saveLog, verify, verifyAlone } from "./run-program.ts";
import {
  entryOf,
  installation,
  installedLog,
  key,
  leafOf,
  linesOf,
  openedOf,
  origin,
  partsOf,
  requestOf,
  signTree,
  type Tree,
  witnessKey,
} from "./test-export.ts";

const parts = partsOf(10, 7);
const [tree] = parts.trees;
const { notes } = signTree(tree);
const now = () => new Date().toISOString();

function writtenAt(at: string, lines: Iterable<string>): string[] {
  return [...lines].map((line) =>
    line.startsWith('{"type":"export"') ? JSON.stringify({ ...JSON.parse(line), at }) : line,
  );
}

test("who has a key that was revoked can't pass its log off by an empty one behind it", async () => {
  const next = ed25519Key("next");
  const keys = [
    { kty: "OKP", crv: "Ed25519", kid: next.kid, x: base64url(next.raw) },
    { kty: "OKP", kid: key.kid },
  ];
  const revoked = save(JSON.stringify({ keys, revoked: [{ kid: key.kid, revokedAt: 1 }] }));
  const empty: Tree = { ...tree, origin: `${origin}/2`, entries: [], previous: origin };
  for (const trees of [[tree], [tree, empty], [tree, empty, { ...empty, origin: `${origin}/3` }]]) {
    const said = await verify(linesOf({ ...parts, trees }), "--jwks", revoked);
    assert.equal(said.exitCode, 1, `${trees.length} logs`);
    assert.ok(said.found.includes("checkpoint_unsigned"), said.found.join());
  }
  // After a restore the next log is empty until something happens.
  const honest = await verify(linesOf({ ...parts, trees: [tree, empty] }));
  assert.deepEqual([honest.exitCode, honest.found], [0, []]);
});

test("checkpoints of the installation's log that are dated ahead, or not at all, are no later ones", async () => {
  const first = { ...tree, entries: tree.entries.slice(0, 7) };
  const early = installedLog([signTree(first).notes]).entries;
  const cut = [...linesOf({ trees: [first], rows: parts.rows.slice(0, 2) })];
  const asked = ["export", saveLines(writtenAt(now(), cut)), ...known, "--witness", witnessKey];
  const hidden = installedLog([notes.slice(1)]).entries.slice(1, -1);
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const before = ["--at", "2026-11-15T13:30:00.000Z"];
  const old = ["export", saveLines(writtenAt("2026-11-15T13:30:00.000Z", cut)), ...asked.slice(2)];
  for (const at of ["2099-01-01T00:00:00.000Z", soon, "", "some day"]) {
    const later = hidden.map((entry) => entry.replace(/"at":"[^"]+"/, `"at":"${at}"`));
    const log = ["--log", saveLog([...early, ...later])];
    for (const given of [asked, [...old, ...before]]) {
      const said = await run(...given, ...log);
      assert.deepEqual([said.exitCode, said.found], [1, Array(4).fill("date_wrong")], at);
    }
  }
  const just = hidden.map((entry) => entry.replace(/"at":"[^"]+"/, `"at":"${now()}"`));
  const honest = await run(...asked, "--log", saveLog([...early, ...just]));
  assert.deepEqual([honest.exitCode, honest.found], [0, []]);
  assert.match(honest.notes.join(), /4 newer checkpoints of this workspace/);
});

test("a witness's cosignature on another operator's log doesn't count", async () => {
  for (const other of ["evil.example/log", "approvals.example.com/log/ws_other", "log"]) {
    const said = await verifyAlone(linesOf(parts, other), "--witness", witnessKey);
    assert.deepEqual([said.exitCode, said.found], [1, ["installation_differs", "witness_missing"]]);
    assert.match(said.findings[0]?.message ?? "", /is not the installation's log/);
  }
});

test("how many requests are older than the log is what the first log says, wherever in the file it stands", async () => {
  const second: Tree = {
    ...{ origin: `${origin}/2`, checkpointEvery: 7, previous: origin },
    entries: [openedOf(`${origin}/2`, notes.at(-1), 10)],
  };
  const invented = { ...requestOf(4242).row, receipt: null };
  const lines = [...linesOf({ trees: [tree, second], rows: [...parts.rows, invented] })];
  const isMoved = (line: string) => line.startsWith(`{"type":"entry","origin":"${origin}/2"`);
  const at = lines.findIndex((line) => line.startsWith('{"type":"entry"'));
  const rest = lines.slice(at).filter((line) => !isMoved(line));
  const said = await verify([...lines.slice(0, at), ...lines.filter(isMoved), ...rest]);
  assert.deepEqual([said.exitCode, said.found], [1, ["request_unknown"]]);
});

test("any number of checkpoints can be kept", () => {
  const many = Array.from({ length: 500_000 }, (_, size) => ({ size }));
  assert.equal(largestOf(many), 499_999);
  assert.equal(largestOf([]), 0);
});

test("an old checkpoint of a closed log of the installation makes no answer better", async () => {
  const next = `${installation}/2`;
  const forged = partsOf(9, 7);
  const real = installedLog([notes]).entries;
  const second = installedLog([signTree(forged.trees[0]).notes], next).entries;
  const one = real.slice(0, 1);
  const linesIn = (of: string, entries: readonly string[]) =>
    entries.map((entry, index) => JSON.stringify({ type: "entry", origin: of, index, entry }));
  const lines = [...linesIn(installation, one), ...linesIn(next, second)];
  const early = signNote(bodyOf(installation, one.map(leafOf)), installation, key);
  const flags = ["--log", saveLines(lines)];
  const kept = ["--checkpoint", save(early)];
  const cut = [...linesOf(forged, next)];
  for (const given of [[], kept]) {
    const said = await verify(cut, "--witness", witnessKey, ...flags, ...given);
    assert.deepEqual([said.exitCode, said.found], [2, []]);
    assert.match(said.doubts.join(), /nothing says how long .*witness has cosigned/);
  }
  // Without a witness it is the end that somebody knows, and the answer says how far it reaches.
  const alone = await verify(cut, ...flags, ...kept);
  assert.match(alone.notes.join(), /you kept a checkpoint of 1 entries: nothing but itself says/);
  // What the log itself serves is read beside it.
  const newest = signNote(bodyOf(installation, real.map(leafOf)), installation, key);
  const served = JSON.stringify({ type: "checkpoint", origin: installation, note: newest });
  const whole = saveLines([served, ...linesIn(installation, real), ...linesIn(next, second)]);
  const both = await verify(cut, "--log", whole, ...kept);
  assert.ok(both.found.includes("checkpoint_hidden"), both.found.join());
  assert.match(both.notes.join(), /only .* itself says that it ended with 7 entries/);
});

test("no log of the installation is called the first by its number", async () => {
  const said = await verify(
    linesOf(parts, `${installation}/1`),
    "--log",
    saveLog(installedLog([notes]).entries.slice(0, 1)),
  );
  assert.equal(said.exitCode, 1);
  assert.ok(said.found.includes("installation_differs"), said.found.join());
});

test("facts of shapes that only a forger writes are findings, and no kind is an outcome by its name alone", async () => {
  const at = "2026-11-15T14:00:00.000Z";
  const entryLike = (kind: string, request: string, fact: object) => {
    const more = entryOf({ kind, id: "evc_x", at, request }, fact, Buffer.alloc(32, 7));
    return verify(linesOf({ ...parts, trees: [{ ...tree, entries: [...tree.entries, more] }] }));
  };
  const [row] = parts.rows;
  for (const kind of ["constructor", "toString", "__proto__"]) {
    const said = await entryLike(kind, String(row?.id), { x: 1 });
    assert.ok(!said.found.join().includes("outcome_twice"), `${kind}: ${said.found}`);
  }
  const deep = JSON.parse(`${"[".repeat(3_500)}"x"${"]".repeat(3_500)}`);
  const votes = [{ email: deep, at, for: null, evidence: null }];
  const said = await entryLike("request.approved", "req_y", { request: "req_y", at, votes });
  assert.equal(said.exitCode, 1);
});
