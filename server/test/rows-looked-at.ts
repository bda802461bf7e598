// Counts the rows that statements look at, by PostgreSQL's own counters.

import type { Queryable } from "../src/database/database.ts";

/**
 * Runs work in a transaction that is rolled back, and tells how many rows of each table it looked at, foreign keys
 * included. What the connection did before is subtracted: PostgreSQL 14 can't be told to forget it.
 */
export async function rowsLookedAt<Result>(
  client: Queryable,
  work: () => Promise<Result>,
): Promise<{ result: Result; counts: Record<string, number> }> {
  await client.query("begin");
  try {
    const before = await readCounts(client);
    const result = await work();
    const after = await readCounts(client);
    const counts = Object.entries(after).map(([table, rows]) => [
      table,
      rows - (before[table] ?? 0),
    ]);
    return { result, counts: Object.fromEntries(counts) };
  } finally {
    await client.query("rollback");
  }
}

async function readCounts(client: Queryable): Promise<Record<string, number>> {
  const { rows } = await client.query<{ table: string; rows: number }>(
    `select relname as table, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
     from pg_stat_xact_user_tables`,
  );
  return Object.fromEntries(rows.map(({ table, rows: count }) => [table, count]));
}
