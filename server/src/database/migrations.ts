// Numbered SQL files, forward only, each applied once in a transaction of its own under one advisory lock.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type Queryable, withSessionSettings } from "./database.ts";
import { DatabaseClient } from "./database-client.ts";
import { amendmentsFrom } from "./former-migrations.ts";

const folder = join(import.meta.dirname, "..", "..", "migrations");
const namePattern = /^[0-9]{4}_[a-z0-9_]+\.sql$/;
/** Any constant number works: two nodes that start at once take turns by it. */
const migrationLock = 7_263_546_281;

type Migration = { name: string; sql: string; checksum: string };

/**
 * Brings the schema up to date and returns the applied migrations. `afterwards` is done in any case, under the same lock.
 */
export async function migrate(
  connection: pg.ClientConfig,
  afterwards?: (client: Queryable) => Promise<void>,
): Promise<string[]> {
  const migrations = await readMigrations();
  // A connection of its own, without the pool's time limits: a migration may take long, and so may
  // waiting for another node's. Closing it gives the lock back in every case.
  const client = new DatabaseClient({
    ...withSessionSettings(connection),
    application_name: "countersign migrate",
  });
  await client.connect();
  try {
    await requireUtf8(client);
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    const applied = await applyMissing(client, migrations);
    await afterwards?.(client);
    return applied;
  } finally {
    await client.end();
  }
}

export type SchemaDifference = {
  /** Migrations that this program has and the database lacks. */
  missing: string[];
  /** Migrations that the database has and this program doesn't know: a newer program made them. */
  unknown: string[];
};

export async function compareSchema(db: Queryable): Promise<SchemaDifference> {
  await requireReadable(db);
  const known = await listMigrationNames();
  const applied = await listApplied(db);
  return {
    missing: known.filter((name) => !applied.has(name)),
    unknown: [...applied.keys()].filter((name) => !known.includes(name)),
  };
}

export async function listMissingMigrations(db: Queryable): Promise<string[]> {
  return (await compareSchema(db)).missing;
}

/** A standby answers reads, and so does a primary that was told to take no writes. */
export async function isReadOnly(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ is_read_only: boolean }>(
    "select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only",
  );
  return rows[0]?.is_read_only === true;
}

/** A role that was just made has no rights before the owner has migrated. */
async function requireReadable(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ role: string }>(
    `select current_user as role from pg_class
     where oid = to_regclass('migrations') and not has_table_privilege(oid, 'select')`,
  );
  if (rows[0] === undefined) return;
  throw new OperatorFault(
    `The role ${rows[0].role} of DATABASE_URL may not read the tables. Run \`countersign migrate\` with DATABASE_OWNER_URL, which grants it what it needs.`,
  );
}

/** Another encoding could not store agents' texts. */
async function requireUtf8(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>("show server_encoding");
  const encoding = rows[0]?.server_encoding ?? "unknown";
  if (encoding === "UTF8") return;
  throw new OperatorFault(
    `The database's encoding is ${encoding}, but must be UTF8. Make one with: create database countersign encoding 'UTF8' template template0`,
  );
}

async function applyMissing(client: Queryable, migrations: Migration[]): Promise<string[]> {
  const applied = await listApplied(client);
  if (applied.size === 0) await client.query(createTable);
  const names: string[] = [];
  for (const migration of migrations) {
    const checksum = applied.get(migration.name);
    if (checksum === undefined) {
      await apply(client, migration);
      names.push(migration.name);
    } else if (checksum !== migration.checksum) {
      await amend(client, migration, { checksum, isLatest: isLatest(migration, applied) });
      names.push(`${migration.name} (amended)`);
    }
  }
  return names;
}

function isLatest({ name }: Migration, applied: Map<string, string>): boolean {
  return [...applied.keys()].every((each) => each <= name);
}

/** Brings a database on which a former text of the migration was applied to its final one. */
async function amend(
  client: Queryable,
  { name, checksum: final }: Migration,
  { checksum, isLatest }: { checksum: string; isLatest: boolean },
): Promise<void> {
  const steps = amendmentsFrom(name, checksum);
  // The steps start from the former text's result, before any later migration changed it.
  if (steps.at(-1)?.to !== final || !isLatest) {
    throw new OperatorFault(
      `The migration ${name} was changed after it had been applied to this database: it was applied with the checksum ${checksum.slice(0, 12)}, and is ${final.slice(0, 12)} here. Run the version of Countersign that made this database, or restore the file. Migrations are frozen: put a change of your own into a new file.`,
    );
  }
  await inOneGo(client, async () => {
    for (const { sql } of steps) await client.query(sql);
    await client.query("update migrations set checksum = $2 where name = $1", [name, final]);
  });
}

async function apply(client: Queryable, { name, sql, checksum }: Migration): Promise<void> {
  await inOneGo(client, async () => {
    await client.query(sql);
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [name, checksum]);
  });
}

async function inOneGo(client: Queryable, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await work();
    await client.query("commit");
  } catch (error) {
    // On a lost connection there is nothing to roll back, and the first fault says more.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

const createTable = `
  create table if not exists migrations (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`;

async function listApplied(db: Queryable): Promise<Map<string, string>> {
  const { rows: tables } = await db.query("select 1 where to_regclass('migrations') is not null");
  if (tables.length === 0) return new Map();
  const { rows } = await db.query<{ name: string; checksum: string }>(
    "select name, checksum from migrations",
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

let migrationNames: readonly string[] | null = null;

/** Read once: a probe asks every few seconds, also when the process has no file descriptor left. */
async function listMigrationNames(): Promise<readonly string[]> {
  migrationNames ??= (await readdir(folder)).filter((name) => namePattern.test(name)).sort();
  return migrationNames;
}

async function readMigrations(): Promise<Migration[]> {
  const names = await listMigrationNames();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), "utf8");
      const checksum = createHash("sha256").update(sql).digest("hex");
      return { name, sql, checksum };
    }),
  );
}
