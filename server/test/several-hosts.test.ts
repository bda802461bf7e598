// An address with several hosts leads to the one that takes writes, also after it has changed.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDatabase } from "../src/database/database.ts";
import { DatabaseClient } from "../src/database/database-client.ts";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../src/database/embedded-postgres/embedded-postgres.ts";
import { migrateAsOwner } from "../src/storage/service-rights.ts";
import { until } from "./patience.ts";
import { decisionBody, findReviewer, openReview, postReview } from "./test-review.ts";
import { insist, makeWorkspace, minimalBody, startNode, type TestNode } from "./test-service.ts";
import { asSuperuser, asSuperuserIn } from "./test-superuser.ts";

type Cluster = { dataDir: string; postgres: EmbeddedPostgres };

let folder: string;
let first: Cluster;
let second: Cluster;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "cs-hosts-"));
  const made = await open("1");
  const { connection, ownerConnection } = made.postgres;
  await migrateAsOwner(ownerConnection, connection.user);
  await made.postgres.release();
  // The same roles, passwords and rows, as a standby has.
  execFileSync("cp", ["-a", join(folder, "1"), join(folder, "2")]);
  first = await open("1");
  second = await open("2");
});
after(async () => {
  await first?.postgres.release();
  await second?.postgres.release();
  await rm(folder, { recursive: true });
});

async function open(name: string): Promise<Cluster> {
  const dataDir = join(folder, name);
  const log = { info: () => {}, warn: () => {} };
  const postgres = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
  assert.ok(!("inUseBy" in postgres));
  return { dataDir, postgres };
}

/** As a standby answers, and as a primary does that was told to take no writes. */
async function setReadOnly({ dataDir, postgres }: Cluster, isReadOnly: boolean): Promise<void> {
  const change = `alter system set default_transaction_read_only = ${isReadOnly ? "on" : "off"}`;
  // The superuser's own session would be read-only, too, but this is no write to a table.
  await asSuperuser(dataDir, postgres.connection, change, "select pg_reload_conf()");
  await until(async () => {
    const client = new DatabaseClient(postgres.connection);
    await client.connect();
    const { rows } = await client.query("show transaction_read_only");
    await client.end();
    return (rows[0]?.transaction_read_only === "on") === isReadOnly;
  }, "the setting");
}

/** Of both clusters, with a third host in front where nobody is. */
function addressOf(role: "connection" | "ownerConnection"): string {
  const places = [first.postgres[role], second.postgres[role]];
  const { user, password, database } = first.postgres[role];
  const query = new URLSearchParams({
    host: ["127.0.0.1", ...places.map(({ host }) => host)].join(),
    port: ["1", ...places.map(({ port }) => port)].join(),
    target_session_attrs: "read-write",
  });
  return `postgres://${user}:${encodeURIComponent(password)}@/${database}?${query}`;
}

const folderOf = (client: { host: string }) => client.host;

test("a service goes to the host that takes writes, and follows it when that changes", async () => {
  await setReadOnly(second, true);
  const node = await startNode({
    connection: { connectionString: addressOf("ownerConnection") },
    serviceConnection: { connectionString: addressOf("connection") },
  });
  try {
    const { key } = await makeWorkspace(node.db);
    const create = () => insist(node, "POST", "/v1/requests", { key, body: minimalBody });
    assert.equal((await create()).status, 201);
    assert.equal((await node.call("GET", "/readyz")).status, 200);
    // Its old connections stay open. One that refuses a write is left.
    await setReadOnly(first, true);
    const refused = await until(async () => {
      const reply = await node.call("POST", "/v1/requests", { key, body: minimalBody });
      return reply.status === 503 ? reply : null;
    }, "the writes to be refused");
    assert.equal(refused.json.error.code, "unavailable");
    assert.equal((await node.call("GET", "/readyz")).status, 503);
    await setReadOnly(second, false);
    await until(
      async () => (await node.call("GET", "/readyz")).status === 200,
      "the service to be ready on the other host",
    );
    // The key was made on the first: a copy that replicates would have it.
    const other = await until(() => makeWorkspace(node.db).catch(() => null), "a workspace");
    const body = { key: other.key, body: minimalBody };
    assert.equal((await insist(node, "POST", "/v1/requests", body)).status, 201);
  } finally {
    await node.stop();
    await setReadOnly(first, false);
  }
});

