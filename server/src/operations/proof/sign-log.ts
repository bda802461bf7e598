// Signs the committed heads of logs, so that the checkpoints can be handed out. Whoever comes after a process that died
// before signing signs in its place: the same key makes the same note of the same head.

import { type Database, inOneStatement } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { isSameHome } from "../../domain/proof/log-origin.ts";
import { checkpointBody, signNote } from "../../domain/proof/note.ts";
import type { Signer } from "../../domain/proof/signing-key.ts";
import * as logCheckpoints from "../../storage/proof/log-checkpoints.ts";
import { installation } from "../../storage/proof/log-pending.ts";
import * as logTrees from "../../storage/proof/log-trees.ts";
import { faultOfHead, stateOfHead } from "./sealed-heads.ts";

/**
 * Answers how many heads were signed. A log from another database is never signed again, and no head that isn't ours.
 * Throws once the others are signed if one was changed.
 */
export async function signLogs(
  { db, keyring }: { db: Database; keyring: Keyring },
  signer: Signer,
  treeIds: readonly number[],
): Promise<number> {
  const found = await logTrees.listByIds(db, treeIds);
  const own: logTrees.LogTree[] = [];
  const faults: Error[] = [];
  for (const { tree, homeNow } of found) {
    if (!isToSign(tree) || !isSameHome(tree.home, homeNow)) continue;
    const state = await stateOfHead(db, keyring, tree);
    if (state === "ours") own.push(tree);
    else if (state !== "given up") faults.push(faultOfHead(tree, state));
  }
  const checkpoints = own.map(({ id: treeId, owner, origin, size, root }) => ({
    ...{ treeId, size, isOfInstallation: owner === installation },
    note: signNote(checkpointBody({ origin, size, root }), origin, signer),
  }));
  const count =
    checkpoints.length === 0
      ? 0
      : await logCheckpoints.insertMany(inOneStatement(db), signer.id, checkpoints);
  if (faults.length === 0) return count;
  const reasons = faults.map(({ message }) => message).join("; ");
  throw new Error(`not signed: ${reasons}`);
}

function isToSign({ isClosed, size }: logTrees.LogTree): boolean {
  return !isClosed && size > 0;
}
