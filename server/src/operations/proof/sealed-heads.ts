// Which heads of logs are ours. The service's database role may write heads, entries and checkpoints: what this process
// builds on or signs was sealed under SECRET_KEY, or is in a checkpoint that a key of ours has signed.

import type { Queryable } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { type SealState, stateOfSeal } from "../../domain/proof/head-seal.ts";
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
import { listOwnKeys } from "./signing-keys.ts";

export async function stateOfHead(
  db: Queryable,
  keyring: Keyring,
  tree: LogTree,
): Promise<SealState> {
  const state = stateOfSeal(keyring, tree, tree.seal);
  return state === "ours" || (await isHeadSigned(db, keyring, tree)) ? "ours" : state;
}

async function isHeadSigned(db: Queryable, keyring: Keyring, { id, origin, size, root }: LogTree) {
  const checkpoint = await logCheckpoints.find(db, { treeId: id, size });
  if (checkpoint === null) return false;
  const signed = openOwnCheckpoint(checkpoint.note, await listOwnKeys(db, keyring));
  return signed?.origin === origin && signed.size === size && signed.root.equals(root);
}

/** Null if none of these keys has signed it under the log's own name. */
export function openOwnCheckpoint(
  note: string,
  publicKeys: readonly Uint8Array[],
): Checkpoint | null {
  const { text = "" } = parseNote(note) ?? {};
  const checkpoint = parseCheckpoint(text);
  if (checkpoint === null) return null;
  const keys = publicKeys.map((publicKey) => verifierKey(checkpoint.origin, ed25519, publicKey));
  return openNote(note, keys) === null ? null : checkpoint;
}

/** Whether it is ours; not if its seal's key was given up. Throws if somebody changed it, or the key is still awaited. */
export async function isOwnHead(db: Queryable, keyring: Keyring, tree: LogTree): Promise<boolean> {
  const state = await stateOfHead(db, keyring, tree);
  if (state === "changed" || state === "awaited") throw faultOfHead(tree, state);
  return state === "ours";
}

export function faultOfHead({ origin, seal }: LogTree, state: "changed" | "awaited"): Error {
  return new Error(
    state === "changed"
      ? `the log ${origin} was changed: this service has not sealed its head`
      : `SECRET_KEY lacks the key ${seal?.sealedBy}, with which the head of the log ${origin} was sealed`,
  );
}
