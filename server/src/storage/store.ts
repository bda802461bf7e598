// Opens what a process needs to work on the data: the database, embedded or external, and the secret keys.

import type pg from "pg";
import { type Database, openDatabase } from "../database/database.ts";
import {
  type EmbeddedPostgresInUse,
  useEmbeddedPostgres,
} from "../database/embedded-postgres/embedded-postgres.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { readOrMakeSecretKey, withSecretKeyOfFile } from "./secret-key-file.ts";
import * as workspaces from "./workspaces/workspaces.ts";

export type Store = {
  kind: "embedded" | "external";
  db: Database;
  /** For connections beside the pool: migrations and listening. */
  connection: pg.ClientConfig;
  keyring: Keyring;
  /** A pool for the worker alone, so that neither it nor the calls wait for each other. Its user closes it. */
  openWorkerPool(): Database;
  close(): Promise<void>;
};

/** Two to claim, two to record, one to sweep; the rest is brief. */
const workerConnectionsMax = 6;

export type StoreOptions = {
  databaseUrl: string | null;
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
  const { connection } = postgres;
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
  const connection = { connectionString: databaseUrl };
  const db = openPool(options, connection);
  if (options.keyring === null) throw new Error("an external database needs a SECRET_KEY");
  return {
    kind: "external",
    db,
    connection,
    keyring: { ...options.keyring, lost: options.lostSecretKeyIds },
    openWorkerPool: () => openWorkerPool(options, connection),
    close: () => db.end(),
  };
}

function openPool({ databaseConnectionsMax, log }: StoreOptions, connection: pg.ClientConfig) {
  return openDatabase({
    connection,
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
