// What load balancers and operators are told while the database can't do the service's work, and what the log says.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import type { Queryable } from "../src/database/database.ts";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../src/database/embedded-postgres/embedded-postgres.ts";
import { Readiness } from "../src/database/readiness.ts";
import { migrateAsOwner } from "../src/storage/service-rights.ts";
import { until } from "./patience.ts";
import { makeTestDatabase, testDatabaseUrl } from "./test-database.ts";
import { environmentOn, startProgram, untilWritten } from "./test-program.ts";
import { makeWorkspace, minimalBody, startNode, type TestNode } from "./test-service.ts";

type Line = Record<string, unknown> & { err?: Record<string, unknown> };

/** A log whose lines can be looked at. */
function keepLog() {
  const lines: Line[] = [];
  const logDestination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, logDestination };
}

const createTimes = (node: TestNode, key: string, times: number, payload: unknown = null) =>
  Promise.all(
    Array.from({ length: times }, () =>
      node.call("POST", "/v1/requests", { key, body: { ...minimalBody, payload } }),
    ),
  );

test("a database that takes no writes is told to probes, and logged once with PostgreSQL's words", async () => {
  const database = await makeTestDatabase();
  const { lines, logDestination } = keepLog();
  const owner = await startNode(database);
  const { key } = await makeWorkspace(owner.db);
  const readOnly = { options: "-c default_transaction_read_only=on" };
  const node = await startNode(
    { ...database, serviceConnection: { ...database.serviceConnection, ...readOnly } },
    { logDestination },
  );
  try {
    const ready = await node.call("GET", "/readyz");
    assert.equal(ready.status, 503);
    assert.match(ready.json.error.message, /takes no writes/);
    assert.ok(Number(ready.headers["retry-after"]) > 0);
    assert.equal((await node.call("GET", "/healthz")).status, 200);
    for (const { status, json } of await createTimes(node, key, 30)) {
      assert.deepEqual([status, json.error.code], [503, "unavailable"]);
    }
    const told = lines.filter(({ err }) => err?.code === "25006");
    assert.match(String(told[0]?.err?.message), /cannot execute .* in a read-only transaction/);
    assert.match(String(told[0]?.msg), /takes no writes/);
    assert.equal(typeof told[0]?.requestId, "string");
    // A slow machine may take long enough for a second one.
    assert.ok(told.length <= 5, `${told.length} lines for 30 calls`);
  } finally {
    await node.stop();
    await owner.stop();
    await database.drop();
  }
});

test("a schema that is newer than the program is told to probes, until it is as before", async () => {
  const database = await makeTestDatabase();
  const { lines, logDestination } = keepLog();
  const node = await startNode(database, { logDestination });
  try {
    assert.equal((await node.call("GET", "/readyz")).status, 200);
    await node.db.query("insert into migrations (name, checksum) values ('9999_later.sql', '')");
    const ready = await node.call("GET", "/readyz");
    assert.equal(ready.status, 503);
    assert.match(ready.json.error.message, /newer than this program by 1 migration/);
    assert.ok(lines.some(({ msg }) => /not ready: .*newer/.test(String(msg))));
    await node.db.query("delete from migrations where name = '9999_later.sql'");
    assert.equal((await node.call("GET", "/readyz")).status, 200);
    assert.ok(lines.some(({ msg }) => msg === "ready again"));
  } finally {
    await node.stop();
    await database.drop();
  }
});

test("probes that come at the same moment share one look at the database", async () => {
  const database = await makeTestDatabase();
  const node = await startNode(database);
  let looks = 0;
  const query = (...words: unknown[]) => {
    if (/pg_is_in_recovery/.test(String(words[0]))) looks += 1;
    return (node.servicePool.query as (...all: unknown[]) => unknown)(...words);
  };
  const readiness = new Readiness({ query } as Queryable, { info: () => {}, warn: () => {} });
  try {
    const reasons = await Promise.all(Array.from({ length: 50 }, () => readiness.reasonAgainst()));
    assert.deepEqual([...new Set(reasons)], [null]);
    assert.equal(looks, 1);
    await readiness.reasonAgainst();
    assert.equal(looks, 2);
  } finally {
    await node.stop();
    await database.drop();
  }
});

test("a second kind of outage is told, also where probes are told the same", async () => {
  const database = await makeTestDatabase();
  const told: unknown[] = [];
  const warn = ({ err }: { err?: unknown }) =>
    void told.push(err instanceof Error && "code" in err ? err.code : "");
  const away = new pg.Pool({ connectionString: "postgres://nobody@127.0.0.1:1/none" });
  const slow = new pg.Pool({ connectionString: database.url, statement_timeout: 100 });
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  let pool = away;
  const query = (text: string) => pool.query(text);
  const readiness = new Readiness({ query } as Queryable, { info: () => {}, warn });
  try {
    await holder.query("begin");
    await holder.query("lock table migrations in access exclusive mode");
    for (pool of [away, slow])
      assert.match(String(await readiness.reasonAgainst()), /out of reach/);
    assert.deepEqual(told, ["ECONNREFUSED", "57014"]);
  } finally {
    await holder.end();
    await Promise.all([away.end(), slow.end()]);
    await database.drop();
  }
});

