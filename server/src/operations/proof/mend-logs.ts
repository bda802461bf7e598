// Finds logs that need a hand: heads that were committed and never signed, because their worker died or the key was
// missing, and logs that find themselves in another database, which are left for the next one.

import { type Database, inTransaction, isUnavailable } from "../../database/database.ts";
import { sealHead } from "../../domain/proof/head-seal.ts";
import { isSameHome } from "../../domain/proof/log-origin.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import { installation, type LogOwner } from "../../storage/proof/log-pending.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import * as signingKeys from "../../storage/proof/signing-keys.ts";
import { isOwnHead, openOwnCheckpoint } from "./sealed-heads.ts";
import { type LogParts, reopenTree } from "./sequence-log.ts";

/** The trees to be signed now. One that can't be reopened keeps no other from it: its fault is answered beside them. */
export async function mendLogs(parts: LogParts): Promise<{ treeIds: number[]; faults: Error[] }> {
  const { db } = parts;
  const home = await logTrees.readHome(db);
  const found = await logTrees.listToMend(db, home);
  const treeIds: number[] = [];
  const faults: Error[] = [];
  for (const tree of found) {
    if (isSameHome(tree.home, home)) treeIds.push(tree.id);
    else {
      const next = await reopenRestored(parts, tree.owner).catch((cause: unknown) => {
        if (isUnavailable(cause)) throw cause;
        faults.push(new Error(`not reopened: ${tree.origin}`, { cause }));
        return null;
      });
      if (next !== null) treeIds.push(next.id);
    }
  }
  return { treeIds, faults };
}

/**
 * Seals heads with the newest key of SECRET_KEY, so that the operator can take an older one out of it. Logs that grow get
 * there by themselves. Answers the faults of those that could not be sealed.
 */
export async function resealLogs({ db, keyring }: Omit<LogParts, "origin">): Promise<Error[]> {
  const older = keyring.all.map(({ id }) => id).filter((id) => id !== keyring.current.id);
  const owners = older.length === 0 ? [] : await logTrees.listSealedBy(db, older);
  const faults: Error[] = [];
  for (const owner of owners) {
    await inTransaction(db, async (tx) => {
      const tree = await logTrees.lock(tx, owner);
      if (tree === null || !(await isOwnHead(tx, keyring, tree))) return;
      await logTrees.growMany(tx, [{ ...tree, seal: sealHead(keyring, tree) }]);
    }).catch((cause: unknown) => {
      if (isUnavailable(cause)) throw cause;
      faults.push(new Error("a head was not sealed anew", { cause }));
    });
  }
  return faults;
}

/** Null if somebody else has done it. */
async function reopenRestored({ db, keyring, origin }: LogParts, owner: LogOwner) {
  return inTransaction(db, async (tx) => {
    await logTrees.commitDurably(tx);
    const home = await logTrees.readHome(tx);
    const tree = await logTrees.lock(tx, owner);
    if (tree === null || isSameHome(tree.home, home)) return null;
    await isOwnHead(tx, keyring, tree);
    const growth = { tx, keyring, publicUrl: origin.publicUrl };
    return reopenTree(growth, tree, { home, previous: null });
  });
}

/**
 * By the operator, after a restore that nothing here can notice, such as that of a whole data directory. `after` is the
 * newest checkpoint that somebody has kept: the new log names it.
 */
export async function reopenLog(
  { db, keyring, origin }: LogParts,
  { workspaceId, after }: { workspaceId: string | null; after: string | null },
): Promise<{ closed: string; opened: string } | ChangeRefusal> {
  const refusal = after === null ? null : await refuseCheckpoint(db, workspaceId, after);
  if (refusal !== null) return refusal;
  return inTransaction(db, async (tx) => {
    await logTrees.commitDurably(tx);
    const tree = await logTrees.lock(tx, workspaceId ?? installation);
    if (tree === null) {
      return refuse("conflict", "there is no log yet, or it grows in this very moment: try again");
    }
    const home = await logTrees.readHome(tx);
    const growth = { tx, keyring, publicUrl: origin.publicUrl };
    const opened = await reopenTree(growth, tree, { home, previous: after });
    if (opened === null) return refuse("conflict", "another process has reopened it");
    return { closed: tree.origin, opened: opened.origin };
  });
}

async function refuseCheckpoint(
  db: Database,
  workspaceId: string | null,
  note: string,
): Promise<ChangeRefusal | null> {
  const trees = await logTrees.listOf(db, workspaceId ?? installation);
  const tree = trees.at(-1);
  if (tree === undefined) return refuse("not_found", "there is no log yet");
  const keys = (await signingKeys.list(db)).map(({ publicKey }) => publicKey);
  const checkpoint = openOwnCheckpoint(note, keys);
  return checkpoint?.origin === tree.origin
    ? null
    : refuse(
        "validation_error",
        `the file holds no checkpoint of ${tree.origin} that a key of this service has signed`,
      );
}
