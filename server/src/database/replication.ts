// Answers that repeat an earlier one promise what that one promised: that the change can't be lost with the primary.

import type { Database } from "./database.ts";

/**
 * Waits until synchronous standbys, where there are any, have everything committed before. A read waits for nothing, so
 * it may see a row whose own commit was not waited for. PostgreSQL waits at the commit of what it writes.
 */
export async function waitForStandbys(db: Database): Promise<void> {
  await db.query({
    name: "replication.wait",
    text: `select pg_logical_emit_message(true, 'countersign', '')
      where current_setting('synchronous_standby_names') <> ''`,
  });
}
