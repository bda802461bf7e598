// Finds logs that need a hand: heads that were committed and never signed, because their worker died or the key was
// missing, and logs that find themselves in another database, which are left for the next one.

import { type Database, inTransaction } from "../../database/database.ts";
import { isUnavailable } from "../../database/faults.ts";
import { sealHead } from "../../domain/proof/head-seal.ts";
import { logsAtOnce } from "../../domain/proof/log-limits.ts";
import { isSameHome } from "../../domain/proof/log-origin.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import { installation, type LogOwner } from "../../storage/proof/log-pending.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import * as signingKeys from "../../storage/proof/signing-keys.ts";
import { areOwnHeads, faultOfHead, openOwnCheckpoint, statesOfHeads } from "./sealed-heads.ts";
import { followTrees, type LogParts, reopenTree } from "./sequence-log.ts";

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
 * Seals heads with the newest key of SECRET_KEY, so that the operator can take an older one out of it, and signed heads
 * from before seals. Logs that grow get there by themselves. Answers the faults of those that could not be sealed.
 */
export async function resealLogs({ db, keyring }: Omit<LogParts, "origin">): Promise<Error[]> {
  const older = keyring.all.map(({ id }) => id).filter((id) => id !== keyring.current.id);
  const owners = await logTrees.listToSeal(db, older);
  const faults: Error[] = [];
  for (let at = 0; at < owners.length; at += logsAtOnce) {
    const some = owners.slice(at, at + logsAtOnce);
    await inTransaction(db, async (tx) => {
      const trees = (await logTrees.lockMany(tx, some)).map(({ tree }) => tree);
      const states = await statesOfHeads(tx, keyring, trees);
      const own = trees.filter((_, place) => states[place] === "ours");
      if (own.length > 0)
        await logTrees.growMany(
          tx,
          own.map((tree) => ({ ...tree, seal: sealHead(keyring, tree) })),
        );
      for (const [place, tree] of trees.entries()) {
        const state = states[place];
        // One without a seal is told wherever it is to grow or to be signed.
        if (tree.seal !== null && (state === "changed" || state === "awaited"))
          faults.push(new Error("a head was not sealed anew", { cause: faultOfHead(tree, state) }));
      }
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
    await areOwnHeads(tx, keyring, [tree]);
    const growth = { tx, keyring, publicUrl: origin.publicUrl };
    return (await reopenTree(growth, tree, { home, previous: null }))?.tree ?? null;
  });
}

/**
 * By the operator, after a restore that nothing here can notice, such as that of a whole data directory. `after` is the
 * newest checkpoint that somebody has kept: the new log names it.
 */
export async function reopenLog(
  { db, keyring, origin }: LogParts,
  { workspaceId, after }: { workspaceId: string | null; after: string | null },
): Promise<{ closed: string; opened: string; leftBehind: number } | ChangeRefusal> {
  const refusal = after === null ? null : await refuseCheckpoint(db, workspaceId, after);
  if (refusal !== null) return refusal;
  return inTransaction(db, async (tx) => {
    await logTrees.commitDurably(tx);
    const owner = workspaceId ?? installation;
    const tree = await logTrees.lock(tx, owner);
    const former = await logTrees.listOf(tx, owner);
    const last = tree ?? former.at(-1);
    // Somebody may have closed it: the service itself opens the next with that.
    if (last === undefined || (tree === null && !last.isClosed)) {
      return refuse("conflict", "there is no log yet, or it grows in this very moment: try again");
    }
    const reopening = { home: await logTrees.readHome(tx), previous: after };
    const growth = { tx, keyring, publicUrl: origin.publicUrl };
    const opened =
      tree === null
        ? await followTrees(growth, { owner, former }, reopening)
        : await reopenTree(growth, tree, reopening);
    if (opened === null) return refuse("conflict", "another process has reopened it");
    const { leftBehind } = opened;
    return { closed: last.origin, opened: opened.tree.origin, leftBehind };
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
