// What a checkpoint says that somebody kept, if the key that signed it was revoked later: who stole the key can sign any,
// so it accuses nobody and proves nothing. What another key signed counts as before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, cosign, signNote } from "../../scripts/proof-vectors/log-parts.ts";
import { base64url, ed25519Key, type TestKey } from "../../scripts/proof-vectors/test-keys.ts";
import { standingOf } from "../../sdk/src/proof/log-proof.ts";
import { parseNote, type SignedNote } from "../../sdk/src/proof/note.ts";
import {
  asOf,
  print,
  run,
  type Said,
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
  origin,
  partsOf,
  signTree,
  type Tree,
  witnessKey,
} from "./test-export.ts";

const next = ed25519Key("next");
const parts = partsOf(10, 7);
const [tree] = parts.trees;
const { notes } = signTree(tree);
const fork = signTree({ ...tree, entries: tree.entries.toReversed() }).notes;

function jwkOf({ raw, kid }: TestKey) {
  return { kty: "OKP", crv: "Ed25519", x: base64url(raw), kid };
}

/** A service names revoked keys, and publishes the others. */
const jwks = save(
  JSON.stringify({ keys: [jwkOf(next)], revoked: [{ kid: key.kid, revokedAt: 1_795_000_000 }] }),
);

function bySecond(note: string): string {
  return signNote(note.slice(0, note.indexOf("\n\n") + 1), origin, next);
}

/** As the service exports it after the first key was revoked, when its log had all but the last 10 entries. */
function exportedAfter(of: Tree = tree): string[] {
  const at = "2027-01-01T00:00:00.000Z";
  return [...linesOf({ ...parts, trees: [of] })].flatMap((line) => {
    const { type, ...rest } = JSON.parse(line);
    if (type === "key") {
      const revoked = { type, ...rest, retiredAt: at, revokedAt: at };
      const current = { type, ...jwkOf(next), use: "sig", createdAt: at };
      return [JSON.stringify(revoked), JSON.stringify(current)];
    }
    if (type !== "checkpoint" || Number(rest.note.split("\n")[1]) < 22) return [line];
    return [JSON.stringify({ type, ...rest, note: bySecond(rest.note) })];
  });
}

const after = saveLines(exportedAfter());

function ask(older: string, newer: string, ...flags: string[]) {
  return print("consistency", save(older), save(newer), "--jwks", jwks, ...flags);
}

