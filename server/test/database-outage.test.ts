import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { openDatabase } from "../src/database/database.ts";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../src/database/embedded-postgres/embedded-postgres.ts";
import { migrateAsOwner } from "../src/storage/service-rights.ts";
import { until } from "./patience.ts";
import { isPooled, makeTestDatabase, testDatabaseUrl } from "./test-database.ts";
import { insist, makeWorkspace, minimalBody, startNode, type TestNode } from "./test-service.ts";

let folder: string;
let postgres: EmbeddedPostgres;
let node: TestNode;
let key: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-outage-"));
  postgres = await startPostgres();
  const { connection, ownerConnection } = postgres;
  await migrateAsOwner(ownerConnection, connection.user);
  node = await startNode({ connection: ownerConnection, serviceConnection: connection });
  ({ key } = await makeWorkspace(node.db));
});
after(async () => {
  await node.stop();
  await postgres.release();
  await rm(folder, { recursive: true });
});

/** A PostgreSQL of this file's own, so that it can go away without harming other tests. */
async function startPostgres(): Promise<EmbeddedPostgres> {
  const log = { info: () => {}, warn: () => {} };
  const started = await useEmbeddedPostgres({
    dataDir: join(folder, "data"),
    purpose: "command",
    log,
  });
  if ("inUseBy" in started) throw new Error("in use");
  return started;
}

const create = (idempotencyKey: string) =>
  node.call("POST", "/v1/requests", {
    key,
    body: minimalBody,
    headers: { "idempotency-key": idempotencyKey },
  });

test("while the database is away every call is 503 and the process lives; when it is back, it goes on", async () => {
  const { json } = await create("before");
  const waiting = node.call("GET", `/v1/requests/${json.id}?wait=2`, { key });
  await until(() => node.resolutions.waiting === 1);
  await postgres.release();

  for (const reply of [
    await create("during"),
    await node.call("GET", `/v1/requests/${json.id}`, { key }),
    await node.call("GET", "/v1/requests", { key }),
    await node.call("POST", `/v1/requests/${json.id}/cancel`, { key }),
    await node.call("POST", "/v1/requests", { key, body: "{" }),
    await node.call("GET", "/readyz"),
    await waiting,
  ]) {
    assert.equal(reply.status, 503, reply.text);
    assert.equal(reply.json.error.code, "unavailable");
    assert.ok(Number(reply.headers["retry-after"]) > 0);
  }
  assert.equal((await node.call("GET", "/healthz")).status, 200);

  postgres = await startPostgres();
  assert.equal((await node.call("GET", "/readyz")).status, 200);
  assert.equal((await create("during")).status, 201);
  const read = await node.call("GET", `/v1/requests/${json.id}`, { key });
  assert.equal(read.json.status, "PENDING");
});

test("a call whose connecting hangs is answered once another attempt gets through", async (t) => {
  const { connection } = postgres;
  let attempts = 0;
  // As a load balancer holds connections to a server that has just gone.
  const balancer = createServer((client) => {
    attempts += 1;
    client.on("error", () => {});
    if (attempts === 1) return;
    const server = connect(`${connection.host}/.s.PGSQL.${connection.port}`);
    client.on("close", () => server.destroy());
    server.on("error", () => client.destroy());
    client.pipe(server).pipe(client);
  });
  balancer.listen(0, "127.0.0.1");
  await once(balancer, "listening");
  const { port } = balancer.address() as AddressInfo;
  const db = openDatabase({
    connection: { ...connection, host: "127.0.0.1", port },
    connectionsMax: 1,
    onIdleFault: () => {},
    shortOutageMs: 60_000,
  });
  t.after(async () => {
    await db.end();
    balancer.close();
  });
  const { rows } = await db.query("select 1 as one");
  assert.deepEqual(rows, [{ one: 1 }]);
  assert.ok(attempts > 1);
});

