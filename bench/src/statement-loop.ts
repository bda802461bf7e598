// The service's statements through `pg`, without HTTP around them: the ceiling where pgbench is missing, or where it
// cannot go.

import { randomBytes } from "node:crypto";
import { openDatabase } from "../../server/src/database/database.ts";
import type { NoteCall, StatementLoad } from "./load-process.ts";
import type { Statement } from "./workloads.ts";

export async function loopStatements(load: StatementLoad, record: NoteCall): Promise<void> {
  const { connection, clients, statements, isOnce } = load;
  const db = openDatabase({ connection, connectionsMax: clients, onIdleFault: () => {} });
  let taken = 0;
  async function loop(client: number): Promise<void> {
    for (let turn = client; ; turn += 1) {
      const statement = isOnce ? statements[taken++] : statements[turn % statements.length];
      if (statement === undefined) return;
      const sentAt = performance.now();
      await db.query({ ...statement, values: valuesOf(statement, client) });
      if (!record(sentAt)) return;
    }
  }
  try {
    await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  } finally {
    await db.end();
  }
}

function valuesOf({ values, varying }: Statement, client: number): unknown[] {
  if (varying === null) return values;
  const { keyAt, keys, digestsAt } = varying;
  return values.with(keyAt, keys[client % keys.length]).with(digestsAt, [randomBytes(32)]);
}
