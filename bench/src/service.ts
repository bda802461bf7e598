// Starts the service on a fresh embedded PostgreSQL, as a user would, and leaves nothing of it behind.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Database, openDatabase } from "../../server/src/database/database.ts";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../../server/src/database/embedded-postgres/embedded-postgres.ts";
import { findPrograms } from "../../server/src/database/embedded-postgres/programs.ts";
import { migrate } from "../../server/src/database/migrations.ts";
import type { Keyring } from "../../server/src/domain/access/keyring.ts";
import { readOrMakeSecretKey } from "../../server/src/storage/secret-key-file.ts";

import type { Receiver } from "./receiver-process.ts";

export type Connection = EmbeddedPostgres["connection"];

export type Service = {
  port: number;
  apiKey: string;
  pid: number;
  dataDir: string;
  connection: Connection;
  /** Connections of the benchmark's own, for preparing and looking. */
  db: Database;
  keyring: Keyring;
};

const program = fileURLToPath(new URL("../../server/bin/countersign.mjs", import.meta.url));
/** Longer than the service gives itself to stop. */
const stopTimeoutMs = 20_000;
const ownConnectionsMax = 4;

/**
 * A variable set to nothing counts as not set: nothing of the caller's own service gets in. Everything is as it is by
 * default, but for the rate limit, and the lines about single calls, which would go to this terminal.
 */
const settings = {
  HOST: "127.0.0.1",
  PORT: "0",
  PUBLIC_URL: "",
  DATABASE_URL: "",
  DATABASE_OWNER_URL: "",
  DATABASE_CONNECTIONS: "",
  SECRET_KEY: "",
  RATE_LIMIT: "0",
  LOG_LEVEL: "warn",
  ROLE: "",
  SMTP_URL: "",
  MAIL_FROM: "",
  WEBHOOK_ALLOW_CIDRS: "",
  WEBHOOK_RETRY_DELAYS: "",
  TRUSTED_PROXIES: "",
  LOG_FORMAT: "text",
};

export type Settings = Partial<typeof settings>;

export async function withService<Result>(
  { signal, receiver }: { signal: AbortSignal; receiver: Receiver },
  own: Settings,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const started = startService(dataDir, { SMTP_URL: receiver.mailUrl, ...own });
  const stop = () => void started.child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  try {
    const { port, apiKey } = await started.welcome;
    if (apiKey === null) throw new Error("the service told no API key at its first start");
    const postgres = await openPostgres(dataDir);
    // The owner's: the benchmark prepares and looks, and has a database of its own beside the service's.
    const { ownerConnection: connection } = postgres;
    const connectionsMax = ownConnectionsMax;
    const db = openDatabase({ connection, connectionsMax, onIdleFault: () => {} });
    const keyring = await readOrMakeSecretKey(dataDir, async () => true);
    const pid = started.child.pid ?? 0;
    try {
      return await work({ port, apiKey, pid, dataDir, connection, db, keyring });
    } finally {
      await db.end();
      // The last one to leave stops PostgreSQL, so this works even if the service had to be killed.
      await started.end();
      await postgres.release();
      await rm(connection.host, { recursive: true, force: true });
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await started.end();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

export type Started = {
  child: ChildProcess;
  welcome: Promise<{ port: number; apiKey: string | null }>;
  end(): Promise<void>;
};

export function startService(dataDir: string, own: Settings): Started {
  const child = spawn(process.execPath, [program, "serve"], {
    env: { ...process.env, ...settings, ...own, DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  async function end(): Promise<void> {
    const tooLong = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    child.kill("SIGTERM");
    await exited;
    clearTimeout(tooLong);
  }
  return { child, welcome: readWelcome(child.stdout), end };
}

/** Anything it prints before it is ready comes before its address. The key comes with the address, once. */
async function readWelcome(stdout: Readable): Promise<{ port: number; apiKey: string | null }> {
  let text = "";
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const port = /Address +http:\/\/localhost:(\d+)/.exec(text)?.[1];
    if (port === undefined || !text.includes("Stop: Ctrl-C")) continue;
    stdout.pipe(process.stderr);
    return { port: Number(port), apiKey: /API key +(cs_\w+)/.exec(text)?.[1] ?? null };
  }
  throw new Error(`the service did not come up. ${text}`);
}

async function openPostgres(dataDir: string) {
  const warn = (line: string) => void process.stderr.write(`${line}\n`);
  const log = { info: () => {}, warn };
  const postgres = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
  if ("inUseBy" in postgres) throw new Error(`${dataDir} is in use`);
  return postgres;
}

/**
 * A database beside the service's, on the same PostgreSQL and with the same tables: nothing that is written to it makes
 * work for the service.
 */
export async function openCeilingDatabase({ db, connection, keyring }: Service) {
  const own = { ...connection, database: "ceiling" };
  await db.query(`create database ${own.database}`);
  await migrate(own);
  const ceilingDb = openDatabase({
    connection: own,
    connectionsMax: ownConnectionsMax,
    onIdleFault: () => {},
  });
  return { connection: own, db: ceilingDb, keyring };
}

/** Of the service alone: PostgreSQL has processes of its own. */
export function memoryMb({ pid }: { pid: number }): number {
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).trim();
  return Number(kilobytes) / 1024;
}

/** Of the programs that come with the service. */
export async function readPostgresVersion(): Promise<string> {
  const { postgres } = await findPrograms();
  const text = execFileSync(postgres, ["--version"], { encoding: "utf8" });
  return /[\d.]+/.exec(text)?.[0] ?? "unknown";
}
