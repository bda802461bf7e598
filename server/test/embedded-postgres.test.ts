// The embedded PostgreSQL against real processes and real kills. Most tests use copies of one
// DATA_DIR that was made once, because making one takes longer than all the rest.

import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../src/database/embedded-postgres/embedded-postgres.ts";
import { OperatorFault } from "../src/domain/operator-fault.ts";
import { hangMs, until } from "./patience.ts";
import { postmasterPid } from "./postmaster.ts";
import { asSuperuser } from "./test-superuser.ts";

const NOBODY = 65534;
const MODULE = fileURLToPath(
  new URL("../src/database/embedded-postgres/embedded-postgres.ts", import.meta.url),
);
const isRoot = process.geteuid?.() === 0;
const isLinux = process.platform === "linux";

const folder = mkdtempSync(join(tmpdir(), "cs-"));
const template = join(folder, "template");
const dataDirs: string[] = [];
const children: ChildProcess[] = [];
const releases: EmbeddedPostgres["release"][] = [];

describe("the embedded PostgreSQL", { concurrency: 3 }, () => {
  let shared: EmbeddedPostgres; // for the tests that only look

  before(async () => {
    chmodSync(folder, 0o755); // mkdtemp makes it ours alone; the test of that is further down
    dataDirs.push(template);
    const made = await use(template);
    await query(made, "create table kept (note text)");
    await query(made, "insert into kept values ('before')");
    await made.release();
    shared = await use(await copyOfTemplate());
  });

  after(async () => {
    await shared.release();
    for (const child of children) child.kill("SIGKILL");
    const left = dataDirs.filter((dataDir) => postmasterPid(dataDir) !== null);
    for (const release of releases) await release(); // those of tests that failed half-way
    for (const dataDir of left) if (postmasterPid(dataDir) !== null) killPostmaster(dataDir);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    assert.deepEqual(left, [], "a server was left running");
  });

  test("written rows survive release and reuse", async () => {
    assert.deepEqual(await query(shared, "select note from kept"), [{ note: "before" }]);
  });

  test("directories are of mode 0700, passwords of mode 0600 and not PostgreSQL's to read", () => {
    const modeOf = (path: string) => statSync(join(template, path)).mode & 0o777;
    for (const path of ["", "postgres", "postgres/data", "postgres/socket"]) {
      assert.equal(modeOf(path), 0o700, path);
    }
    for (const path of [
      "postgres/log",
      "postgres/role-password",
      "postgres/service-password",
      "postgres/superuser-password",
    ]) {
      assert.equal(modeOf(path), 0o600, path);
    }
    const owner = (path: string) => statSync(join(template, path)).uid;
    assert.equal(owner("postgres/superuser-password"), process.geteuid?.());
    assert.equal(owner("postgres/role-password"), process.geteuid?.());
    assert.equal(owner("postgres/service-password"), process.geteuid?.());
  });

  test("the owner is no superuser, may create databases and cannot touch the superuser's", async () => {
    assert.deepEqual(
      await query(
        shared,
        "select rolsuper, rolcreatedb from pg_roles where rolname = current_user",
      ),
      [{ rolsuper: false, rolcreatedb: true }],
    );
    await query(shared, "create database another");
    await assert.rejects(query(shared, "select pg_read_file('/etc/passwd')"), /permission denied/);
    for (const each of [shared.ownerConnection, shared.connection]) {
      const ownerConnection = { ...each, database: "postgres" };
      await assert.rejects(query({ ownerConnection }, "select 1"), /permission denied/);
    }
  });

  test("the service's role may sign in, and nothing else, until the owner grants it more", async () => {
    const service = { ownerConnection: shared.connection };
    assert.deepEqual(
      await query(
        service,
        `select current_user as me, rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls as may,
           (select count(*)::int from pg_auth_members where member = r.oid) as memberships
         from pg_roles r where rolname = current_user`,
      ),
      [{ me: "countersign_service", may: false, memberships: 0 }],
    );
    await assert.rejects(query(service, "select note from kept"), /permission denied/);
    await assert.rejects(query(service, "create table mine ()"), /permission denied/);
    await assert.rejects(query(service, "set role countersign"), /permission denied/);
  });

  test("a DATA_DIR from before the second role gets it at the next start, by whoever is first", async () => {
    const dataDir = await copyOfTemplate();
    const before = await use(dataDir);
    await asSuperuser(dataDir, before.connection, "drop role countersign_service");
    await before.release();
    rmSync(join(dataDir, "postgres/service-password"));
    const both = await Promise.all([startChild(dataDir, "serve"), startChild(dataDir, "command")]);
    for (const { connection } of both) {
      const me = await query({ ownerConnection: connection }, "select current_user as me");
      assert.deepEqual(me, [{ me: "countersign_service" }]);
    }
    assert.deepEqual(both[0].connection, both[1].connection);
    const kept = statSync(join(dataDir, "postgres/service-password"));
    assert.equal(kept.mode & 0o777, 0o600);
    await Promise.all(both.map((child) => child.release()));
    const left = readdirSync(join(dataDir, "postgres")).filter((name) => name.includes(".new-"));
    assert.deepEqual(left, []);
  });

  test("it listens on its socket only, with settings that lose nothing", async () => {
    const wanted = {
      listen_addresses: "",
      fsync: "on",
      synchronous_commit: "on",
      data_checksums: "on",
      jit: "off",
      TimeZone: "UTC",
      server_encoding: "UTF8",
      max_connections: "200",
      max_wal_size: "2GB",
    };
    const columns = Object.keys(wanted).map((name) => `current_setting('${name}') as "${name}"`);
    assert.deepEqual(await query(shared, `select ${columns.join(", ")}`), [wanted]);
  });

  describe("used by several processes", { concurrency: 1 }, () => {
    let dataDir: string; // one after another they may share it: each leaves it whole and stopped

    before(async () => {
      dataDir = await copyOfTemplate();
    });

    test("a second server is refused with the number of the first, while a command may share", async () => {
      const serving = await startChild(dataDir, "serve");
      assert.deepEqual(await useOrRefusal(dataDir, "serve"), { inUseBy: serving.pid });
      const command = await use(dataDir, "command");
      assert.deepEqual(await query(command, "select note from kept"), [{ note: "before" }]);
      await command.release();
      assert.notEqual(postmasterPid(dataDir), null, "the server still uses it");
      await serving.release();
      assert.equal(postmasterPid(dataDir), null);
    });

    test("the last user stops it, whichever that is, and releasing twice is releasing once", async () => {
      const serving = await use(dataDir);
      const command = await use(dataDir, "command");
      await Promise.all([serving.release(), serving.release()]);
      assert.deepEqual(await query(command, "select note from kept"), [{ note: "before" }]);
      await command.release();
      assert.equal(postmasterPid(dataDir), null);
    });

    test("users who leave at the same moment leave nothing running", async () => {
      const users = [
        await use(dataDir),
        await use(dataDir, "command"),
        await use(dataDir, "command"),
      ];
      await Promise.all(users.map((user) => user.release()));
      assert.equal(postmasterPid(dataDir), null);
    });

    test("a user who comes while it is stopping gets a running server", async () => {
      let used = await use(dataDir);
      for (const delayMs of [0, 10, 25, 50]) {
        const release = used.release();
        await pause(delayMs);
        const [next] = await Promise.all([use(dataDir, "command"), release]);
        assert.deepEqual(await query(next, "select note from kept"), [{ note: "before" }]);
        used = next;
      }
      await used.release();
      assert.equal(postmasterPid(dataDir), null);
    });

    test("a long log makes room at the next start", async () => {
      const log = join(dataDir, "postgres/log");
      writeFileSync(log, "x".repeat(5 * 1024 * 1024));
      await (await use(dataDir)).release();
      assert.ok(statSync(log).size < 100_000);
    });
  });

  describe("after a kill or a crash", { concurrency: 1 }, () => {
    let dataDir: string; // one after another they may share it: each leaves it whole and stopped

    before(async () => {
      dataDir = await copyOfTemplate();
    });

    test("a server process that is killed leaves a PostgreSQL that the next one takes over", async () => {
      const serving = await startChild(dataDir, "serve");
      const pid = postmasterPid(dataDir);
      await kill(serving.child);
      assert.notEqual(pid, null);
      const next = await use(dataDir);
      assert.equal(postmasterPid(dataDir), pid, "the same PostgreSQL goes on");
      await next.release();
      assert.equal(postmasterPid(dataDir), null);
    });

    test("a PostgreSQL that is killed recovers at the next start", async () => {
      const serving = await startChild(dataDir, "serve");
      await query(serving, "create table committed ()");
      await kill(serving.child);
      killPostmaster(dataDir);
      const next = await use(dataDir);
      assert.deepEqual(await query(next, "select from committed"), []);
      await next.release();
    });

    test("a PostgreSQL that is killed under a server comes back by itself and keeps others out", async () => {
      const warnings: string[] = [];
      const serving = await use(dataDir, "serve", warnings);
      const killed = postmasterPid(dataDir);
      killPostmaster(dataDir);
      await until(() => ![null, killed].includes(postmasterPid(dataDir)));
      await until(() => warnings.includes("PostgreSQL is back."));
      assert.match(warnings[0] ?? "", /went away/);
      assert.deepEqual(await query(serving, "select note from kept"), [{ note: "before" }]);
      assert.deepEqual(await useOrRefusal(dataDir, "serve"), { inUseBy: process.pid });
      await serving.release();
      assert.equal(postmasterPid(dataDir), null);
    });

    test("releasing while PostgreSQL comes back leaves nothing running", async () => {
      const warnings: string[] = [];
      const serving = await use(dataDir, "serve", warnings);
      killPostmaster(dataDir);
      await until(() => warnings.length > 0);
      await serving.release();
      assert.equal(postmasterPid(dataDir), null);
    });

    test("a lock left by a crash, with the number of a living stranger, does not block", async () => {
      const locks = ["data/postmaster.pid", "socket/.s.PGSQL.5432.lock"];
      const serving = await startChild(dataDir, "serve");
      await kill(serving.child);
      killPostmaster(dataDir);
      const { uid, gid } = statSync(join(dataDir, "postgres/data"));
      const stranger = spawn("sleep", ["60"], { uid, gid, stdio: "ignore" });
      children.push(stranger);
      for (const lock of locks) {
        const path = join(dataDir, "postgres", lock);
        writeFileSync(path, readFileSync(path, "utf8").replace(/^\d+/, `${stranger.pid}`));
      }
      const next = await use(dataDir);
      assert.deepEqual(await query(next, "select note from kept"), [{ note: "before" }]);
      await next.release();
      assert.equal(stranger.exitCode, null, "the stranger is left alone");
      await kill(stranger);
    });

    test("an empty lock left by a crash of the machine does not block", async () => {
      for (const lock of ["data/postmaster.pid", "socket/.s.PGSQL.5432.lock"]) {
        const path = join(dataDir, "postgres", lock);
        writeFileSync(path, "");
        utimesSync(path, 1, 1);
      }
      await (await use(dataDir)).release();
    });
  });

  test("two first starts at the same moment both end well, even after one that was killed", async () => {
    const dataDir = newDataDir();
    const killed = spawnChild(dataDir, "command");
    await until(() => unfinishedIn(dataDir).some((path) => existsSync(join(path, "data/base"))));
    await kill(killed);
    const both = await Promise.all([startChild(dataDir, "serve"), startChild(dataDir, "command")]);
    const [serving, command] = both;
    assert.deepEqual(await query(serving, "select current_user as me"), [{ me: "countersign" }]);
    assert.deepEqual(command.connection, serving.connection);
    await Promise.all(both.map((child) => child.release()));
    await (await use(dataDir)).release();
    assert.deepEqual(unfinishedIn(dataDir), []);
  });

  test("a DATA_DIR too long for a socket gets a private one elsewhere, and never a stranger's", async () => {
    const dataDir = await copyOfTemplate("long-".repeat(30));
    const used = await use(dataDir);
    const { host } = used.connection;
    assert.equal(dirname(host), realpathSync(tmpdir()));
    assert.equal(statSync(host).mode & 0o777, 0o700);
    assert.deepEqual(await query(used, "select note from kept"), [{ note: "before" }]);
    await used.release();
    rmSync(host, { recursive: true });
    symlinkSync(folder, host);
    await assert.rejects(use(dataDir), isFault(/Remove it, or set DATA_DIR to a shorter path/));
    rmSync(host);
  });

  test("a path with spaces, commas and quotes works", async () => {
    const used = await use(await copyOfTemplate(`a, "b" 'c'`));
    assert.deepEqual(await query(used, "select note from kept"), [{ note: "before" }]);
    await used.release();
  });

  test("Ctrl-C does not reach it: it is in a session of its own", { skip: !isLinux }, () => {
    const pid = postmasterPid(dirname(dirname(shared.connection.host)));
    const status = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "");
    const [, , , session] = status.split(" ");
    assert.equal(session, `${pid}`);
  });

  test("a PostgreSQL that cannot start is reported with the last lines of its log", async () => {
    const dataDir = await copyOfTemplate();
    rmSync(join(dataDir, "postgres/data/global/pg_control"));
    await assert.rejects(use(dataDir), isFault(/did not start.*log.*pg_control/s));
  });

  test("a DATA_DIR that cannot be made is reported as such", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    await assert.rejects(use(join(file, "data")), isFault(/Set DATA_DIR to a folder/));
  });

  test("root may keep DATA_DIR and its contents below a folder that nobody else may enter", {
    skip: !isRoot,
  }, async () => {
    const parent = mkdtempSync(join(folder, "closed-"));
    const dataDir = newDataDir(join(parent, "data"));
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "secret"), "of root");
    const used = await use(dataDir);
    assert.deepEqual(await query(used, "select current_user as me"), [{ me: "countersign" }]);
    await used.release();
    for (const path of [parent, dataDir, join(dataDir, "secret")]) {
      assert.equal(statSync(path).uid, 0, "what was there before stays root's");
    }
  });

  const canLeaveRoot = isRoot && canEnter(process.execPath) && canEnter(MODULE);
  test("an ordinary user runs it as himself", { skip: !canLeaveRoot }, async () => {
    const parent = mkdtempSync(join(folder, "nobody-"));
    chownSync(parent, NOBODY, NOBODY);
    const dataDir = newDataDir(join(parent, "data"));
    const serving = await startChild(dataDir, "serve", NOBODY);
    assert.equal(statSync(join(dataDir, "postgres/data")).uid, NOBODY);
    // Root beside him uses the same server, and would run it as its owner.
    const command = await use(dataDir, "command");
    assert.deepEqual(await query(command, "select current_user as me"), [{ me: "countersign" }]);
    await serving.release();
    await command.release();
    await (await use(dataDir)).release();
    assert.equal(statSync(join(dataDir, "postgres/log")).uid, NOBODY);
  });
});

