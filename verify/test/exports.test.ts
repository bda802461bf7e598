// Exports that were tampered with: each change is found, and named by its place. Everything runs as the program does.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { signNote } from "../../scripts/proof-vectors/log-parts.ts";
import { ed25519Key } from "../../scripts/proof-vectors/test-keys.ts";
import type { ExportSource } from "../../sdk/src/export/tools.ts";
import { verifyExport } from "../../sdk/src/export/verify-export.ts";
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
} from "./run-program.ts";
import {
  type ExportParts,
  entryOf,
  installedLog,
  key,
  linesOf,
  type Opened,
  openedOf,
  origin,
  partsOf,
  type Row,
  receiptOf,
  requestOf,
  signTree,
  type Tree,
  witnessKey,
} from "./test-export.ts";

/** 31 entries, and a checkpoint after each seventh. */
const parts = partsOf(10, 7);
const lines = [...linesOf(parts)];

/** Changes the lines of a kind, each known by its number among them. */
function change(
  type: string,
  edit: (value: Record<string, unknown>, at: number) => object | null,
): string[] {
  let at = -1;
  return lines.flatMap((line) => {
    if (!line.startsWith(`{"type":"${type}"`)) return [line];
    at += 1;
    const edited = edit(JSON.parse(line), at);
    return edited === null ? [] : [JSON.stringify(edited)];
  });
}

test("an export that nobody touched is valid, by Node's hashes and by Web Crypto's", async () => {
  const nothing = { found: [], findings: [], notes: [], doubts: [] };
  assert.deepEqual(await verify(lines), { exitCode: 0, ...nothing });
  const all: ExportSource = async function* read() {
    yield lines;
  };
  const report = await verifyExport(all, { now: Date.parse(asOf[1] ?? "") });
  assert.deepEqual([report.findings, report.counts.entries, report.counts.receipts], [[], 31, 10]);
});

test("an entry that was changed is named", async () => {
  const changed = change("entry", (value, at) =>
    at === 12 ? { ...value, entry: String(value.entry).replace("2026", "2025") } : value,
  );
  const { exitCode, found } = await verify(changed);
  assert.equal(exitCode, 1);
  assert.deepEqual(found, ["entry_changed 12", "root_differs 7"].toReversed());
});

test("an entry that was dropped is named, also when the others close up", async () => {
  const dropped = await verify(change("entry", (value, at) => (at === 12 ? null : value)));
  assert.ok(dropped.found.includes("entry_missing 12"), dropped.found.join());
  const closed = await verify(
    change("entry", (value, at) => (at === 12 ? null : { ...value, index: at > 12 ? at - 1 : at })),
  );
  assert.ok(closed.found.includes("entry_missing 12"), closed.found.join());
  assert.deepEqual([dropped.exitCode, closed.exitCode], [1, 1]);
});

test("an entry that was inserted is named", async () => {
  const other = requestOf(99).entries[0] as Opened;
  const inserted = lines.flatMap((line) => {
    const value = line.startsWith('{"type":"entry"') ? JSON.parse(line) : null;
    if (value === null || value.index < 12) return [line];
    const moved = JSON.stringify({ ...value, index: value.index + 1 });
    return value.index === 12 ? [JSON.stringify({ ...value, ...other }), moved] : [moved];
  });
  const { exitCode, found } = await verify(inserted);
  assert.ok(found.includes("entry_inserted 12"), found.join());
  assert.equal(exitCode, 1);
});

test("entries that were swapped are named", async () => {
  const entries = lines
    .filter((line) => line.startsWith('{"type":"entry"'))
    .map((line) => JSON.parse(line));
  const swapped = change("entry", (value, at) => {
    const other = at === 12 ? entries[13] : at === 13 ? entries[12] : value;
    return { ...other, index: at };
  });
  const { exitCode, found } = await verify(swapped);
  assert.ok(found.includes("entries_swapped 12"), found.join());
  assert.equal(exitCode, 1);
});

test("a fact that isn't the one of its entry is named, and so is one that is hidden", async () => {
  const other = await verify(
    change("entry", (value, at) =>
      at === 6 ? { ...value, fact: String(value.fact).replace("ann1@", "eve@") } : value,
    ),
  );
  assert.ok(other.found.includes("opening_differs 6"), other.found.join());
  const hidden = await verify(
    change("entry", (value, at) => (at === 6 ? { ...value, fact: null, salt: null } : value)),
  );
  assert.ok(hidden.found.includes("opening_missing 6"), hidden.found.join());
});

