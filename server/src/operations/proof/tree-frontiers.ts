// Reads what trees end with, and holds it to their rows: whatever has happened to these, nothing is built on hashes that
// are not the tree's, and no head is signed that is not the root of its entries.

import type { Queryable } from "../../database/database.ts";
import { isUnavailable } from "../../database/faults.ts";
import { type Frontier, frontierNodes, rootOf } from "../../domain/proof/tree.ts";
import * as logEntries from "../../storage/proof/log-entries.ts";
import type { LogTree } from "../../storage/proof/log-trees.ts";

/** In the order of the trees. Throws if one is not what its hashes say, or lacks some. */
export async function readFrontiers(
  db: Queryable,
  trees: readonly Pick<LogTree, "id" | "size" | "root">[],
): Promise<Frontier[]> {
  const nodes = trees.map(({ id: treeId, size }) =>
    frontierNodes(size).map((node) => ({ ...node, treeId })),
  );
  const hashOf = await logEntries.readNodesOfMany(db, nodes.flat());
  return trees.map(({ id, size, root }, at) => {
    const frontier: Frontier = { size, hashes: (nodes[at] ?? []).map(hashOf) };
    if (!rootOf(frontier).equals(root))
      throw new Error(`the log ${id} was changed: its root differs`);
    return frontier;
  });
}

/** Whether the tree had this root when it had this size. Not if it lacks the hashes of so many entries. */
export async function isRootAt(
  db: Queryable,
  head: Pick<LogTree, "id" | "size" | "root">,
): Promise<boolean> {
  try {
    return (await readFrontiers(db, [head])).length > 0;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return false;
  }
}
