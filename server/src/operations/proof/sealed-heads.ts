// Which heads and checkpoints of logs are ours. The service's database role may write heads, entries and checkpoints: what
// this process builds on or signs was sealed under SECRET_KEY, or is in a checkpoint that a key of ours has signed.

import type { Queryable } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { type Head, type SealState, stateOfSeal } from "../../domain/proof/head-seal.ts";
import {
  type Checkpoint,
  ed25519,
  openNote,
  parseCheckpoint,
  parseNote,
  verifierKey,
} from "../../domain/proof/note.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import type { LogTree } from "../../storage/proof/log-trees.ts";
import * as signingKeys from "../../storage/proof/signing-keys.ts";
import { listOwnKeys } from "./signing-keys.ts";
import { isRootAt } from "./tree-frontiers.ts";

/** In the order of the trees. Asks nothing of the database where all seals are ours. */
export async function statesOfHeads(
  db: Queryable,
  keyring: Keyring,
  trees: readonly LogTree[],
): Promise<SealState[]> {
  const states = trees.map((tree) => stateOfSeal(keyring, tree, tree.seal));
  const others = trees.filter((_, at) => states[at] !== "ours");
  if (others.length === 0) return states;
  const signed = new Set(await listSigned(db, others, await listOwnKeys(db, keyring)));
  return states.map((state, at) => (signed.has(trees[at]?.id ?? 0) ? "ours" : state));
}

/** The ids of those trees of which one of these keys has signed the very head. */
export async function listSigned(
  db: Queryable,
  heads: readonly Head[],
  publicKeys: readonly Uint8Array[],
): Promise<number[]> {
  const found = await logCheckpoints.listAt(
    db,
    heads.map(({ id: treeId, size }) => ({ treeId, size })),
  );
  const notes = new Map(found.map(({ treeId, note }) => [treeId, note]));
  return heads.flatMap(({ id, origin, size, root }) => {
    const signed = openOwnCheckpoint(notes.get(id) ?? "", publicKeys);
    const isSame = signed?.origin === origin && signed.size === size && signed.root.equals(root);
    return isSame ? id : [];
  });
}

/**
 * Of a log the newest checkpoint that is right. Somebody else's may be behind it, or between ours. One of a key that
 * SECRET_KEY opens no longer counts if the log has that very root.
 */
export async function findNewestRight(
  db: Queryable,
  keyring: Keyring,
  { id: treeId, origin, size }: Head,
): Promise<logCheckpoints.KeptCheckpoint | null> {
  const own = await listOwnKeys(db, keyring);
  const listed = (await signingKeys.list(db)).map(({ publicKey }) => publicKey);
  for (let from = size; ; ) {
    const page = await logCheckpoints.listDown(db, { treeId, from, limit: lookedAtOnce });
    for (const kept of page) {
      const signed = openOwnCheckpoint(kept.note, listed);
      if (signed?.origin !== origin || signed.size !== kept.size) continue;
      if (openOwnCheckpoint(kept.note, own) !== null) return kept;
      if (await isRootAt(db, { id: treeId, size: signed.size, root: signed.root })) return kept;
    }
    if (page.length < lookedAtOnce) return null;
    from = (page.at(-1)?.size ?? 0) - 1;
  }
}

const lookedAtOnce = 10;

/** What this process has signed, and with which key: checking a signature takes as long as a hundred hashes. */
const signedHere = new Map<string, Uint8Array>();
const signedHereMax = 8_192;

export function rememberSigned(note: string, publicKey: Uint8Array): void {
  signedHere.set(note, publicKey);
  const [oldest] = signedHere.size > signedHereMax ? signedHere.keys() : [];
  if (oldest !== undefined) signedHere.delete(oldest);
}

/** Null if none of these keys has signed it under the log's own name. */
export function openOwnCheckpoint(
  note: string,
  publicKeys: readonly Uint8Array[],
): Checkpoint | null {
  const { text = "" } = parseNote(note) ?? {};
  const checkpoint = parseCheckpoint(text);
  if (checkpoint === null) return null;
  const known = signedHere.get(note);
  if (known !== undefined && publicKeys.some((key) => Buffer.compare(key, known) === 0))
    return checkpoint;
  const keys = publicKeys.map((publicKey) => verifierKey(checkpoint.origin, ed25519, publicKey));
  return openNote(note, keys) === null ? null : checkpoint;
}

/**
 * Of each whether it is ours; not if its seal's key was given up. Throws if somebody changed one, or its key is still
 * awaited.
 */
export async function areOwnHeads(
  db: Queryable,
  keyring: Keyring,
  trees: readonly LogTree[],
): Promise<boolean[]> {
  const states = await statesOfHeads(db, keyring, trees);
  return states.map((state, at) => {
    const tree = trees[at];
    const isFault = state === "changed" || state === "awaited";
    if (tree !== undefined && isFault) throw faultOfHead(tree, state);
    return state === "ours";
  });
}

export function faultOfHead({ origin, seal }: LogTree, state: "changed" | "awaited"): Error {
  if (state === "awaited")
    return new Error(
      `SECRET_KEY lacks the key ${seal?.sealedBy}, with which the head of the log ${origin} was sealed`,
    );
  const how =
    seal === null ? ", which bears no seal (one from before seals is taken if it is signed)" : "";
  return new Error(`the log ${origin} was changed: this service has not sealed its head${how}`);
}
