// Three PostgreSQL under Patroni with etcd behind HAProxy, from Debian's packages: a primary that can be killed.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { migrateAsOwner } from "../../../server/src/storage/service-rights.ts";
import { findPort } from "./node.ts";
import type { RunPostgres } from "./postgres.ts";

const binDir = "/usr/lib/postgresql/15/bin";
const fakeTime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
const programs = ["/usr/bin/etcd", "/usr/bin/patroni", "/usr/sbin/haproxy", `${binDir}/postgres`];
const password = "a-password-of-the-cluster";
const membersCount = 3;
/** Patroni's least: a leader that is silent for longer is replaced. */
const ttlSeconds = 20;
const upWithinMs = 180_000;
const lookMs = 200;

/** What is missing on this machine, or null. */
export function missingPrograms(): string | null {
  const missing = programs.filter((program) => !existsSync(program));
  return missing.length === 0 ? null : missing.join(", ");
}

/** Whether members can have wrong clocks on this machine. */
export function hasFakeTime(): boolean {
  return existsSync(fakeTime);
}

type Member = {
  name: string;
  /** By how many seconds its PostgreSQL's clock is ahead. */
  clockOff: number;
  port: number;
  restPort: number;
  folder: string;
  patroni: ChildProcess | null;
};

export class Cluster {
  readonly #folder: string;
  readonly #members: Member[];
  readonly #port: number;
  readonly #helpers: ChildProcess[] = [];
  readonly #etcdPort: number;
  readonly #isSynchronous: boolean;
  readonly #account = accountOf("postgres");

  private constructor(
    folder: string,
    members: Member[],
    { port, etcdPort, isSynchronous }: { port: number; etcdPort: number; isSynchronous: boolean },
  ) {
    this.#folder = folder;
    this.#members = members;
    this.#port = port;
    this.#etcdPort = etcdPort;
    this.#isSynchronous = isSynchronous;
  }

