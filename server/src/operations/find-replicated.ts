// Answers that repeat an earlier one promise what that one promised: that the change can't be lost with the primary.

import { type Database, inTransaction, type Transaction } from "../database/database.ts";

/**
 * Finds something, and waits until synchronous standbys, where there are any, have everything committed before. A read
 * waits for nothing, so it may see a row whose own commit was not waited for. PostgreSQL waits at the commit of what it
 * writes. Both are one transaction: after a change of the primary, the wait alone would be for another server's rows.
 */
export async function findReplicated<Found>(
  db: Database,
  find: (tx: Transaction) => Promise<Found | null>,
): Promise<Found | null> {
  return inTransaction(db, async (tx) => {
    const found = await find(tx);
    if (found === null) return null;
    await tx.query({
      name: "replication.wait",
      text: `select pg_logical_emit_message(true, 'countersign', '')
        where current_setting('synchronous_standby_names') <> ''`,
    });
    return found;
  });
}
