// Connections to PostgreSQL that die at the worst moments: none of them ends the process.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { type Database, inTransaction, openDatabase } from "../src/database/database.ts";
import { DatabaseClient } from "../src/database/database-client.ts";
import { useEmbeddedPostgres } from "../src/database/embedded-postgres/embedded-postgres.ts";
import { isOutOfReach } from "../src/database/faults.ts";
import { migrate } from "../src/database/migrations.ts";
import { until } from "./patience.ts";
import { makeTestDatabase, type TestDatabase } from "./test-database.ts";
import { environmentOn, type Program, startProgram, untilWritten } from "./test-program.ts";
import { decisionBody, findReviewer, reviewDataOf, reviewOf } from "./test-review.ts";
import { makeWorkspace, minimalBody } from "./test-service.ts";

test("a process that stands still inside a transaction keeps others waiting only for a while, and is told", async () => {
  const database = await makeTestDatabase();
  const open = () =>
    openDatabase({ connection: database.connection, connectionsMax: 1, onIdleFault: () => {} });
  const [halted, other] = [open(), open()];
  const rename = (tx: { query: Database["query"] }) =>
    tx.query("update workspaces set name = name");
  try {
    await makeWorkspace(other);
    const standing = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const late = inTransaction(halted, async (tx) => {
      await rename(tx);
      standing.resolve();
      await ended.promise;
      await rename(tx);
    });
    late.catch(() => {});
    await standing.promise;
    await until(() => rename(other).catch(() => false as const), "the locks to be given back");
    ended.resolve();
    await assert.rejects(late, (fault) => isOutOfReach(fault));
    assert.equal((await halted.query("select 1")).rowCount, 1);
  } finally {
    await halted.end();
    await other.end();
    await database.drop();
  }
});

/** `migrate` waits for this lock while another node migrates. */
const migrationLock = 7_263_546_281;

describe("a connection that is lost while it is handed over", () => {
  let database: TestDatabase;
  before(async () => {
    database = await makeTestDatabase();
  });
  after(() => database.drop());

  /** Breaks our end of the connection as PostgreSQL's end would, in this very moment. */
  const cut = (client: pg.ClientBase) => {
    const { stream } = (client as unknown as { connection: { stream: NodeJS.ReadableStream } })
      .connection;
    (stream as unknown as { destroy(error: Error): void }).destroy(
      Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
    );
  };

  const uses: Record<string, (db: Database) => Promise<unknown>> = {
    "a statement": (db) => db.query("select 1"),
    "a transaction": (db) => inTransaction(db, (tx) => tx.query("select 1")),
    "a bare connection": async (db) => {
      const client = await db.connect();
      // The stream tells of its end in a later turn, when nobody has begun to listen yet.
      await pause(10);
      client.release();
    },
  };
  for (const [use, work] of Object.entries(uses)) {
    for (const event of ["connect", "acquire", "release"] as const) {
      test(`${use}, lost at "${event}", harms nobody but its user`, async () => {
        const db = openDatabase({
          connection: database.connection,
          connectionsMax: 1,
          onIdleFault: () => {},
        });
        try {
          if (event === "acquire") await work(db);
          let wasCut = false;
          const onEvent = (first: unknown, second?: unknown) => {
            if (wasCut) return;
            wasCut = true;
            cut((event === "release" ? second : first) as pg.ClientBase);
          };
          db.on(event as "connect", onEvent);
          await work(db).catch((error: unknown) => assert.ok(isOutOfReach(error), String(error)));
          assert.ok(wasCut);
          // The pool closes the broken one and opens another; the very next user may still meet it.
          await until(
            () =>
              work(db).then(
                () => true,
                (error: unknown) => {
                  assert.ok(isOutOfReach(error), String(error));
                  return false;
                },
              ),
            "the pool to work again",
          );
        } finally {
          await db.end();
        }
      });
    }
  }
});

