// Stands in for pgbench where there is none: the same statements through `pg`, without HTTP around them.

import { randomBytes } from "node:crypto";
import { openDatabase } from "../../server/src/storage/database.ts";
import type { NoteCall, StatementLoad } from "./load-process.ts";
import type { Statement } from "./workloads.ts";

export async function loopStatements(load: StatementLoad, record: NoteCall): Promise<void> {
  const { connection, clients, statements } = load;
  const db = openDatabase({ connection, connectionsMax: clients, onIdleFault: () => {} });
  async function loop(_: unknown, client: number): Promise<void> {
    for (let turn = client; ; turn += 1) {
      const statement = statements[turn % statements.length];
      if (statement === undefined) return;
      const sentAt = performance.now();
      await db.query({ ...statement, values: valuesOf(statement, client) });
      if (!record(sentAt)) return;
    }
  }
  try {
    await Promise.all(Array.from({ length: clients }, loop));
  } finally {
    await db.end();
  }
}

function valuesOf({ values, varying }: Statement, client: number): unknown[] {
  if (varying === null) return values;
  const { keyAt, keys, digestsAt } = varying;
  return values.with(keyAt, keys[client % keys.length]).with(digestsAt, [randomBytes(32)]);
}
