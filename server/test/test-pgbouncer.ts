// A PgBouncer in front of a test's database, where one is installed.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openDatabase } from "../src/database/database.ts";
import { until } from "./patience.ts";
import { asServiceUrl, testDatabaseUrl } from "./test-database.ts";

/** Debian's way of `nobody`. PgBouncer refuses to run as root. */
const nobody = 65_534;

export const pgbouncerProgram = findProgram();

function findProgram(): string | null {
  for (const program of ["pgbouncer", "/usr/sbin/pgbouncer"]) {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
      return program;
    } catch {}
  }
  return null;
}

export type PgBouncer = {
  /** Where it listens, as the parameters `host` and `port` of an address. */
  host: string;
  port: string;
  /** The address that it was made for, led through it. */
  through(url: string): string;
  /** Opens new connections to PostgreSQL, as `RECONNECT` does. */
  reconnect(): Promise<void>;
  /** How many transactions of clients it has passed on. */
  countTransactions(): Promise<number>;
  stop(): Promise<void>;
};

/** With `*` it leads to any database of that server, and to the named one else; always as the role of the address. */
export async function startPgbouncer(
  url: string,
  settings: string[],
  databases = new URL(url).pathname.slice(1),
): Promise<PgBouncer> {
  if (pgbouncerProgram === null) throw new Error("no PgBouncer is installed");
  const relay = await startRelay(url);
  const folder = mkdtempSync(join(tmpdir(), "cs-bouncer-"));
  const port = "6432";
  const { username, password } = new URL(url);
  const file = join(folder, "pgbouncer.ini");
  const target = [
    ...["host=127.0.0.1", `port=${relay.port}`],
    ...[`user=${username}`, `password='${decodeURIComponent(password)}'`],
  ].join(" ");
  const lines = [
    ...["[databases]", `${databases} = ${target}`, "[pgbouncer]", "listen_addr ="],
    ...[`listen_port = ${port}`, `unix_socket_dir = ${folder}`, "auth_type = any"],
    ...[`admin_users = ${username}`, "default_pool_size = 4", ...settings],
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: nobody, gid: nobody } : {};
  if (isRoot) chownSync(folder, nobody, nobody);
  chmodSync(folder, 0o755);
  const child = spawn(pgbouncerProgram, [file], { ...identity, cwd: "/", stdio: "ignore" });
  const ended = once(child, "exit");
  const through = (address: string) => {
    const led = new URL(address);
    led.searchParams.set("host", folder);
    led.searchParams.set("port", port);
    return led.href;
  };
  const command = async (sql: string): Promise<Record<string, string>[]> => {
    const admin = new URL(through(url));
    admin.pathname = "/pgbouncer";
    const client = new pg.Client({ connectionString: admin.href });
    client.on("error", () => {});
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  };
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
    relay.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const answers = until(() => {
    if (child.exitCode !== null) throw new Error(`PgBouncer refused its settings: ${settings}`);
    return command("show version").then(
      () => true,
      () => false,
    );
  }, "PgBouncer to answer");
  await answers.catch(async (error) => {
    await stop();
    throw error;
  });
  const reconnect = async () => void (await command("reconnect"));
  const countTransactions = async () => {
    const rows = await command("show stats_totals");
    const clients = rows.filter(({ database }) => database !== "pgbouncer");
    return clients.reduce((sum, { xact_count: count }) => sum + Number(count), 0);
  };
  return { host: folder, port, through, reconnect, countTransactions, stop };
}

/** In front of every database of a test run, whose service's role then has the settings that it needs there. */
export async function startPoolerOfRun(mode: string): Promise<PgBouncer> {
  const serviceUrl = asServiceUrl(testDatabaseUrl());
  // As many sessions as PgBouncer has by default. Fewer than the service's connections are no longer fair.
  const sessions = ["default_pool_size = 20", "max_client_conn = 1000"];
  const settings = [`pool_mode = ${mode}`, ...sessions];
  const bouncer = await startPgbouncer(serviceUrl, settings, "*");
  try {
    await giveSettings(bouncer, serviceUrl);
  } catch (error) {
    await bouncer.stop();
    throw error;
  }
  return bouncer;
}

/** As the service's own refusal says, but in all databases. */
async function giveSettings(bouncer: PgBouncer, serviceUrl: string): Promise<void> {
  const connection = { connectionString: bouncer.through(serviceUrl) };
  const pooled = { ...{ connection, isThroughPooler: true }, connectionsMax: 1 };
  const db = openDatabase({ ...pooled, onIdleFault: () => {} });
  const client = new pg.Client({ connectionString: serviceUrl });
  await client.connect();
  try {
    const fault = await db.query("select 1").catch((error: Error) => error);
    const statements = String(fault).match(/alter role [^;]+;/g) ?? [];
    for (const sql of statements) await client.query(sql.replace(/ in database "[^"]+"/, ""));
    await bouncer.reconnect();
    await db.query("select 1");
  } finally {
    await client.end();
    await db.end();
  }
}

/** The socket of the tests' PostgreSQL is in a folder that only we may enter. */
async function startRelay(url: string): Promise<{ port: number; close(): void }> {
  const target = new URL(url);
  const folder = target.searchParams.get("host");
  const port = Number(target.searchParams.get("port") ?? (target.port || 5432));
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far =
      folder === null ? connect(port, target.hostname) : connect(join(folder, `.s.PGSQL.${port}`));
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
