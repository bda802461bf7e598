// Statements of the superuser of an embedded PostgreSQL, which no part of the service ever runs.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { superuserName } from "../src/database/embedded-postgres/cluster.ts";

export async function asSuperuser(
  dataDir: string,
  { host, port }: { host: string; port: number },
  ...statements: string[]
): Promise<void> {
  const password = await readFile(join(dataDir, "postgres", "superuser-password"), "utf8");
  const client = new pg.Client({
    ...{ host, port, user: superuserName, password: password.trim(), database: "postgres" },
  });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A test's own connections may end those of the service, and see what they are doing. */
export const letOwnerWatch = "grant countersign_service to countersign";
