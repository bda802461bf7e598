// `npm run schema`: writes server/schema.sql from a freshly migrated database.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { useEmbeddedPostgres } from "../src/database/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../src/database/migrations.ts";
import { dumpSchema } from "./schema-dump.ts";

export const schemaFile = join(import.meta.dirname, "..", "schema.sql");

if (import.meta.main) await writeSchema();

async function writeSchema(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-schema-"));
  const log = { info: () => {}, warn: () => {} };
  const postgres = await useEmbeddedPostgres({
    dataDir: join(folder, "data"),
    purpose: "command",
    log,
  });
  if ("inUseBy" in postgres) throw new Error("the temporary PostgreSQL is in use by another");
  try {
    await migrate(postgres.ownerConnection);
    const client = new pg.Client(postgres.ownerConnection);
    await client.connect();
    await writeFile(schemaFile, await dumpSchema(client));
    await client.end();
  } finally {
    await postgres.release();
    await rm(folder, { recursive: true });
  }
}