  /** The clocks of its members may be off by some seconds each. */
  static async start(isSynchronous: boolean, clocksOff: readonly number[] = []): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), "countersign-cluster-"));
    await chmod(folder, 0o755);
    const members: Member[] = [];
    for (let n = 1; n <= membersCount; n += 1) {
      const name = `pg${n}`;
      const [port, restPort] = [await findPort(), await findPort()];
      const clockOff = clocksOff[n - 1] ?? 0;
      members.push({ name, clockOff, port, restPort, folder: join(folder, name), patroni: null });
    }
    const [port, etcdPort] = [await findPort(), await findPort()];
    const cluster = new Cluster(folder, members, { port, etcdPort, isSynchronous });
    try {
      await cluster.#startAll();
    } catch (error) {
      await cluster.end();
      throw error;
    }
    return cluster;
  }

  async #startAll(): Promise<void> {
    const peer = `http://127.0.0.1:${await findPort()}`;
    const client = `http://127.0.0.1:${this.#etcdPort}`;
    this.#help("/usr/bin/etcd", [
      ...["--data-dir", join(this.#folder, "etcd"), "--logger", "zap", "--log-level", "error"],
      ...["--listen-client-urls", client, "--advertise-client-urls", client],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
      ...["--initial-cluster", `default=${peer}`],
    ]);
    for (const member of this.#members) {
      const { uid, gid } = this.#account;
      await mkdir(member.folder);
      await chown(member.folder, uid, gid);
      if (member.clockOff !== 0) await makeProgramsWithClock(member);
      await writeFile(join(member.folder, "patroni.json"), JSON.stringify(this.#configOf(member)));
      this.#startMember(member);
    }
    const config = join(this.#folder, "haproxy.cfg");
    await writeFile(config, this.#haproxyConfig());
    this.#help("/usr/sbin/haproxy", ["-db", "-f", config]);
    await this.untilHealthy();
  }

  #help(program: string, words: string[]): void {
    this.#helpers.push(spawn(program, words, { stdio: "ignore", cwd: this.#folder }));
  }

  #startMember(member: Member): void {
    member.patroni = spawn("/usr/bin/patroni", [join(member.folder, "patroni.json")], {
      ...this.#account,
      cwd: member.folder,
      env: { PATH: `${binDir}:/usr/bin:/bin`, HOME: member.folder },
      stdio: "ignore",
    });
  }

  #configOf({ name, clockOff, port, restPort, folder }: Member): object {
    const rest = `127.0.0.1:${restPort}`;
    const address = `127.0.0.1:${port}`;
    const login = { username: "postgres", password };
    return {
      ...{ scope: "countersign", name, log: { level: "WARNING" } },
      restapi: { listen: rest, connect_address: rest },
      etcd3: { host: `127.0.0.1:${this.#etcdPort}` },
      bootstrap: {
        dcs: {
          ...{
            ttl: ttlSeconds,
            loop_wait: 2,
            retry_timeout: 4,
            maximum_lag_on_failover: 1_048_576,
          },
          synchronous_mode: this.#isSynchronous,
          synchronous_mode_strict: this.#isSynchronous,
          postgresql: {
            use_pg_rewind: true,
            parameters: { wal_log_hints: "on", max_connections: 150 },
          },
        },
        initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }],
      },
      postgresql: {
        ...{
          listen: address,
          connect_address: address,
          bin_dir: clockOff === 0 ? binDir : programsOf(folder),
          data_dir: join(folder, "data"),
        },
        authentication: { superuser: login, replication: { username: "replicator", password } },
        parameters: {
          unix_socket_directories: folder,
          shared_buffers: "64MB",
          max_wal_size: "512MB",
        },
        pg_hba: [
          "local all all trust",
          "host replication replicator 127.0.0.1/32 scram-sha-256",
          "host all all 127.0.0.1/32 scram-sha-256",
        ],
      },
    };
  }

  #haproxyConfig(): string {
    return [
      ...["global", "  maxconn 1000", "defaults", "  mode tcp", "  timeout connect 2s"],
      ...["  timeout client 30m", "  timeout server 30m", "  timeout check 2s"],
      ...["listen primary", `  bind 127.0.0.1:${this.#port}`, "  option httpchk OPTIONS /primary"],
      "  http-check expect status 200",
      "  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions",
      ...this.#members.map(
        ({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort}`,
      ),
      "",
    ].join("\n");
  }

  /** As the rest of a run knows its PostgreSQL. */
  async use(): Promise<RunPostgres> {
    const where = { host: "127.0.0.1", port: this.#port };
    const superuser = async (database = "countersign") => {
      const client = new pg.Client({ ...where, user: "postgres", password, database });
      client.on("error", () => {});
      await client.connect();
      return client;
    };
    const administrator = await superuser("postgres");
    await administrator.query(`create role countersign login password '${password}'`);
    await administrator.query(`create role countersign_service login password '${password}'`);
    await administrator.query("create database countersign owner countersign");
    await administrator.end();
    const owner = { ...where, user: "countersign", password, database: "countersign" };
    const service = { ...owner, user: "countersign_service" };
    await migrateAsOwner(owner, service.user);
    return {
      ...{ owner, service, disk: null, superuser: () => superuser() },
      crash: () => this.killPrimary(),
      untilUp: () => this.untilHealthy(),
      end: () => this.end(),
    };
  }

  /** With its Patroni, in one moment, as when a machine dies. Answers its name. */
  killPrimary(): string {
    const primary = this.#members.find(({ folder }) => isPrimary(folder));
    if (primary === undefined) throw new Error("no primary");
    primary.patroni?.kill("SIGKILL");
    process.kill(postmasterOf(primary.folder), "SIGKILL");
    primary.patroni = null;
    return primary.name;
  }

  /** The primary hands over to a standby by plan. Answers its name. */
  async switchOver(): Promise<string> {
    const primary = this.#members.find(({ folder }) => isPrimary(folder));
    if (primary === undefined) throw new Error("no primary");
    const answer = await fetch(`http://127.0.0.1:${primary.restPort}/switchover`, {
      method: "POST",
      body: JSON.stringify({ leader: primary.name }),
    });
    if (!answer.ok) throw new Error(`no switchover: ${await answer.text()}`);
    return primary.name;
  }

  /** Machines that had died come back. */
  startDead(): void {
    for (const member of this.#members) if (member.patroni === null) this.#startMember(member);
  }

  /** A primary, and with synchronous replication one that takes commits. */
  async untilPrimary(): Promise<void> {
    for (const end = Date.now() + upWithinMs; ; await pause(lookMs)) {
      if ((await this.#rolesOf()).includes("primary")) return;
      if (Date.now() > end) throw new Error("no primary came");
    }
  }

  /** Everybody is there and follows the primary. */
  async untilHealthy(): Promise<void> {
    for (const end = Date.now() + upWithinMs; ; await pause(lookMs)) {
      const roles = await this.#rolesOf();
      const isWhole = roles.length === membersCount && roles.includes("primary");
      if (isWhole && (!this.#isSynchronous || roles.includes("synchronous"))) return;
      if (Date.now() > end) throw new Error(`the cluster isn't whole: ${roles}`);
    }
  }

  /** Of the members that answer and run. */
  async #rolesOf(): Promise<string[]> {
    const roles = await Promise.all(
      this.#members.map(async ({ restPort }) => {
        try {
          const signal = AbortSignal.timeout(2_000);
          const answer = await fetch(`http://127.0.0.1:${restPort}/patroni`, { signal });
          const {
            state,
            role,
            sync_standby: isSync,
            replication_state: replication,
          } = JSON.parse(await answer.text());
          if (state !== "running") return null;
          if (role === "master" || role === "primary") return "primary";
          if (replication !== undefined && replication !== "streaming") return null;
          return isSync === true ? "synchronous" : "replica";
        } catch {
          return null;
        }
      }),
    );
    return roles.filter((role) => role !== null);
  }

  async end(): Promise<void> {
    for (const { patroni, folder } of this.#members) {
      patroni?.kill("SIGKILL");
      if (existsSync(join(folder, "data/postmaster.pid"))) {
        try {
          process.kill(postmasterOf(folder), "SIGQUIT");
        } catch {}
      }
    }
    for (const helper of this.#helpers) helper.kill("SIGKILL");
    await pause(1_000);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

function programsOf(folder: string): string {
  return join(folder, "bin");
}

/** Patroni passes none of its variables on, so PostgreSQL gets its clock by a script of its name. */
async function makeProgramsWithClock({ folder, clockOff }: Member): Promise<void> {
  const programs = programsOf(folder);
  await mkdir(programs);
  for (const name of await readdir(binDir)) {
    if (name !== "postgres") await symlink(join(binDir, name), join(programs, name));
  }
  const clock = `${clockOff > 0 ? "+" : ""}${clockOff}s`;
  await writeFile(
    join(programs, "postgres"),
    `#!/bin/sh\nLD_PRELOAD=${fakeTime} FAKETIME='${clock}' FAKETIME_DONT_FAKE_MONOTONIC=1 exec ${binDir}/postgres "$@"\n`,
    { mode: 0o755 },
  );
}

function postmasterOf(folder: string): number {
  return Number.parseInt(readFileSync(join(folder, "data/postmaster.pid"), "utf8"), 10);
}

function isPrimary(folder: string): boolean {
  return (
    existsSync(join(folder, "data/postmaster.pid")) &&
    !existsSync(join(folder, "data/standby.signal"))
  );
}

function accountOf(name: string): { uid: number; gid: number } {
  const id = (what: string) => Number(execFileSync("id", [what, name], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}