type Connected = Pick<EmbeddedPostgres, "ownerConnection">;
type Child = EmbeddedPostgres & { child: ChildProcess; pid: number };

async function use(
  dataDir: string,
  purpose: "serve" | "command" = "serve",
  messages: string[] = [],
): Promise<EmbeddedPostgres> {
  const used = await useOrRefusal(dataDir, purpose, messages);
  assert.ok("connection" in used, `${dataDir} is in use`);
  releases.push(used.release);
  return used;
}

function useOrRefusal(dataDir: string, purpose: "serve" | "command", messages: string[] = []) {
  const note = (message: string) => void messages.push(message);
  return useEmbeddedPostgres({ dataDir, purpose, log: { info: note, warn: note } });
}

async function query({ ownerConnection: connection }: Connected, sql: string): Promise<unknown[]> {
  const client = new pg.Client(connection);
  client.on("error", () => {}); // a test may kill the server under it
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const CHILD = `
  const [module, dataDir, purpose] = process.argv.slice(1);
  const { useEmbeddedPostgres } = await import(module);
  const log = { info() {}, warn() {} };
  const used = await useEmbeddedPostgres({ dataDir, purpose, log });
  process.once("message", async () => {
    await used.release();
    process.disconnect();
  });
  process.send({ connection: used.connection, ownerConnection: used.ownerConnection });
`;

function spawnChild(dataDir: string, purpose: string, uid?: number): ChildProcess {
  const args = ["--input-type=module", "--eval", CHILD, MODULE, dataDir, purpose];
  const child = spawn(process.execPath, args, {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    cwd: "/",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.push(child);
  return child;
}

async function startChild(dataDir: string, purpose: string, uid?: number): Promise<Child> {
  const child = spawnChild(dataDir, purpose, uid);
  const [connections] = await once(child, "message", { signal: AbortSignal.timeout(hangMs) });
  const release = async () => {
    const ended = once(child, "exit", { signal: AbortSignal.timeout(hangMs) });
    child.send("release");
    assert.deepEqual(await ended, [0, null]);
  };
  return { child, pid: child.pid ?? 0, ...connections, release };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

function newDataDir(path = join(folder, randomBytes(3).toString("hex"))): string {
  dataDirs.push(path);
  return path;
}

async function copyOfTemplate(name?: string): Promise<string> {
  const dataDir = newDataDir(name === undefined ? undefined : join(folder, name));
  await promisify(execFile)("cp", ["-a", template, dataDir]);
  return dataDir;
}

function unfinishedIn(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  const names = readdirSync(dataDir).filter((name) => name.startsWith("postgres.new"));
  return names.map((name) => join(dataDir, name));
}

function killPostmaster(dataDir: string): void {
  const pid = postmasterPid(dataDir);
  assert.ok(pid !== null && pid > 0, "there is a server to kill");
  process.kill(pid, "SIGKILL");
}

function isFault(text: RegExp) {
  return (error: unknown) => error instanceof OperatorFault && text.test(error.message);
}

function canEnter(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o005) === 0o005 || !statSync(path).isDirectory();
  return isOpen && (path === dirname(path) || canEnter(dirname(path)));
}
