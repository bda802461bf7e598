// Writes the index of words at once, as a worker does a moment later.

import { type Database, inTransaction } from "../src/database/database.ts";
import * as searchIndex from "../src/storage/approvals/search-index.ts";

const batch = 1_000;

export async function indexEverything(db: Database): Promise<void> {
  for (;;) {
    const isMore = await inTransaction(db, async (tx) => {
      const queued = await searchIndex.takeQueued(tx, batch);
      const refs = queued.length > 0 ? queued : await searchIndex.takeBacklog(tx, batch);
      if (refs !== null && refs.length > 0) await searchIndex.writeWords(tx, refs);
      return refs !== null;
    });
    if (!isMore) return;
  }
}
