// Statements of the superuser of an embedded PostgreSQL, which no part of the service ever runs.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { superuserName } from "../src/database/embedded-postgres/cluster.ts";

type Place = { host: string; port: number };

export function asSuperuser(dataDir: string, place: Place, ...statements: string[]): Promise<void> {
  return asSuperuserIn("postgres", dataDir, place, ...statements);
}

export async function asSuperuserIn(
  database: string,
  dataDir: string,
  { host, port }: Place,
  ...statements: string[]
): Promise<void> {
  const password = await readFile(join(dataDir, "postgres", "superuser-password"), "utf8");
  const client = new pg.Client({
    ...{ host, port, user: superuserName, password: password.trim(), database },
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