test("a worker answers both probes at a port of its own, and lives without its database", async () => {
  const database = await makeTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const administrator = new pg.Client({ connectionString: testDatabaseUrl() });
  await administrator.connect();
  const environment = { ...environmentOn(database.url), ROLE: "worker", PROBE_PORT: "0" };
  const worker = startProgram(environment);
  try {
    const [, port] = await untilWritten(worker, /"probes":"http:\/\/[^:"]+:(\d+)"/);
    const statusOf = async (path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    await until(async () => (await statusOf("/readyz")) === 200, "the worker to be ready");
    assert.equal(await statusOf("/healthz"), 200);
    for (const path of ["/v1/requests", "/docs", "/app"]) assert.equal(await statusOf(path), 404);
    await administrator.query(`alter database ${name} with allow_connections false`);
    await administrator.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = $1 and backend_type = 'client backend'`,
      [name],
    );
    await until(async () => (await statusOf("/readyz")) === 503, "readiness to turn false");
    assert.equal(await statusOf("/healthz"), 200, "liveness needs no database");
    await administrator.query(`alter database ${name} with allow_connections true`);
    await until(async () => (await statusOf("/readyz")) === 200, "the worker to be ready again");
    worker.child.kill("SIGTERM");
    assert.deepEqual(await worker.ended, { code: 0, signal: null }, worker.errors);
  } finally {
    await administrator.end();
    await database.drop();
  }
});

/** A file system of its own, small enough to be filled. Null where we may not mount one. */
function mountSmall(megabytes: number): { folder: string; unmount(): void } | null {
  const folder = mkdtempSync(join(tmpdir(), "cs-full-"));
  const options = `size=${megabytes}m,mode=755`;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "countersign-test", folder], {
      stdio: "ignore",
    });
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
  const unmount = () => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  };
  return { folder, unmount };
}

/** Takes all that is left of a disk. The answer gives it back. */
function fill(folder: string): () => void {
  const path = join(folder, "filler");
  const file = openSync(path, "w");
  const piece = Buffer.alloc(65_536, 1);
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    assert.equal(error instanceof Error && "code" in error && error.code, "ENOSPC");
  }
  closeSync(file);
  return () => rmSync(path);
}

const disk = mountSmall(400);
const skip = disk === null ? "this machine lets us mount no file system" : false;

describe("on a disk that is full", { skip }, () => {
  let postgres: EmbeddedPostgres;
  let node: TestNode;
  const { lines, logDestination } = keepLog();
  const folder = disk?.folder ?? "";

  before(async () => {
    const dataDir = join(folder, "data");
    mkdirSync(dataDir);
    const log = { info: () => {}, warn: () => {} };
    const started = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
    assert.ok(!("inUseBy" in started));
    postgres = started;
    const { connection, ownerConnection } = postgres;
    await migrateAsOwner(ownerConnection, connection.user);
    const connections = { connection: ownerConnection, serviceConnection: connection };
    node = await startNode(connections, { logDestination });
  });
  after(async () => {
    await node?.stop();
    await postgres?.release();
    disk?.unmount();
  });

  test("probes and callers are told, the log has PostgreSQL's words, and room mends it", async () => {
    const { key } = await makeWorkspace(node.db);
    assert.equal((await node.call("GET", "/readyz")).status, 200);
    const empty = fill(folder);
    const ready = await until(async () => {
      const reply = await node.call("GET", "/readyz");
      return reply.status === 503 ? reply : null;
    }, "readiness to turn false");
    assert.match(ready.json.error.message, /no room left on its disk/);
    assert.equal((await node.call("GET", "/healthz")).status, 200);
    const payload = { text: "0123456789abcdef".repeat(2_000) };
    // The first may find room in pages that are there already.
    await until(async () => {
      const replies = await createTimes(node, key, 5, payload);
      return replies.some(({ status }) => status === 503);
    }, "creates to find no room");
    const words = lines.map(({ err }) => String(err?.message));
    assert.ok(words.some((each) => /could not .*: No space left on device/.test(each)));
    lines.length = 0;
    const replies = await createTimes(node, key, 40, payload);
    assert.ok(replies.every(({ status }) => status === 503 || status === 201));
    assert.ok(replies.some(({ status }) => status === 503));
    const told = lines.filter(({ msg }) => /no room left/.test(String(msg)));
    assert.ok(told.length <= 5, `${told.length} lines for 40 calls`);
    const faults = lines.filter(({ level, msg }) => level === "error" && msg !== "call");
    assert.deepEqual(faults, []);
    empty();
    await until(async () => (await node.call("GET", "/readyz")).status === 200, "room again");
    const [created] = await createTimes(node, key, 1, payload);
    assert.equal(created?.status, 201, created?.text);
    assert.ok(lines.some(({ msg }) => msg === "ready again"));
  });
});
