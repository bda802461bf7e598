// A PgBouncer in front of a test's database, where one is installed.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { until } from "./patience.ts";

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
  /** The address that it was made for, led through it. */
  through(url: string): string;
  /** Opens new connections to PostgreSQL, as `RECONNECT` does. */
  reconnect(): Promise<void>;
  stop(): Promise<void>;
};

export async function startPgbouncer(url: string, settings: string[]): Promise<PgBouncer> {
  if (pgbouncerProgram === null) throw new Error("no PgBouncer is installed");
  const relay = await startRelay(url);
  const folder = mkdtempSync(join(tmpdir(), "cs-bouncer-"));
  const { username, password, pathname } = new URL(url);
  const database = pathname.slice(1);
  const file = join(folder, "pgbouncer.ini");
  const target = [
    ...["host=127.0.0.1", `port=${relay.port}`, `dbname=${database}`],
    ...[`user=${username}`, `password='${decodeURIComponent(password)}'`],
  ].join(" ");
  const lines = [
    ...["[databases]", `${database} = ${target}`, "[pgbouncer]", "listen_addr ="],
    ...["listen_port = 6432", `unix_socket_dir = ${folder}`, "auth_type = any"],
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
    led.searchParams.set("port", "6432");
    return led.href;
  };
  const command = async (sql: string) => {
    const admin = new URL(through(url));
    admin.pathname = "/pgbouncer";
    const client = new pg.Client({ connectionString: admin.href });
    client.on("error", () => {});
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  await until(
    () =>
      command("show version").then(
        () => true,
        () => false,
      ),
    "PgBouncer to answer",
  );
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
    relay.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { through, reconnect: () => command("reconnect"), stop };
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
