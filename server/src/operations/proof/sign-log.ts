// Signs the committed heads of logs, so that the checkpoints can be handed out. Whoever comes after a process that died
// before signing signs in its place: the same key makes the same note of the same head.

import { type Database, inOneStatement } from "../../database/database.ts";
import { isSameHome } from "../../domain/proof/log-origin.ts";
import { checkpointBody, signNote } from "../../domain/proof/note.ts";
import type { Signer } from "../../domain/proof/signing-key.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import { installation } from "../../storage/proof/log-pending.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import type { Head } from "./sequence-log.ts";
import { readFrontiers } from "./tree-frontiers.ts";

/**
 * Answers how many heads were signed. A log from another database is never signed again. The service's role may write any
 * head into a log's row: one that this process has not just `made` is computed anew from the entries. Throws once the
 * others are signed if one is another.
 */
export async function signLogs(
  db: Database,
  signer: Signer,
  treeIds: readonly number[],
  made: readonly Head[] = [],
): Promise<number> {
  const found = await logTrees.listByIds(db, treeIds);
  const trees = found
    .filter(({ tree, homeNow }) => isToSign(tree) && isSameHome(tree.home, homeNow))
    .map(({ tree }) => tree);
  const { right, faults } = await examine(db, trees, made);
  const checkpoints = right.map(({ id: treeId, owner, origin, size, root }) => ({
    ...{ treeId, size, isOfInstallation: owner === installation },
    note: signNote(checkpointBody({ origin, size, root }), origin, signer),
  }));
  const count =
    checkpoints.length === 0
      ? 0
      : await logCheckpoints.insertMany(inOneStatement(db), signer.id, checkpoints);
  if (faults.length === 0) return count;
  const origins = faults.map(({ tree }) => tree.origin).join(", ");
  throw new Error(`not signed, because it was changed: ${origins}`, { cause: faults[0]?.cause });
}

type Examined = {
  right: logTrees.LogTree[];
  faults: { tree: logTrees.LogTree; cause: unknown }[];
};

async function examine(
  db: Database,
  trees: readonly logTrees.LogTree[],
  made: readonly Head[],
): Promise<Examined> {
  const examined: Examined = { right: [], faults: [] };
  for (const tree of trees) {
    const isMade = made.some(
      ({ id, size, root }) => id === tree.id && size === tree.size && root.equals(tree.root),
    );
    // One alone, because one that was changed must not keep the others from being signed.
    const cause = isMade ? null : await readFrontiers(db, [tree]).then(() => null, asFault);
    if (cause === null) examined.right.push(tree);
    else examined.faults.push({ tree, cause });
  }
  return examined;
}

function asFault(error: unknown): unknown {
  return error ?? new Error("a log can't be read");
}

function isToSign({ isClosed, size }: logTrees.LogTree): boolean {
  return !isClosed && size > 0;
}