test("a restart of seconds fails no call, and each create is made once", async (t) => {
  const { connection, ownerConnection } = postgres;
  const patient = await startNode(
    { connection: ownerConnection, serviceConnection: connection },
    { shortOutageMs: 60_000 },
  );
  t.after(() => patient.stop());
  const { id, key: ownKey } = await makeWorkspace(patient.db);
  const statuses: number[] = [];
  let isOver = false;
  const callers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const create = await patient.call("POST", "/v1/requests", { key: ownKey, body: minimalBody });
      const read = await patient.call("GET", `/v1/requests/${create.json.id}`, { key: ownKey });
      const list = await patient.call("GET", "/v1/requests", { key: ownKey });
      const cancel = await patient.call("POST", `/v1/requests/${create.json.id}/cancel`, {
        key: ownKey,
      });
      statuses.push(create.status, read.status, list.status, cancel.status);
    }
  });
  await until(() => statuses.length > 40, "calls before the restart");
  await postgres.release();
  postgres = await startPostgres();
  const before = statuses.length;
  await until(() => statuses.length > before + 40, "calls after the restart");
  isOver = true;
  await Promise.all(callers);
  assert.deepEqual(
    [...new Set(statuses)].sort(),
    [200, 201],
    `${statuses.filter((status) => status > 201)} of ${statuses.length}`,
  );
  const { rows } = await patient.db.query(
    `select count(*)::int as approvals, (select requests from monthly_usage where workspace_id = $1) as used
     from approvals where workspace_id = $1`,
    [id],
  );
  const made = statuses.length / 4;
  assert.deepEqual(rows, [{ approvals: made, used: made }]);
});

test("calls under way when connections are cut are 503 or done, and a retry with the same key makes one request", async () => {
  const { id, key: ownKey } = await makeWorkspace(node.db);
  const call = (n: number) =>
    node.call("POST", "/v1/requests", {
      key: ownKey,
      body: minimalBody,
      headers: { "idempotency-key": `k${n}` },
    });
  for (let round = 0; round < 5; round += 1) {
    const calls = Array.from({ length: 40 }, (_, n) => call(round * 40 + n));
    await pause(round * 3);
    await node.db
      .query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
      )
      .catch(() => {});
    for (const { status } of await Promise.all(calls))
      assert.ok(status === 201 || status === 503, String(status));
  }
  for (let n = 0; n < 200; n += 1) {
    const headers = { "idempotency-key": `k${n}` };
    const again = { key: ownKey, body: minimalBody, headers };
    assert.equal((await insist(node, "POST", "/v1/requests", again)).status, 201);
  }
  const { rows } = await node.db.query(
    `select count(*)::int as approvals, (select requests from monthly_usage where workspace_id = $1) as used
     from approvals where workspace_id = $1`,
    [id],
  );
  assert.deepEqual(rows, [{ approvals: 200, used: 200 }]);
});

test("a decision made after the database came back still wakes those who wait", async () => {
  const { json } = await create("woken");
  const waiting = node.call("GET", `/v1/requests/${json.id}?wait=60`, { key });
  await until(() => node.resolutions.waiting === 1);
  await node.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  assert.equal((await waiting).json.status, "CANCELLED");
});

const skip =
  isPooled && "through a pooler the settings are the role's, and those of a database bend them";

test("a database that no longer lets us in is 503, and its own settings bend nothing", {
  skip,
}, async () => {
  const database = await makeTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const administrator = new pg.Client({ connectionString: testDatabaseUrl() });
  await administrator.connect();
  await administrator.query(
    `alter database ${name} set default_transaction_isolation = 'serializable'`,
  );
  await administrator.query(`alter database ${name} set datestyle = 'German'`);
  await administrator.query(`alter database ${name} set timezone = 'Asia/Kathmandu'`);
  const other = await startNode(database);
  try {
    const { key: otherKey } = await makeWorkspace(other.db);
    const replies = await Promise.all(
      Array.from({ length: 100 }, () =>
        insist(other, "POST", "/v1/requests", { key: otherKey, body: minimalBody }),
      ),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
    const lifeMs = Date.parse(replies[0]?.json.expiresAt) - Date.parse(replies[0]?.json.createdAt);
    assert.equal(lifeMs, 1440 * 60_000);
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = $1 and backend_type = 'client backend'`;
    await administrator.query(`alter database ${name} with allow_connections false`);
    await administrator.query(cut, [name]);
    for (const path of ["/readyz", "/v1/requests"]) {
      const reply = await other.call("GET", path, { key: otherKey });
      assert.deepEqual([reply.status, reply.json.error.code], [503, "unavailable"]);
    }
    await administrator.query(`alter database ${name} with allow_connections true`);
    assert.equal((await other.call("GET", "/readyz")).status, 200);
  } finally {
    await other.stop();
    await administrator.end();
    await database.drop();
  }
});
