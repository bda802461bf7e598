// Opens what a process needs to work on the data: the database, embedded or external, and the secret keys.

import type pg from "pg";
import type { DatabaseAddresses } from "../database/addresses.ts";
import {
  type Database,
  openDatabase,
  type Queryable,
  withSessionSettings,
} from "../database/database.ts";
import { DatabaseClient } from "../database/database-client.ts";
import {
  type EmbeddedPostgresInUse,
  useEmbeddedPostgres,
} from "../database/embedded-postgres/embedded-postgres.ts";
import { isNotAllowed } from "../database/faults.ts";
import { listMissingMigrations, migrate } from "../database/migrations.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { readOrMakeSecretKey, withSecretKeyOfFile } from "./secret-key-file.ts";
import { migrateAsOwner } from "./service-rights.ts";
import * as workspaces from "./workspaces/workspaces.ts";

export type Store = {
  kind: "embedded" | "external";
  db: Database;
  /** For a connection beside the pool that is a session of its own: listening. */
  connection: pg.ClientConfig;
  keyring: Keyring;
  /** A pool for the worker alone, so that neither it nor the calls wait for each other. Its user closes it. */
  openWorkerPool(): Database;
  /** Brings the schema up to date, as its owner where that is another role, and answers with what was applied. */
  migrate(): Promise<string[]>;
  close(): Promise<void>;
};

/** Two to claim, two to record, one to sweep; the rest is brief. */
const workerConnectionsMax = 6;

/** A planned change of the primary is over by then, and callers wait longer than this for an answer. */
const shortOutageMs = 8_000;

export type StoreOptions = DatabaseAddresses & {
  databaseConnectionsMax: number;
  dataDir: string;
  keyring: Keyring | null;
  /** Ids of keys that the operator has given up. */
  lostSecretKeyIds: readonly string[];
  purpose: "serve" | "command";
  log: { info(message: string): void; warn(message: string): void };
};

export async function openStore(options: StoreOptions): Promise<Store | EmbeddedPostgresInUse> {
  return options.databaseUrl === null
    ? openEmbedded(options)
    : openExternal(options, options.databaseUrl);
}

async function openEmbedded(options: StoreOptions): Promise<Store | EmbeddedPostgresInUse> {
  const postgres = await useEmbeddedPostgres(options);
  if ("inUseBy" in postgres) return postgres;
  const { connection, ownerConnection } = postgres;
  const db = openPool(options, connection);
  const close = async () => {
    await db.end();
    await postgres.release();
  };
  try {
    const keyring = await keyringOfFile(options, db);
    return {
      kind: "embedded",
      db,
      connection,
      keyring: { ...keyring, lost: options.lostSecretKeyIds },
      openWorkerPool: () => openWorkerPool(options, connection),
      migrate: () =>
        migrateAsOwner(ownerConnection, connection.user, (message) => options.log.warn(message)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function keyringOfFile({ keyring, dataDir }: StoreOptions, db: Database): Promise<Keyring> {
  return keyring === null
    ? readOrMakeSecretKey(dataDir, () => isInUse(db))
    : withSecretKeyOfFile(keyring, dataDir);
}

/** Nothing needs a key before there is a workspace. */
async function isInUse(db: Database): Promise<boolean> {
  const { rows } = await db.query("select 1 where to_regclass('workspaces') is not null");
  return rows.length > 0 && workspaces.exists(db);
}

function openExternal(options: StoreOptions, databaseUrl: string): Store {
  const isThroughPooler = options.databaseDirectUrl !== null;
  const connection = { connectionString: options.databaseDirectUrl ?? databaseUrl };
  const db = openPool(options, { connectionString: databaseUrl }, isThroughPooler);
  if (options.keyring === null) throw new Error("an external database needs a SECRET_KEY");
  return {
    kind: "external",
    db,
    connection,
    keyring: { ...options.keyring, lost: options.lostSecretKeyIds },
    openWorkerPool: () => openWorkerPool(options, connection),
    migrate: () => migrateExternal(options, { db, connection }),
    close: () => db.end(),
  };
}

/** The most careful operator migrates before a deployment, and runs the service without the owner's address. */
async function migrateExternal(
  { databaseDirectUrl, databaseOwnerUrl, log }: StoreOptions,
  { db, connection }: { db: Database; connection: pg.ClientConfig },
): Promise<string[]> {
  if (databaseDirectUrl !== null) await requireSameDatabase(db, connection);
  if (databaseOwnerUrl === null) {
    if (await isOthersTable(db)) await requireMigrated(db, "run `countersign migrate` with it");
    return migrate(connection, { tell: (message) => log.warn(message) }).catch(explainRefusal);
  }
  const { rows } = await db.query<{ role: string }>("select current_user as role");
  const owner = { connectionString: databaseOwnerUrl };
  const tell = (message: string) => log.warn(message);
  const applied = await migrateAsOwner(owner, rows[0]?.role ?? null, tell);
  await requireMigrated(db, "it leads to another database or schema than DATABASE_URL");
  return applied;
}

/** Calls on one database and workers on another would each look well. */
async function requireSameDatabase(db: Database, connection: pg.ClientConfig): Promise<void> {
  const direct = new DatabaseClient(withSessionSettings(connection));
  await direct.connect();
  try {
    const [there, here] = [await describePlace(direct), await describePlace(db)];
    if (there === here) return;
    throw new OperatorFault(
      `DATABASE_DIRECT_URL leads to ${there}, and DATABASE_URL to ${here}. Both must lead to the same database, as the same role.`,
    );
  } finally {
    await direct.end().catch(() => {});
  }
}

async function describePlace(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ place: string }>(
    `select format('database %I of the cluster %s, schema %I, as role %I', current_database(),
       (select system_identifier from pg_control_system()), current_schema(), current_user) as place`,
  );
  return rows[0]?.place ?? "";
}

function explainRefusal(error: unknown): never {
  if (!isNotAllowed(error)) throw error;
  throw new OperatorFault(
    `The role of DATABASE_URL may not make the tables (${error.message}). Give the address of their owner in DATABASE_OWNER_URL.`,
    { cause: error },
  );
}

/** Whether somebody else owns our tables, so that we can't migrate them. */
async function isOthersTable(db: Database): Promise<boolean> {
  const { rowCount } = await db.query(
    "select from pg_class where oid = to_regclass('migrations') and not pg_has_role(relowner, 'usage')",
  );
  return rowCount === 1;
}

async function requireMigrated(db: Database, advice: string): Promise<void> {
  const missing = await listMissingMigrations(db);
  if (missing.length === 0) return;
  throw new OperatorFault(
    `The database lacks ${missing.join(", ")}, and the role of DATABASE_URL doesn't own its tables. Check DATABASE_OWNER_URL: ${advice}.`,
  );
}

function openPool(
  { databaseConnectionsMax, purpose, log }: StoreOptions,
  connection: pg.ClientConfig,
  isThroughPooler = false,
) {
  return openDatabase({
    ...(purpose === "serve" ? { shortOutageMs } : {}),
    connection,
    isThroughPooler,
    connectionsMax: databaseConnectionsMax,
    onIdleFault: (error) => log.warn(`a database connection was lost: ${error.message}`),
  });
}

function openWorkerPool({ log }: StoreOptions, connection: pg.ClientConfig): Database {
  return openDatabase({
    connection: { ...connection, application_name: "countersign worker" },
    connectionsMax: workerConnectionsMax,
    walksIndexes: true,
    onIdleFault: (error) => log.warn(`a database connection was lost: ${error.message}`),
  });
}