test("a request that retention deleted may be closed, and the tree still verifies", async () => {
  const { trees, rows } = partsOf(10, 7);
  const [first, ...rest] = rows as [Row, ...Row[]];
  const deletedAt = (at: string) => {
    const deleted = { kind: "request.deleted", id: first.id, at };
    const told = entryOf(deleted, { at, request: first.id }, Buffer.alloc(32, 1));
    const entries = [...trees[0].entries, told].map((each) =>
      each.entry.includes(`"request":"${first.id}"`) ? { ...each, salt: null, fact: null } : each,
    );
    return verify(linesOf({ trees: [{ ...trees[0], entries }], rows: rest }));
  };
  const said = await deletedAt("2026-12-15T13:00:00.000Z");
  assert.deepEqual([said.exitCode, said.found], [0, []]);
  assert.match(said.notes.join(), /1 requests were deleted/);
  // No retention is so short: somebody wanted it gone.
  const early = await deletedAt("2026-12-14T13:00:00.000Z");
  assert.deepEqual([early.exitCode, early.found], [1, ["request_missing 3"]]);
});

test("a decision that was changed and signed anew is found, unless the log is written anew, too", async () => {
  const row = parts.rows[4] as Row;
  const claims = JSON.parse(
    Buffer.from(String(row.receipt).split(".")[1] ?? "", "base64url").toString(),
  );
  const anew = receiptOf({ ...claims, by: [{ ...claims.by[0], email: "eve@example.com" }] });
  const edited = (changes: object) =>
    verify(change("request", (value, at) => (at === 4 ? { ...value, ...changes } : value)));
  for (const [changes, found] of [
    [{ receipt: anew }, [`receipt_differs 15`]],
    [{ by: ["eve@example.com"] }, [`request_differs 15`]],
    [{ status: "REJECTED", effective: null }, [`request_differs 15`]],
    [{ effective: row.effective?.toString().replace("993", "992") }, [`request_differs 15`]],
    [{ payload: "{}" }, [`request_differs 15`]],
    [{ resolvedAt: "2026-11-15T13:00:00.000Z" }, [`request_differs 15`]],
    [{ receipt: `${String(row.receipt).slice(0, -4)}AAAA` }, [`receipt_invalid ${row.id}`]],
    [{ receipt: (parts.rows[5] as Row).receipt }, [`receipt_differs 15`]],
  ] as [object, string[]][]) {
    const said = await edited(changes);
    assert.deepEqual([said.exitCode, said.found], [1, found], JSON.stringify(changes).slice(0, 60));
  }
});

/** Somebody else's request stands where one of ours stood, and everything is signed anew. */
function writtenAnew(): ExportParts {
  const entries = [...parts.trees[0].entries];
  entries.splice(13, 3, ...requestOf(77).entries);
  const rows = parts.rows.map((row, at) => (at === 4 ? requestOf(77).row : row));
  return { trees: [{ ...parts.trees[0], entries }], rows };
}

