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
import * as signingKeys from "../../storage/proof/signing-keys.ts";
import { faultOfHead, listSigned, rememberSigned, statesOfHeads } from "./sealed-heads.ts";

/**
 * Answers how many heads were signed. A log from another database is never signed again, and no head that isn't ours.
 * Throws once the others are signed if one was changed.
 */
export async function signLogs(
  { db, keyring }: { db: Database; keyring: Keyring },
  signer: Signer,
  treeIds: readonly number[],
): Promise<number> {
  const trees = (await logTrees.listByIds(db, treeIds))
    .filter(({ tree, homeNow }) => isToSign(tree) && isSameHome(tree.home, homeNow))
    .map(({ tree }) => tree);
  const states = await statesOfHeads(db, keyring, trees);
  const own = trees.filter((_, at) => states[at] === "ours");
  const faults = trees.flatMap((tree, at) => {
    const state = states[at];
    return state === "changed" || state === "awaited" ? faultOfHead(tree, state) : [];
  });
  const checkpoints = own.map(({ id: treeId, owner, origin, size, root }) => ({
    ...{ treeId, size, isOfInstallation: owner === installation },
    note: signNote(checkpointBody({ origin, size, root }), origin, signer),
  }));
  for (const { note } of checkpoints) rememberSigned(note, signer.publicKey);
  const count =
    checkpoints.length === 0
      ? 0
      : await logCheckpoints.insertMany(inOneStatement(db), signer.id, checkpoints);
  if (count < own.length) faults.push(...(await listDisplaced(db, own)));
  if (faults.length === 0) return count;
  const reasons = faults.map(({ message }) => message).join("; ");
  throw new Error(`not signed: ${reasons}`);
}

/** Where ours found its place taken, another process has signed the same head, or somebody has put something else there. */
async function listDisplaced(db: Database, own: readonly logTrees.LogTree[]): Promise<Error[]> {
  const keys = (await signingKeys.list(db)).map(({ publicKey }) => publicKey);
  const signed = new Set(await listSigned(db, own, keys));
  return own
    .filter(({ id }) => !signed.has(id))
    .map(
      ({ origin, size }) =>
        new Error(
          `the log ${origin} was changed: in the place of its checkpoint of ${size} entries is another`,
        ),
    );
}

function isToSign({ isClosed, size }: logTrees.LogTree): boolean {
  return !isClosed && size > 0;
}
