// verify consistency: that a newer state of a log only adds to an older one. Each may be a saved checkpoint or an export.

import type { ExportReport } from "../../sdk/src/export/verify-export.ts";
import { isEqual } from "../../sdk/src/proof/bytes.ts";
import { standingOf } from "../../sdk/src/proof/log-proof.ts";
import {
  type Checkpoint,
  parseCheckpoint,
  parseNote,
  type SignedNote,
} from "../../sdk/src/proof/note.ts";
import { isConsistent } from "../../sdk/src/proof/tree.ts";
import { notesIn, nowOf, verdictOf, verifyNow } from "./export-command.ts";
import { CannotTell, isExport, readKeys, readText } from "./given.ts";
import { ServedTiles } from "./log-tiles.ts";
import { nodeTools } from "./node-tools.ts";
import type { Verdict } from "./verdict.ts";

export type ConsistencyFlags = {
  export?: string;
  log?: string;
  jwks?: string;
  key?: string;
  at?: string;
};

type Kept = Checkpoint & { note: SignedNote };

export async function consistencyCommand(
  older: string,
  newer: string,
  flags: ConsistencyFlags,
): Promise<Verdict> {
  if (await isExport(newer)) return compareWith(newer, [older], flags);
  if (flags.export !== undefined) return compareWith(flags.export, [older, newer], flags);
  const [one, other] = [await readCheckpoint(older), await readCheckpoint(newer)];
  const flaw = await flawBetween(one, other, flags);
  if (flaw !== null)
    return { exitCode: 1, lines: [`Not valid: ${flaw}.`], data: { ok: false, flaw } };
  const words = `${other.origin} only added ${other.size - one.size} entries to the ${one.size} of before`;
  return { exitCode: 0, lines: [`Valid: ${words}.`], data: { ok: true } };
}

/** That an export is valid is no answer: it must be the log of the states that were asked about. */
async function compareWith(
  exported: string,
  paths: readonly string[],
  flags: ConsistencyFlags,
): Promise<Verdict> {
  const kept: string[][] = [];
  for (const path of paths) {
    const notes = await notesIn(path);
    if (notes.length === 0) throw new CannotTell(`${path} holds no checkpoint`);
    kept.push(notes);
  }
  const checkpoints = kept.flat();
  const keys = flags.jwks === undefined ? {} : { jwks: await readKeys(flags.jwks) };
  const report = await verifyNow(exported, { checkpoints, ...keys, ...nowOf(flags) });
  if (kept.some((notes) => report.revoked.includes(notes.at(-1) ?? ""))) {
    return verdictOf(inDoubt(report));
  }
  const verdict = verdictOf(report);
  const left = checkpoints.length - report.compared;
  if (verdict.exitCode === 0 && left > 0) {
    throw new CannotTell(
      `${left} of the checkpoints are of no log in ${exported}, and were compared with nothing. The installation's log is looked through by verify export --log`,
    );
  }
  return verdict;
}

/** Newer checkpoints of the export may count, and say nothing about the two that were asked about. */
function inDoubt(report: ExportReport): ExportReport {
  const words =
    "a revoked key signed one of the two states, so it proves nothing about the other. Give one that another key signed";
  return { ...report, isValid: false, doubts: [...report.doubts, words] };
}

async function flawBetween(
  one: Kept,
  other: Kept,
  flags: ConsistencyFlags,
): Promise<string | null> {
  if (one.origin !== other.origin)
    throw new CannotTell(`they are of two logs, ${one.origin} and ${other.origin}`);
  const set = await readKeys(flags.jwks ?? keysBeside(flags.log));
  let revoked: number | null = null;
  for (const { note, origin, size } of [one, other]) {
    const standing = await standingOf(note, origin, set);
    if (standing === "unsigned")
      return `the checkpoint of ${size} entries isn't signed by the issuer`;
    if (standing === "revoked") revoked ??= size;
  }
  if (revoked !== null)
    throw new CannotTell(
      `no key that counts signed the checkpoint of ${revoked} entries, and a key that was revoked may have: who stole it can sign any. Give one that another key signed`,
    );
  if (other.size < one.size)
    return `rolled back: ${one.size} entries were signed, and later ${other.size}`;
  if (one.size === other.size) {
    return isEqual(one.root, other.root)
      ? null
      : `split view: two checkpoints of ${one.size} entries have other roots`;
  }
  if (one.size === 0) return null;
  const isRight = await isConsistent(
    {
      oldSize: one.size,
      newSize: other.size,
      oldRoot: one.root,
      newRoot: other.root,
      proof: await readProof(one, other, flags),
    },
    nodeTools.hashMany,
  );
  return isRight
    ? null
    : `split view: ${other.size} entries don't contain the ${one.size} of before`;
}

async function readProof(
  one: Kept,
  other: Kept,
  { log, key }: ConsistencyFlags,
): Promise<Uint8Array[]> {
  if (log === undefined)
    throw new CannotTell("two checkpoints alone say nothing: give --export FILE or --log URL");
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  return new ServedTiles(log, { size: other.size, headers }).consistency(one.size);
}

async function readCheckpoint(path: string): Promise<Kept> {
  const note = parseNote(await readText(path));
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null)
    throw new CannotTell(`${path} holds no signed checkpoint`);
  return { ...checkpoint, note };
}

/** A service serves its keys beside its log. */
function keysBeside(log: string | undefined): string {
  const [, start] = /^(https?:\/\/.*?)\/log(?:\/|$)/.exec(log ?? "") ?? [];
  if (start === undefined) throw new CannotTell("give the issuer's keys: --jwks FILE or URL");
  return `${start}/.well-known/jwks.json`;
}