describe("the service as a process", () => {
  test("goes on when its migration is cut off, however it is, and migrates again", async () => {
    const { url, end } = await startPostgres();
    let program: Program | null = null;
    try {
      await holdingMigrations({ url }, async (administrator) => {
        program = startProgram({ ...environmentOn(url), LOG_FORMAT: "json" });
        for (let round = 0; round < 2; round += 1) {
          const pid = await untilMigrationWaits(administrator);
          await administrator.query("select pg_terminate_backend($1, 60000)", [pid]);
        }
        // This one says nothing: the connection is just gone. PostgreSQL ends all others too, and starts anew.
        process.kill(await untilMigrationWaits(administrator), "SIGKILL");
      });
      const started = program as unknown as Program;
      const address = await addressOf(started);
      await until(() => isReady(address), "the service to be ready");
      assert.match(started.output, /out of reach/);
      assert.equal(started.child.exitCode, null, started.errors);
    } finally {
      await stop(program);
      await end();
    }
  });

  test("outlives a fault of the database that is thrown where nobody can catch it", async () => {
    const database = await makeTestDatabase();
    const thrower = `process.on("SIGUSR2", () => setImmediate(() => {
      throw Object.assign(new Error("terminating connection"), { code: "57P01" });
    }));`;
    const program = startProgram({
      ...environmentOn(database.url),
      LOG_FORMAT: "json",
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}`,
    });
    try {
      const address = await addressOf(program);
      program.child.kill("SIGUSR2");
      await until(() => /terminating connection/.test(program.errors), "the fault");
      assert.ok(await isReady(address));
      assert.equal(program.child.exitCode, null);
    } finally {
      await stop(program);
      await database.drop();
    }
  });

  test("outlives hundreds of backends that are ended under load, and a crash of PostgreSQL, and keeps every promise", async () => {
    const { url, end } = await startPostgres();
    const connection = { connectionString: url };
    await migrate(connection);
    // Its own connections are told apart by their name, and are left alone.
    const db = openDatabase({
      connection: { ...connection, application_name: "test" },
      connectionsMax: 4,
      onIdleFault: () => {},
    });
    const program = startProgram({
      ...environmentOn(url),
      LOG_FORMAT: "json",
      RATE_LIMIT: "0",
      PUBLIC_URL: "http://localhost",
    });
    try {
      const { key } = await makeWorkspace(db, { plan: "unlimited" });
      await assertKeepsPromises({ program, db, key });
    } finally {
      await stop(program);
      await db.end();
      await end();
    }
  });
});

type Torture = { program: Program; db: Database; key: string };

async function assertKeepsPromises({ program, db, key }: Torture): Promise<void> {
  const endedMin = 300;
  /** On a slow machine the connections end sooner than the calls are answered. */
  const promisedMin = 50;
  const address = await addressOf(program);
  const { pid } = program.child;
  const promised = new Map<string, string>();
  const faults: string[] = [];
  let isOver = false;
  const visitors = Array.from({ length: 12 }, async (_, n) => {
    while (!isOver) await visit({ address, key, db, promised, faults }, n);
  });
  try {
    let ended = 0;
    while (ended < endedMin || promised.size < promisedMin) {
      ended += await endBackends(db);
      // The moment differs each time: the state to hit lasts less than a millisecond.
      await pause(Math.random() * 20);
    }
    await crashPostgres(db);
    await until(() => isReady(address), "the service to be ready again");
    await endBackends(db);
  } finally {
    isOver = true;
    await Promise.all(visitors);
  }
  assert.equal(program.child.exitCode, null, `it ended: ${program.errors}`);
  assert.equal(program.child.pid, pid);
  assert.deepEqual(faults, []);
  await until(() => isReady(address), "the service to be ready in the end");
  for (const [id, status] of promised) {
    const { status: code, json } = await untilAnswered(() =>
      call(address, key, `/v1/requests/${id}`),
    );
    assert.equal(code, 200);
    if (status !== "PENDING") assert.equal(json.status, status, id);
  }
}

type Visit = {
  address: string;
  key: string;
  db: Database;
  promised: Map<string, string>;
  faults: string[];
};

/** Creates, reads, lists, and cancels or decides. Everything may be 503, and nothing may be a fault of ours. */
async function visit({ address, key, db, promised, faults }: Visit, n: number): Promise<void> {
  const note = (reply: CallReply): CallReply => {
    if (reply.status >= 500 && reply.status !== 503) faults.push(`${reply.status} ${reply.text}`);
    return reply;
  };
  const body = JSON.stringify(
    n % 6 === 0 ? { ...minimalBody, payload: { text: "x".repeat(50_000) } } : minimalBody,
  );
  const created = note(await call(address, key, "/v1/requests", { body }));
  if (created.status !== 201) return pause(5);
  const { id } = created.json;
  promised.set(id, "PENDING");
  note(await call(address, key, `/v1/requests/${id}`));
  note(await call(address, key, "/v1/requests?limit=5"));
  if (n % 3 === 0) {
    const cancelled = note(await call(address, key, `/v1/requests/${id}/cancel`, { body: "" }));
    if (cancelled.status === 200) promised.set(id, "CANCELLED");
  } else if (n % 3 === 1) {
    const reviewer = await findReviewer(db, id).catch(() => null);
    if (reviewer === null) return;
    const page = note(await call(address, null, `/review/${reviewer.token}`));
    if (page.status !== 200) return;
    const decision = decisionBody(reviewOf(reviewDataOf(page.text)), { verdict: "approve" });
    const decided = note(
      await call(address, null, `/review/${reviewer.token}/decision`, { body: decision }),
    );
    if (decided.status === 200) promised.set(id, "APPROVED");
  }
}

/** Ends a few of the service's connections, whatever they are doing. */
async function endBackends(db: Database): Promise<number> {
  const { rowCount } = await db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where usename = current_user and application_name like 'countersign%' and application_name not like '% command %'
       and random() < 0.5`,
  );
  return rowCount ?? 0;
}

/** PostgreSQL cannot know what a killed process has done to shared memory: it ends all others and starts anew. */
async function crashPostgres(db: Database): Promise<void> {
  // The last ones may have ended a moment ago.
  const pid = await until(async () => {
    const { rows } = await db.query<{ pid: number }>(
      "select pid from pg_stat_activity where application_name = 'countersign' limit 1",
    );
    return rows[0]?.pid;
  }, "a connection of the service");
  process.kill(pid, "SIGKILL");
  await until(
    () =>
      db.query("select 1").then(
        () => true,
        () => false,
      ),
    "PostgreSQL to be back",
  );
}

type CallReply = {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers
  json: any;
};

async function call(
  address: string,
  key: string | null,
  path: string,
  { body }: { body?: string } = {},
): Promise<CallReply> {
  const response = await fetch(`${address}${path}`, {
    headers: {
      ...(key === null ? { origin: "http://localhost" } : { authorization: `Bearer ${key}` }),
    },
    ...(body === undefined ? {} : { method: "POST", body }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
}

function untilAnswered(ask: () => Promise<CallReply>): Promise<CallReply> {
  return until(async () => {
    const reply = await ask();
    return reply.status === 503 ? null : reply;
  }, "an answer");
}

async function isReady(address: string): Promise<boolean> {
  return (await call(address, null, "/readyz")).status === 200;
}

const addressOf = async (program: Program) => {
  const [, port] = await untilWritten(program, /"address":"http:\/\/[^:"]+:(\d+)"/);
  return `http://127.0.0.1:${port}`;
};

async function stop(program: Program | null): Promise<void> {
  if (program === null) return;
  program.child.kill("SIGTERM");
  await program.ended;
}

/** A PostgreSQL of its own, which may crash without harming other tests. */
async function startPostgres(): Promise<{ url: string; end(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "cs-lost-"));
  const log = { info: () => {}, warn: () => {} };
  const dataDir = join(folder, "data");
  const started = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
  if ("inUseBy" in started) throw new Error("in use");
  const { host, port, user, password, database } = started.ownerConnection;
  const url = `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  const end = async () => {
    await started.release();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { url, end };
}

/** While this holds the lock, every migration waits. */
async function holdingMigrations(
  { url }: { url: string },
  work: (administrator: pg.Client) => Promise<void>,
): Promise<void> {
  const administrator = new DatabaseClient({ connectionString: url });
  await administrator.connect();
  try {
    await administrator.query("select pg_advisory_lock($1)", [migrationLock]);
    await work(administrator);
  } finally {
    await administrator.end();
  }
}

/** The process in PostgreSQL that is to migrate, and asks for its turn again and again. */
function untilMigrationWaits(administrator: pg.Client): Promise<number> {
  return until(async () => {
    const { rows } = await administrator.query<{ pid: number }>(
      `select pid from pg_stat_activity
         where datname = current_database() and application_name = 'countersign migrate'
           and query like '%pg_try_advisory_lock%'`,
    );
    return rows[0]?.pid;
  }, "a migration to wait");
}