test("a log that was written anew whole is valid alone, and found by a checkpoint that somebody kept", async () => {
  const anew = [...linesOf(writtenAnew())];
  assert.equal((await verify(anew)).exitCode, 0);
  const witnessed = await verify(anew, "--witness", witnessKey);
  assert.equal(witnessed.exitCode, 0);
  assert.match(witnessed.notes.join(), /can't tell alone whether it is the only one/);
  const kept = save(signTree(parts.trees[0]).notes.at(-2) as string);
  const said = await verify(anew, "--checkpoint", kept);
  assert.equal(said.exitCode, 1);
  const ranges = said.findings.map(({ message }) => /entry from (\d+) to (\d+)/.exec(message));
  assert.ok(ranges.every((range) => range === null || Number(range[1]) <= Number(range[2])));
  assert.ok(
    said.found.some((each) => each.startsWith("split_view")),
    said.found.join(),
  );
});

test("with the installation's whole log a witness finds a log that was written anew", async () => {
  const before = signTree(parts.trees[0]).notes;
  const after = signTree(writtenAnew().trees[0] as Tree).notes;
  // The witness has seen the checkpoints of both, because the installation's log only grows.
  const both = installedLog([before, after]);
  const ofBoth = (kept: (index: number) => boolean, opened = both) => [
    ...[...linesOf(writtenAnew())].filter((line) => !/^\{"type":"install/.test(line)),
    JSON.stringify({ type: "installation", ...opened.proven }),
    ...opened.installed
      .filter(({ index }) => kept(index))
      .map((each) => JSON.stringify({ type: "installed", ...each })),
  ];
  const flags = ["--witness", witnessKey, "--log", saveLog(both.entries)];
  // Those of the first log are kept back. 14 entries and more were other ones.
  const hidden = await verify(
    ofBoth((index) => index > before.length),
    ...flags,
  );
  assert.deepEqual(hidden.found, Array(before.length).fill("checkpoint_hidden"));
  // Or they are opened: then they contradict the log, also if nobody has the whole one.
  for (const more of [flags, []]) {
    const opened = await verify(
      ofBoth(() => true),
      ...more,
    );
    assert.deepEqual(opened.found, [
      "split_view 13",
      "split_view 20",
      "split_view 27",
      "split_view 30",
    ]);
  }
  // Under another log's name, they would be nobody's.
  const renamed = both.installed.map((each) => ({
    ...each,
    entry: each.entry.replace(/"id":"[^"]+"/, '"id":"x"'),
  }));
  const strange = await verify(
    ofBoth(() => true, { ...both, installed: renamed }),
    ...flags,
  );
  assert.ok(strange.found.includes("installation_differs"), strange.found.join());
  assert.ok(strange.found.includes("checkpoint_hidden"), strange.found.join());
});

test("the installation's whole log must be the one that was signed, and has nothing of a later log", async () => {
  const { notes } = signTree(parts.trees[0]);
  const whole = installedLog([notes]);
  const said = await verify(lines, "--witness", witnessKey, "--log", saveLog(whole.entries));
  assert.deepEqual([said.exitCode, said.found, said.notes], [0, [], []]);
  // One that has grown since is as good.
  const grown = [...whole.entries, whole.entries[0] as string];
  assert.equal((await verify(lines, "--log", saveLog(grown))).exitCode, 0);
  const other = whole.entries.with(1, whole.entries[0] as string);
  assert.deepEqual((await verify(lines, "--log", saveLog(other))).found, ["installation_differs"]);
  assert.equal((await verify(lines, "--log", saveLog(whole.entries.slice(2)))).exitCode, 2);
  assert.equal((await verify(lines, "--log", join(folder, "none"))).exitCode, 2);
  const alone = change("installation", (value) => ({ ...value, entries: [] }));
  const nothing = await verify(alone, "--log", saveLog(whole.entries));
  assert.deepEqual(nothing.found, ["installation_differs"]);
  // The workspace's log went on under the next name, and the export ends before.
  const next = signTree({
    ...{ origin: `${origin}/2`, checkpointEvery: 5, previous: origin },
    entries: [openedOf(`${origin}/2`, notes.at(-1))],
  });
  const later = installedLog([notes, next.notes]);
  const shown = change("installation", () => ({
    type: "installation",
    ...later.provenAt(notes.length),
  }));
  assert.deepEqual((await verify(shown, "--log", saveLog(later.entries))).found, [
    "checkpoint_hidden",
  ]);
});

/** Entries of the same requests under another name, the first one of them another. */
function renamed(of: string, previous: string | null = null): Tree {
  const entries = [openedOf(of, previous), ...(writtenAnew().trees[0] as Tree).entries.slice(1)];
  return { origin: of, entries, checkpointEvery: 7, previous: null };
}

/** An export of these logs, whose installation's log has the checkpoints of others, too. */
function besideOthers({ trees, rows }: ExportParts, ...others: Tree[]) {
  const own = trees.map((tree) => signTree(tree).notes);
  const before = others.map((tree) => signTree(tree).notes);
  const whole = installedLog([...before, ...own]);
  const first = before.flat().length;
  const lines = [
    ...[...linesOf({ trees, rows })].filter((line) => !/^\{"type":"(install|end)/.test(line)),
    JSON.stringify({ type: "installation", ...whole.proven }),
    ...whole.installed.slice(first).map((each) => JSON.stringify({ type: "installed", ...each })),
    ...[...linesOf({ trees, rows })].slice(-1),
  ];
  return { lines, flags: ["--witness", witnessKey, "--log", saveLog(whole.entries)] };
}

test("a log that was written anew under another name is found, and so is one that is left out", async () => {
  const [real] = parts.trees;
  const kept = save(signTree(real).notes.at(-1) as string);
  const { rows } = writtenAnew();
  for (const name of [`${origin}/2`, origin.replace("approvals", "Approvals"), `${origin}/02`]) {
    const { lines, flags } = besideOthers({ trees: [renamed(name)], rows }, real);
    const said = await verify(lines, ...flags);
    assert.ok(said.found.includes("checkpoint_hidden"), `${name}: ${said.found}`);
    const compared = await verify(lines, "--checkpoint", kept);
    assert.equal(compared.exitCode, 1, name);
    assert.ok(compared.found.includes("split_view"), `${name}: ${compared.found}`);
  }
  const second = { ...renamed(`${origin}/2`, signTree(real).notes.at(-1)), previous: origin };
  const gap = { ...second, origin: `${origin}/3`, previous: origin };
  const skipped = besideOthers({ trees: [real, gap], rows }, second);
  const said = await verify(skipped.lines, ...skipped.flags);
  assert.ok(said.found.includes("era_differs"), said.found.join());
  assert.ok(said.found.includes("checkpoint_hidden"), said.found.join());
  const shadow = besideOthers(parts, renamed(`${origin}/9`));
  assert.ok((await verify(shadow.lines, ...shadow.flags)).found.includes("checkpoint_hidden"));
  const whose = change("export", (value) => ({ ...value, workspace: "ws_other" }));
  assert.ok((await verify(whose)).found.includes("era_differs"));
  const longer = change("export", (value) => ({ ...value, size: 999 }));
  assert.ok((await verify(longer)).found.includes("era_differs"));
});

test("an old state of the installation's log hides nothing that is older than the export", async () => {
  const real = signTree(parts.trees[0]).notes;
  const forged = writtenAnew();
  // The first checkpoint is the same in both, and the export proves no more than that one.
  const early = installedLog([real.slice(0, 1)]);
  const whole = [...early.entries, ...installedLog([real.slice(1)]).entries.slice(1, -1)];
  const lines = [...linesOf(forged)].flatMap((line) => {
    if (line.startsWith('{"type":"installed"')) return [];
    if (!line.startsWith('{"type":"installation"')) return [line];
    const opened = early.installed.map((each) => JSON.stringify({ type: "installed", ...each }));
    return [JSON.stringify({ type: "installation", ...early.proven }), ...opened];
  });
  const flags = ["--witness", witnessKey, "--log", saveLog(whole)];
  const said = await verify(lines, ...flags);
  assert.deepEqual(new Set(said.found), new Set(["checkpoint_hidden"]));
  assert.match(said.notes.join(), /has not seen the last \d+ entries/);
});

test("no restore excuses a log that is empty, and no export its own revoked key", async () => {
  const [real] = parts.trees;
  const laundered = {
    trees: [
      { ...real, entries: [] },
      { ...renamed(`${origin}/2`), previous: origin },
    ],
    rows: writtenAnew().rows,
  };
  const notes = signTree(real).notes.map((note) =>
    JSON.stringify({ type: "checkpoint", origin, note }),
  );
  const said = await verify([...linesOf(laundered), ...notes]);
  assert.ok(said.found.includes("rolled_back 0"), said.found.join());
  const revoked = save(JSON.stringify({ keys: [], revoked: [{ kid: key.kid }] }));
  assert.deepEqual((await verify(lines, "--jwks", revoked)).found, ["checkpoint_unsigned"]);
  const key2 = lines.find((line) => line.startsWith('{"type":"key"')) ?? "";
  assert.deepEqual((await verify([...lines, key2])).found, ["line_malformed"]);
});

test("what only confuses a reader is named, and nothing throws", async () => {
  for (const [type, edit] of [
    ...[-1, 2 ** 31, 1e15, "1e9"].map((size) => ["tree", { size }] as const),
    ...[{ index: -1 }, { level: -5 }, { hashes: {} }].map((each) => ["tile", each] as const),
    ...[{ entries: 5 }, { entries: [{}] }].map((each) => ["installation", each] as const),
    ...[{ entry: 5 }, { fact: null }].map((each) => ["installed", each] as const),
    ["end", { later: "x" }],
    ["checkpoint", { note: 1 }],
  ] as [string, object][]) {
    const said = await verify(change(type, (value) => ({ ...value, ...edit })));
    assert.equal(said.exitCode, 1, `${type} ${JSON.stringify(edit)}`);
  }
  for (const line of ["[]", "{}", '{"type":"request","id":"a","id":"b"}']) {
    assert.deepEqual((await verify([...lines, line])).found, ["line_malformed"], line);
  }
  const opens = change("entry", (value, at) => (at === 0 ? { ...value, fact: "x" } : value));
  assert.ok((await verify(opens)).found.includes("entry_malformed 0"));
  const late = change("export", (value) => ({ ...value, at: "2026-11-15T12:30:00.000Z" }));
  assert.ok((await verify(late)).found.some((each) => each.startsWith("entry_malformed")));
});

test("the newest checkpoint of a valid log is kept for the next time, and nothing is written over it", async () => {
  const keep = join(folder, "kept.txt");
  assert.equal((await verify(lines, "--keep", keep)).exitCode, 0);
  assert.equal(readFileSync(keep, "utf8"), signTree(parts.trees[0]).notes.at(-1));
  assert.equal((await verify(lines, "--checkpoint", keep)).exitCode, 0);
  assert.equal((await verify(lines, "--keep", keep)).exitCode, 2);
  const forged = join(folder, "never.txt");
  assert.equal(
    (await verify([...linesOf(writtenAnew())], "--checkpoint", keep, "--keep", forged)).exitCode,
    1,
  );
  assert.equal(existsSync(forged), false);
});

test("a head that was rolled back is found by a checkpoint that somebody kept, and by an older export", async () => {
  const shorter: Tree = { ...parts.trees[0], entries: parts.trees[0].entries.slice(0, 25) };
  const back = [...linesOf({ trees: [shorter], rows: parts.rows.slice(0, 8) })];
  assert.deepEqual((await verify(back)).found, []);
  const kept = save(signTree(parts.trees[0]).notes.at(-1) as string);
  assert.deepEqual((await verify(back, "--checkpoint", kept)).found, ["rolled_back 25"]);
  const [older, newer] = [save(`${lines.join("\n")}\n`), save(`${back.join("\n")}\n`)];
  assert.ok((await run("consistency", older, newer, ...asOf)).found.includes("rolled_back 25"));
  assert.equal((await run("consistency", newer, older, ...asOf)).exitCode, 0);
});

test("a split view is found within an export, between exports, and between checkpoints", async () => {
  const fork = signTree({ ...parts.trees[0], entries: parts.trees[0].entries.toReversed() });
  const twice = [...lines, JSON.stringify({ type: "checkpoint", origin, note: fork.notes[1] })];
  const said = await verify(twice);
  assert.ok(said.found.includes("split_view 13"), said.found.join());
  const other = {
    trees: [
      {
        ...parts.trees[0],
        entries: [...parts.trees[0].entries].fill(requestOf(50).entries[0] as Opened, 30),
      },
    ],
  };
  const [one, two] = [
    save(`${lines.join("\n")}\n`),
    save(`${[...linesOf({ ...parts, ...other })].join("\n")}\n`),
  ];
  assert.equal((await run("consistency", one, two, ...asOf)).exitCode, 1);
  const [small, large] = [
    save(fork.notes[0] as string),
    save(signTree(parts.trees[0]).notes[1] as string),
  ];
  assert.equal((await run("consistency", small, large, "--export", one, ...asOf)).exitCode, 1);
});

test("a checkpoint by another key, a changed tile, a wrong key and a cut file are found", async () => {
  const attacker = ed25519Key("attacker");
  const note = signTree(parts.trees[0]).notes.at(-1) as string;
  const forged = signNote(note.slice(0, note.indexOf("\n\n") + 1), origin, attacker);
  const unsigned = await verify(
    change("checkpoint", (value, at) => (at === 4 ? { ...value, note: forged } : value)),
  );
  assert.deepEqual(unsigned.found, ["checkpoint_unsigned"]);
  const tile = await verify(
    change("tile", (value, at) =>
      at === 0 ? { ...value, hashes: (value.hashes as string[]).toReversed() } : value,
    ),
  );
  assert.deepEqual(tile.found, ["tile_differs"]);
  const renamed = await verify(change("key", (value) => ({ ...value, kid: attacker.kid })));
  assert.ok(renamed.found.includes("key_invalid"));
  const cut = await verify(lines.slice(0, -1));
  assert.deepEqual(cut.found, ["cut_off"]);
  const torn = await verify([...lines.slice(0, -3), (lines.at(-3) as string).slice(0, 40)]);
  assert.equal(torn.exitCode, 1);
});

test("requests that the log doesn't know, or that the export leaves out, are found", async () => {
  const more = await verify([...lines, JSON.stringify({ type: "request", ...requestOf(55).row })]);
  assert.deepEqual(more.found, ["request_missing", "request_unknown"]);
  const fewer = await verify(change("request", (value, at) => (at === 4 ? null : value)));
  assert.deepEqual(fewer.found, ["request_missing 15", "request_missing"]);
});

test("a log after a restore names the last checkpoint of the one before, and another is found", async () => {
  const note = signTree(parts.trees[0]).notes.at(-1) as string;
  const second = (previous: string | null): ExportParts => ({
    trees: [
      parts.trees[0],
      {
        origin: `${origin}/2`,
        entries: [openedOf(`${origin}/2`, previous)],
        checkpointEvery: 5,
        previous: origin,
      },
    ],
    rows: parts.rows,
  });
  assert.deepEqual((await verify(linesOf(second(note)))).found, []);
  assert.deepEqual((await verify(linesOf(second(null)))).found, ["era_differs 0"]);
  const forked = signTree({ ...parts.trees[0], entries: parts.trees[0].entries.toReversed() });
  const other = await verify(linesOf(second(forked.notes.at(-1) as string)));
  assert.deepEqual(other.found, ["era_differs 0"]);
});

type Installed = { proof: string };

test("a witness counts only for the log that is in the checkpoint it cosigned", async () => {
  const witnessed = (installed: object) =>
    verify(
      change("installation", (value) => ({ ...value, ...installed })),
      ...["--witness", witnessKey],
    );
  const nothing = await witnessed({ entries: [] });
  assert.ok(nothing.found.includes("witness_missing"), nothing.found.join());
  // A log that was written anew: the witness's checkpoint is real, and the proofs are of another one.
  const entries = [...parts.trees[0].entries];
  entries.splice(13, 3, ...requestOf(77).entries);
  const rows = parts.rows.map((row, at) => (at === 4 ? requestOf(77).row : row));
  const real = JSON.parse(lines.find((line) => line.startsWith('{"type":"installation"')) ?? "");
  const anew = [...linesOf({ trees: [{ ...parts.trees[0], entries }], rows })].map((line) => {
    if (!line.startsWith('{"type":"installation"')) return line;
    const forged = JSON.parse(line) as { entries: Installed[] };
    const unseen = forged.entries.map(({ proof, ...each }) => ({
      ...each,
      proof: `${proof.split("\n").slice(0, -2).join("\n")}\n`,
    }));
    return JSON.stringify({ type: "installation", checkpoint: real.checkpoint, entries: unseen });
  });
  const said = await verify(anew, "--witness", witnessKey);
  assert.equal(said.exitCode, 1);
  assert.ok(said.found.includes("witness_missing"), said.found.join());
});

test("a request that the log has ended can't be left to the next file", async () => {
  const hidden = change("request", (value, at) => (at === 4 ? null : value)).map((line) =>
    line.startsWith('{"type":"end"')
      ? JSON.stringify({ ...JSON.parse(line), requests: 9, later: 1 })
      : line,
  );
  const { exitCode, found, notes } = await verify(hidden);
  assert.deepEqual([exitCode, found], [1, ["request_missing 15"]]);
  assert.match(notes.join(), /1 requests changed after the newest checkpoint/);
});

test("a line that is there twice, or that is an entry in disguise, is found", async () => {
  const forged = { ...(parts.rows[4] as Row), by: ["eve@example.com"] };
  const first = lines.findIndex((line) => line.startsWith('{"type":"request"'));
  const twice = lines.toSpliced(first, 0, JSON.stringify({ type: "request", ...forged }));
  assert.ok((await verify(twice)).found.some((each) => each.startsWith("line_malformed")));
  for (const type of ["export", "tree", "installation", "end", "entry"]) {
    const line = lines.find((each) => each.startsWith(`{"type":"${type}"`)) ?? "";
    const said = await verify([...lines, ` ${line}`]);
    assert.deepEqual([said.exitCode, said.found], [1, ["line_malformed"]], type);
  }
});

test("a line whose parts are of another type is named, and nothing throws", async () => {
  const edited = (type: string, changes: object) =>
    verify(change(type, (value, at) => (at === 4 ? { ...value, ...changes } : value)));
  for (const [type, changes] of [
    ["entry", { entry: 5 }],
    ["entry", { salt: 5 }],
    ["entry", { fact: {} }],
    ["entry", { index: "4" }],
    ["request", { payload: 5 }],
    ["request", { receipt: [] }],
    ["request", { by: "ann" }],
    ["request", { by: [null] }],
  ] as [string, object][]) {
    const said = await edited(type, changes);
    const what = `${JSON.stringify(changes)}: ${said.found}`;
    assert.deepEqual([said.exitCode, said.found.includes("line_malformed")], [1, true], what);
  }
  const bare = await verify([...lines, "null", "5"]);
  assert.deepEqual(bare.found, ["line_malformed", "line_malformed"]);
  // An entry that salts its fact with something that is no hash stands for nothing.
  const entry = parts.trees[0].entries[4] as Opened;
  for (const salted of [5, "~", {}]) {
    const forged = {
      ...entry,
      entry: entry.entry.replace(/"fact":"[^"]*"/, `"fact":${JSON.stringify(salted)}`),
    };
    const entries = parts.trees[0].entries.with(4, forged);
    const said = await verify(linesOf({ ...parts, trees: [{ ...parts.trees[0], entries }] }));
    assert.deepEqual([said.exitCode, said.found], [1, ["opening_differs 4"]]);
  }
});

test("whether a log only grew can't be told where nothing of the older state is compared", async () => {
  const file = saveLines(linesOf(parts));
  const newest = save(signTree(parts.trees[0]).notes.at(-1) as string);
  const { checkpoint } = installedLog([signTree(parts.trees[0]).notes]);
  const beside = ["consistency", save(checkpoint), newest, "--export", file, ...known, ...asOf];
  assert.equal((await print(...beside)).exitCode, 2);
  const bare = [...linesOf(parts)].filter((line) => !line.startsWith('{"type":"checkpoint"'));
  for (const [older, said] of [
    [save(checkpoint), /1 of the checkpoints are of no log in /],
    [saveLines(bare), /holds no checkpoint/],
  ] as const) {
    const { exitCode, text } = await print("consistency", older, file, ...known, ...asOf);
    assert.equal(exitCode, 2, text);
    assert.match(text, said);
  }
});

test("a checkpoint of the installation's log is no accusation, and no anchor", async () => {
  const line = lines.find((each) => each.startsWith('{"type":"installation"')) ?? "";
  const kept = save((JSON.parse(line) as { checkpoint: string }).checkpoint);
  const said = await verify(lines, "--checkpoint", kept);
  assert.deepEqual([said.exitCode, said.found], [0, []]);
  assert.match(said.notes.join(), /was not compared/);
});

test("a witness that is named must have cosigned, and the issuer's keys must be the export's", async () => {
  assert.equal((await verify(lines, "--witness", witnessKey)).exitCode, 0);
  const withoutLast = (note: unknown) => `${String(note).split("\n").slice(0, -2).join("\n")}\n`;
  const uncosigned = change("installation", ({ checkpoint, entries, ...value }) => ({
    ...value,
    checkpoint: withoutLast(checkpoint),
    entries: (entries as Installed[]).map((each) => ({ ...each, proof: withoutLast(each.proof) })),
  }));
  assert.deepEqual((await verify(uncosigned, "--witness", witnessKey)).found, ["witness_missing"]);
  const jwks = (kid: string) => save(JSON.stringify({ keys: [{ kty: "OKP", kid }], revoked: [] }));
  assert.equal((await verify(lines, "--jwks", jwks(key.kid))).exitCode, 0);
  assert.deepEqual((await verify(lines, "--jwks", jwks("other"))).found, ["key_invalid"]);
});

test("what can't be told ends with 2: no file, no export, no words, no checkpoint", async () => {
  for (const words of [
    ["export", join(folder, "none")],
    ["export", save("hello")],
    ["export"],
    ["export", "a", "--what"],
    ["export", "a", "--witness"],
    ["receipt", join(folder, "none")],
    ["consistency", save("x"), save("y")],
    ["what"],
    [],
  ]) {
    assert.equal((await run(...words)).exitCode, 2, words.join(" "));
  }
});