test("of two hosts that take writes it is the first", async () => {
  const client = new DatabaseClient({ connectionString: addressOf("connection") });
  await client.connect();
  assert.equal(folderOf(client), first.postgres.connection.host);
  await client.end();
});

test("a host whose database refuses us is told, not hidden behind one that is away", async () => {
  const address = new URL(addressOf("connection").replace("@/", "@x/"));
  address.password = "wrong";
  address.searchParams.set("host", `${first.postgres.connection.host},127.0.0.1`);
  address.searchParams.set("port", `${first.postgres.connection.port},1`);
  const connection = { connectionString: address.href };
  const db = openDatabase({ connection, connectionsMax: 1, onIdleFault: () => {} });
  await assert.rejects(db.query("select 1"), { code: "28P01" });
  await db.end();
});

/** One address, as of a proxy in front of both. It leads to the first, until a statement of this name is about to run. */
async function frontOf(statement: string) {
  let target = first;
  let isArmed = false;
  const server = createServer((client) => {
    const { host, port } = target.postgres.connection;
    const primary = connect(`${host}/.s.PGSQL.${port}`);
    client.on("error", () => primary.destroy()).on("close", () => primary.destroy());
    primary.on("error", () => client.destroy()).pipe(client);
    client.on("data", (bytes) => {
      if (!isArmed || !bytes.includes(statement)) return void primary.write(bytes);
      isArmed = false;
      target = second;
      // As a planned change does it: sessions of the old primary end with a word.
      const end = "select pg_terminate_backend(pid) from pg_stat_activity where usename = ";
      const user = `'${first.postgres.connection.user}'`;
      void asSuperuser(first.dataDir, first.postgres.connection, end + user);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { user, password, database } = first.postgres.connection;
  const { port } = server.address() as AddressInfo;
  return {
    connection: { host: "127.0.0.1", port, user, password, database },
    arm: () => {
      isArmed = true;
    },
    isChanged: () => target === second,
    close: () => server.close(),
  };
}

test("nobody is told that a request exists which only the former primary has", async () => {
  await setReadOnly(second, false);
  const front = await frontOf("replication.wait");
  const node = await startNode(
    { connection: first.postgres.ownerConnection, serviceConnection: front.connection },
    { shortOutageMs: 60_000 },
  );
  try {
    const { key } = await makeWorkspace(node.db);
    const create = () =>
      node.call("POST", "/v1/requests", {
        key,
        body: minimalBody,
        headers: { "idempotency-key": "once" },
      });
    assert.equal((await create()).status, 201);
    assert.equal((await create()).status, 201);
    front.arm();
    const reply = await create();
    assert.ok(front.isChanged());
    assert.equal(reply.status, 503, reply.text);
  } finally {
    await node.stop();
    front.close();
  }
});

test("an action isn't handed out again by a redemption that only the former primary has", async () => {
  await setReadOnly(second, false);
  const front = await frontOf("replication.wait");
  const node = await startNode(
    { connection: first.postgres.ownerConnection, serviceConnection: front.connection },
    { shortOutageMs: 60_000 },
  );
  try {
    const { key } = await makeWorkspace(node.db);
    const { json } = await node.call("POST", "/v1/requests", { key, body: minimalBody });
    const { token } = await findReviewer(node.db, json.id);
    const body = decisionBody(await openReview(node.app, token), { verdict: "approve" });
    assert.equal((await postReview(node.app, `${token}/decision`, body)).status, 200);
    const redeem = () =>
      node.call("POST", `/v1/requests/${json.id}/redeem`, {
        key,
        headers: { "idempotency-key": "once" },
      });
    assert.equal((await redeem()).status, 200);
    assert.equal((await redeem()).status, 200);
    front.arm();
    const reply = await redeem();
    assert.ok(front.isChanged());
    assert.equal(reply.status, 503, reply.text);
  } finally {
    await node.stop();
    front.close();
  }
});

function inSecond(...statements: string[]): Promise<void> {
  const { dataDir, postgres } = second;
  return asSuperuserIn(postgres.connection.database, dataDir, postgres.connection, ...statements);
}

/** As replication does it: these rows of the first cluster are in the second, too, and none that come later. */
async function replicate(...tables: string[]): Promise<void> {
  const source = new DatabaseClient(first.postgres.ownerConnection);
  await source.connect();
  const statements = ["set session_replication_role = replica"];
  for (const table of tables) {
    const { rows } = await source.query(`select to_jsonb(t)::text as text from ${table} t`);
    for (const { text } of rows as { text: string }[]) {
      statements.push(
        `insert into ${table} select * from jsonb_populate_record(null::${table}, ${source.escapeLiteral(text)})
         on conflict do nothing`,
      );
    }
  }
  await source.end();
  await inSecond(...statements);
}

/** A node that goes on at the second cluster after the change, with a request that both have. */
async function startOnBoth(before: (node: TestNode, key: string, id: string) => Promise<void>) {
  await setReadOnly(second, false);
  // The request's end is stored; what it came to is read next.
  const front = await frontOf("approvals.find");
  const node = await startNode(
    { connection: first.postgres.ownerConnection, serviceConnection: front.connection },
    { shortOutageMs: 60_000 },
  );
  const { key } = await makeWorkspace(node.db);
  const { json } = await node.call("POST", "/v1/requests", { key, body: minimalBody });
  await before(node, key, json.id);
  await replicate("workspaces", "api_keys", "approvals");
  const stop = async () => {
    await node.stop();
    front.close();
  };
  return { node, front, key, id: json.id as string, stop };
}

test("an action that the new primary gave to somebody else isn't handed out by the former's word", async () => {
  const { node, front, key, id, stop } = await startOnBoth(async ({ db, app }, _key, asked) => {
    const { token } = await findReviewer(db, asked);
    const body = decisionBody(await openReview(app, token), { verdict: "approve" });
    assert.equal((await postReview(app, `${token}/decision`, body)).status, 200);
  });
  try {
    const redeem = `insert into redemptions (workspace_id, approval_id, api_key_id, redeemed_at)
      select a.workspace_id, a.id, k.id, a.resolved_at + interval '1 millisecond'
      from approvals a join api_keys k on k.workspace_id = a.workspace_id where a.id = '${id}'`;
    await inSecond(redeem);
    front.arm();
    const reply = await node.call("POST", `/v1/requests/${id}/redeem`, { key });
    assert.ok(front.isChanged());
    assert.equal(reply.status, 503, reply.text);
    const later = await node.call("POST", `/v1/requests/${id}/redeem`, { key });
    assert.equal(later.json.error?.code, "already_redeemed", later.text);
  } finally {
    await stop();
  }
});

test("a cancel that only the former primary has isn't told as done, nor as a fault of ours", async () => {
  const { node, front, key, id, stop } = await startOnBoth(async () => {});
  try {
    front.arm();
    const cancel = () => node.call("POST", `/v1/requests/${id}/cancel`, { key });
    const reply = await cancel();
    assert.ok(front.isChanged());
    assert.deepEqual([reply.status, reply.json.error?.code], [503, "unavailable"], reply.text);
    const again = await cancel();
    assert.deepEqual([again.status, again.json.status], [200, "CANCELLED"], again.text);
  } finally {
    await stop();
  }
});