test("two checkpoints of which a revoked key may have signed one can't be told, whatever they say", async () => {
  const [first, newest] = [notes[0] as string, bySecond(notes.at(-1) as string)];
  const pairs = [
    ...[
      [first, newest],
      [fork[0], newest],
      [fork.at(-1), newest],
    ],
    ...[
      [newest, first],
      [first, notes.at(-1)],
      [first, first],
    ],
  ] as [string, string][];
  for (const [older, newer] of pairs) {
    const { exitCode, text } = await ask(older, newer);
    assert.equal(exitCode, 2, text);
    assert.match(text, /^Can't tell: .*a key that was revoked/);
  }
});

test("two checkpoints by a key that counts are told as before, also where another key was revoked", async () => {
  const [first, newest] = [bySecond(notes[0] as string), bySecond(notes.at(-1) as string)];
  const back = await ask(newest, first);
  assert.deepEqual([back.exitCode, /rolled back/.test(back.text)], [1, true]);
  const split = await ask(bySecond(fork.at(-1) as string), newest);
  assert.deepEqual([split.exitCode, /split view/.test(split.text)], [1, true]);
  assert.equal((await ask(newest, newest)).exitCode, 0);
  // Signed by both, it counts by the one that does.
  const line = first.slice(first.indexOf("\n\n") + 2);
  const both = await ask(newest, `${notes[0]}${line}`);
  assert.deepEqual([both.exitCode, /rolled back/.test(both.text)], [1, true]);
});

test("a key set tells a revoked key's signature from nobody's if it has the key", async () => {
  const keys = [jwkOf(next), jwkOf(key)];
  const revoked = [{ kid: key.kid }];
  const by = (signer: TestKey) => parseNote(signNote(bodyOf(origin, []), origin, signer));
  const standing = (signer: TestKey, set = { keys, revoked }) =>
    standingOf(by(signer) as SignedNote, origin, set);
  assert.equal(await standing(next), "signed");
  assert.equal(await standing(key), "revoked");
  assert.equal(await standing(ed25519Key("attacker")), "unsigned");
  assert.equal(await standing(key, { keys: [jwkOf(next)], revoked }), "revoked");
  assert.equal(await standing(key, { keys: [jwkOf(next)], revoked: [] }), "unsigned");
  // Another log's signature is none of this one.
  const other = parseNote(signNote(bodyOf(origin, []), `${origin}/2`, key)) as SignedNote;
  const set = { keys: [jwkOf(next)], revoked };
  assert.equal(await standingOf(other, origin, set), "unsigned");
});

test("a kept checkpoint by a revoked key makes no export invalid, and none consistent", async () => {
  const isIn = (said: Said) => [said.exitCode, said.found];
  const longer = signTree(partsOf(11, 7).trees[0]).notes.at(-1) as string;
  for (const note of [notes[0], fork[0], notes.at(-1), fork.at(-1), longer] as string[]) {
    for (const flags of [[], ["--jwks", jwks]]) {
      const within = await run("consistency", save(note), after, ...asOf, ...flags);
      assert.deepEqual(isIn(within), [2, []], note);
      const newest = save(bySecond(notes.at(-1) as string));
      const beside = ["--export", after, ...asOf, ...flags];
      const between = await run("consistency", save(note), newest, ...beside);
      assert.deepEqual(isIn(between), [2, []], note);
    }
  }
});

test("an export that a revoked key's checkpoint contradicts can't be told, and one that it fits has no proof by it", async () => {
  const lines = exportedAfter();
  const known = ["--jwks", jwks];
  const fit = ["--checkpoint", save(notes[0] as string)];
  const alone = await verifyAlone(lines, ...fit);
  assert.deepEqual([alone.exitCode, alone.found], [2, []]);
  assert.match(alone.doubts.join(), /nothing from outside/);
  const said = await verify(lines, ...known, ...fit);
  assert.deepEqual([said.exitCode, said.found], [0, []]);
  assert.match(said.notes.join(), /1 checkpoints that you kept fit .* prove nothing/);
  for (const note of [fork[0], `${fork[0]}`.replace(/^.*\n/, `${origin}/2\n`)]) {
    const body = `${note}`.slice(0, `${note}`.indexOf("\n\n") + 1);
    const strange = save(signNote(body, body.split("\n")[0] as string, key));
    const other = await verify(lines, ...known, "--checkpoint", strange);
    assert.deepEqual([other.exitCode, other.found], [2, []]);
    assert.match(other.doubts.join(), /accuses nobody: it is signed by the revoked key/);
  }
});

test("what a key that counts signed is found as before, also beside a revoked key's checkpoints", async () => {
  const forked = save(bySecond(fork[0] as string));
  const said = await run("consistency", forked, after, ...asOf, "--jwks", jwks);
  assert.deepEqual([said.exitCode, said.found], [1, ["split_view 6", "split_view 0"]]);
  const flags = ["--jwks", jwks, "--checkpoint", save(fork[1] as string)];
  const beside = await verify(exportedAfter(), ...flags, "--checkpoint", forked);
  assert.deepEqual([beside.exitCode, beside.found], [1, ["split_view 6", "split_view 0"]]);
  // An older export has checkpoints by both keys: the newest is the state that is asked about.
  const before = saveLines(exportedAfter({ ...tree, entries: tree.entries.slice(0, 25) }));
  const grown = await run("consistency", before, after, ...asOf, "--jwks", jwks);
  assert.deepEqual([grown.exitCode, grown.found], [0, []]);
  const first = saveLines(
    linesOf({ ...parts, trees: [{ ...tree, entries: tree.entries.slice(0, 21) }] }),
  );
  const across = await run("consistency", first, after, ...asOf, "--jwks", jwks);
  assert.deepEqual([across.exitCode, across.found], [2, []]);
});

test("a kept checkpoint of the installation's log by a revoked key accuses nobody, unless a witness cosigned it", async () => {
  const { entries } = installedLog([notes]);
  const whole = ["--jwks", jwks, "--log", saveLog(entries)];
  const forged = signNote(
    bodyOf(installation, entries.toReversed().map(leafOf)),
    installation,
    key,
  );
  const lines = exportedAfter();
  const said = await verify(lines, ...whole, "--checkpoint", save(forged));
  assert.deepEqual([said.exitCode, said.found], [2, []]);
  assert.match(said.doubts.join(), /accuses nobody/);
  const elsewhere = "old.example.com/log";
  const strange = signNote(bodyOf(elsewhere, []), elsewhere, key);
  const other = await verify(lines, ...whole, "--checkpoint", save(strange));
  assert.deepEqual([other.exitCode, other.found], [2, []]);
  const seen = ["--witness", witnessKey, "--checkpoint", save(cosign(forged))];
  const found = await verify(lines, ...whole, ...seen);
  assert.deepEqual([found.exitCode, found.found], [1, ["installation_differs"]]);
});
