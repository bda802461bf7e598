// What the worker submits to witnesses, and what it keeps of their answers.

import { type Database, inOneStatement } from "../../database/database.ts";
import { consistencyRanges, nodesOf, proofOf } from "../../domain/proof/tree.ts";
import * as logCosignatures from "../../storage/proof/log-cosignatures.ts";
import { readNodes } from "../../storage/proof/log-entries.ts";

/** The proof that the tree only grew from the one size to the other. */
export async function proveGrowth(
  db: Database,
  treeId: number,
  { from, to }: { from: number; to: number },
): Promise<Buffer[]> {
  const ranges = consistencyRanges(from, to);
  return proofOf(ranges, await readNodes(db, treeId, nodesOf(ranges)));
}

export async function keepCosignature(
  db: Database,
  cosignature: { treeId: number; size: number; witness: string; line: string },
): Promise<void> {
  await logCosignatures.insert(inOneStatement(db), cosignature);
}

/** Whether that was news, of which the owners are told now. */
export async function noteContradiction(
  db: Database,
  contradiction: logCosignatures.Contradiction,
): Promise<boolean> {
  return logCosignatures.insertContradiction(inOneStatement(db), contradiction);
}
