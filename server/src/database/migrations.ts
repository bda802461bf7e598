// Brings the schema up to date: numbered SQL files, forward only, each applied once in a transaction of its own, by one node
// at a time. It never waits long for a lock, because every call would queue behind it.

import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type Queryable, withSessionSettings } from "./database.ts";
import { DatabaseClient } from "./database-client.ts";
import { isDeadlock } from "./faults.ts";
import { amendmentsFrom } from "./former-migrations.ts";
import { LockWatch } from "./lock-watch.ts";
import {
  listMigrationNames,
  type Migration,
  migrationsFolder,
  numberOf,
  readMigrations,
} from "./migration-files.ts";

/** Any constant number works: two nodes that start at once take turns by it. */
const migrationLock = 7_263_546_281;
const turnLookEveryMs = 200;
const tellOfTurnEveryMs = 30_000;
/** Longer than a second, after which an autovacuum gives way. Calls that queue behind a migration wait for no longer. */
const lockTimeoutMs = 2_000;
/** Doubled at every try, so that calls are held up for ever less of the time. */
const retryMsMin = 1_000;
const retryMsMax = 30_000;

export type MigrateOptions = {
  /** Grants rights, under the same lock. A newer program's rights are left alone: it may run beside this one. */
  afterwards?: (client: Queryable) => Promise<void>;
  /** Hears for what it waits, if it waits. */
  tell?: (message: string) => void;
  folder?: string;
};

type Session = {
  client: DatabaseClient;
  connection: pg.ClientConfig;
  tell: (text: string) => void;
};

/** Brings the schema up to date and returns the applied migrations. */
export async function migrate(
  connection: pg.ClientConfig,
  { afterwards, tell = () => {}, folder = migrationsFolder }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  // A connection of its own, without the pool's time limits: a migration may take long, and so may
  // waiting for another node's. Closing it gives the lock back in every case.
  const client = new DatabaseClient({
    ...withSessionSettings(connection),
    application_name: "countersign migrate",
    keepAlive: true,
  });
  const session = { client, connection, tell };
  await client.connect();
  try {
    await requireUtf8(client);
    await takeTurn(session);
    await client.query("set statement_timeout = 0");
    const applied = await applyMissing(session, migrations);
    if (afterwards !== undefined && !(await isNewerThan(client, migrations))) {
      await patiently(session, "granting rights", () => afterwards(client));
    }
    return applied;
  } finally {
    await client.end();
  }
}

/**
 * Asks again and again instead of waiting in a statement: an index that is built concurrently waits for every statement
 * that began before, so the node that builds it and one that waits for that node would wait for each other.
 */
async function takeTurn({ client, tell }: Session): Promise<void> {
  let toldAtMs = performance.now();
  for (;;) {
    const { rows } = await client.query<{ is_ours: boolean }>(
      "select pg_try_advisory_lock($1) as is_ours",
      [migrationLock],
    );
    if (rows[0]?.is_ours === true) return;
    if (performance.now() - toldAtMs >= tellOfTurnEveryMs) {
      toldAtMs = performance.now();
      tell("another process migrates the database; waiting for it");
    }
    await pause(turnLookEveryMs);
  }
}

export type SchemaDifference = {
  /** Migrations that this program has and the database lacks. */
  missing: string[];
  /** Migrations that the database has and this program doesn't know: a newer program made them. */
  unknown: string[];
  /** Those of them that don't say that they work beside this program. */
  beyond: string[];
};

