// Starts the service on a fresh embedded PostgreSQL, as a user would, and leaves nothing of it behind.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../../server/src/storage/embedded-postgres.ts";
import type { Target } from "./workloads.ts";

export type Connection = EmbeddedPostgres["connection"];
export type Service = Target & { connection: Connection };

const program = fileURLToPath(new URL("../../server/src/main.ts", import.meta.url));
/** Longer than the service gives itself to stop. */
const stopTimeoutMs = 20_000;

// A variable set to nothing counts as not set: nothing of the caller's own service gets in.
const settings = {
  HOST: "127.0.0.1",
  PORT: "0",
  PUBLIC_URL: "",
  DATABASE_URL: "",
  DATABASE_CONNECTIONS: "",
  SECRET_KEY: "",
  RATE_LIMIT: "0",
  LOG_LEVEL: "warn",
  // Creates and reads are compared with bare statements, behind which no mail is sent either.
  ROLE: "api",
  SMTP_URL: "",
  LOG_FORMAT: "text",
};

export async function withService(
  signal: AbortSignal,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const service = startService(dataDir);
  const stop = () => void service.child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  try {
    const target = await readWelcome(service.child.stdout);
    const postgres = await openPostgres(dataDir);
    try {
      await work({ ...target, connection: postgres.connection });
    } finally {
      // The last one to leave stops PostgreSQL, so this works even if the service had to be killed.
      await service.end();
      await postgres.release();
      await rm(postgres.connection.host, { recursive: true, force: true });
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await service.end();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function startService(dataDir: string) {
  const child = spawn(process.execPath, [program, "serve"], {
    env: { ...process.env, ...settings, DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  async function end(): Promise<void> {
    const tooLong = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    child.kill("SIGTERM");
    await exited;
    clearTimeout(tooLong);
  }
  return { child, end };
}

async function readWelcome(stdout: Readable): Promise<Target> {
  let text = "";
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const port = /Address +http:\/\/localhost:(\d+)/.exec(text)?.[1];
    const apiKey = /API key +(cs_\w+)/.exec(text)?.[1];
    if (port === undefined || apiKey === undefined) continue;
    stdout.pipe(process.stderr);
    return { port: Number(port), apiKey };
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