export async function compareSchema(db: Queryable): Promise<SchemaDifference> {
  await requireReadable(db);
  const known = await listMigrationNames(migrationsFolder);
  const applied = await listApplied(db);
  const ours = numberOf(known.at(-1) ?? "");
  const unknown = [...applied.keys()].filter((name) => !known.includes(name));
  return {
    missing: known.filter((name) => !applied.has(name)),
    unknown,
    beyond: unknown.filter((name) => {
      const { worksBeside = null } = applied.get(name) ?? {};
      return worksBeside === null || worksBeside > ours;
    }),
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

async function applyMissing(session: Session, migrations: Migration[]): Promise<string[]> {
  const { client } = session;
  const applied = await listApplied(client);
  if (applied.size === 0) await client.query(createTable);
  const names: string[] = [];
  for (const migration of migrations) {
    const { name } = migration;
    const checksum = applied.get(name)?.checksum;
    if (checksum === undefined) {
      await patiently(session, name, () => apply(client, migration));
      names.push(name);
    } else if (checksum !== migration.checksum) {
      const isLatest = [...applied.keys()].every((each) => each <= name);
      await patiently(session, name, () => amend(client, migration, { checksum, isLatest }));
      names.push(`${name} (amended)`);
    }
  }
  return names;
}

/** Repeats a step that got no lock in time, for as long as it takes: each try holds calls up only for a moment. */
async function patiently(session: Session, what: string, step: () => Promise<void>): Promise<void> {
  const { client, connection, tell } = session;
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  for (let retryMs = retryMsMin; ; retryMs = Math.min(2 * retryMs, retryMsMax)) {
    const watch = new LockWatch({
      connection: withSessionSettings(connection),
      pid: rows[0]?.pid ?? 0,
      tell: (wait) => tell(`${what} waits for ${wait}`),
    });
    try {
      await client.query(`set lock_timeout = ${lockTimeoutMs}`);
      await step();
      return;
    } catch (error) {
      if (!isLockTimeout(error) && !isDeadlock(error)) throw error;
      await client.query("rollback");
    } finally {
      await watch.stop();
    }
    const wanted = watch.seen ?? "a lock that others hold";
    tell(`${what} waits for ${wanted}; it lets calls pass and tries again in ${retryMs / 1000} s`);
    await pause(retryMs);
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03";
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

async function apply(client: Queryable, migration: Migration): Promise<void> {
  if (!migration.hasTransaction) return applyOutside(client, migration);
  await inOneGo(client, async () => {
    await client.query(migration.sql);
    await note(client, migration);
  });
}

/**
 * One statement that PostgreSQL refuses inside a transaction. It may wait for locks: they hold up nobody's calls, and an
 * index would be begun from its start. A process that was killed has left it undone, half done or done: it is repeated.
 */
async function applyOutside(client: Queryable, migration: Migration): Promise<void> {
  await client.query("set lock_timeout = 0");
  if (migration.index !== null) await dropIfInvalid(client, migration.index);
  await client.query(migration.sql);
  await note(client, migration);
}

/** What a build that was cut off leaves behind: writes keep it up, and nothing reads it. */
async function dropIfInvalid(client: Queryable, index: string): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = current_schema()::regnamespace and c.relname = $1 and not i.indisvalid`,
    [index],
  );
  if (rowCount === 1) await client.query(`drop index concurrently ${index}`);
}

async function isNewerThan(client: Queryable, migrations: Migration[]): Promise<boolean> {
  const known = new Set(migrations.map(({ name }) => name));
  return [...(await listApplied(client)).keys()].some((name) => !known.has(name));
}

async function note(client: Queryable, { name, checksum, worksBeside }: Migration): Promise<void> {
  // The column is there from 0033 on, and so is what it holds.
  if (worksBeside === null) {
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [name, checksum]);
  } else {
    await client.query(
      "insert into migrations (name, checksum, works_beside) values ($1, $2, $3)",
      [name, checksum, worksBeside],
    );
  }
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

type Applied = { checksum: string; worksBeside: string | null };

async function listApplied(db: Queryable): Promise<Map<string, Applied>> {
  const { rows: tables } = await db.query("select 1 where to_regclass('migrations') is not null");
  if (tables.length === 0) return new Map();
  // By way of JSON, because older databases lack the column.
  const { rows } = await db.query<{ name: string; checksum: string; works_beside: string | null }>(
    "select name, checksum, to_jsonb(m)->>'works_beside' as works_beside from migrations m",
  );
  return new Map(
    rows.map(({ name, checksum, works_beside: worksBeside }) => [name, { checksum, worksBeside }]),
  );
}
