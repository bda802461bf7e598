// Starts whose database has a fault at the worst moment: real processes, and faults made in PostgreSQL itself.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import pg from "pg";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../src/database/embedded-postgres/embedded-postgres.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import { environmentOn, type Program, runCommand, startProgram } from "./test-program.ts";
import { minimalBody } from "./test-service.ts";
import { asSuperuser, letOwnerWatch } from "./test-superuser.ts";

const waitMs = 300_000;
const folder = mkdtempSync(join(tmpdir(), "cs-faults-"));
chmodSync(folder, 0o755); // PostgreSQL is another user's when this is root's
const releases: (() => Promise<void>)[] = [];
let dataDirs = 0;

after(async () => {
  for (const release of releases) await release();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

describe("a first start on the embedded database", { timeout: waitMs }, () => {
  test("serves nothing until its key is made, outlives a lost connection at that moment, and shows the key", async () => {
    const { environment, client, connection, port } = await makeEmpty();
    // Beside the one that looks: within a transaction it would see the same activity for ever.
    const locker = await connectTo(connection);
    await locker.query("begin");
    await locker.query("lock table workspaces in access exclusive mode");
    const program = startProgram(environment);
    const cut = await untilBlocked(client, "%workspaces%");
    assert.equal(await statusOf(port, "/healthz"), 200);
    assert.equal(await statusOf(port, "/readyz"), 503);
    assert.equal(await statusOf(port, "/v1/openapi.json"), 503);
    await client.query("select pg_terminate_backend($1)", [cut]);
    await until(async () => (await untilBlocked(client, "%workspaces%")) !== cut, "a second try");
    await locker.query("rollback");
    const key = await keyOf(program);
    const created = await fetch(`http://127.0.0.1:${port}/v1/requests`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(minimalBody),
    });
    assert.equal(created.status, 201, await created.text());
    await stop(program);
  });

  test("that cannot make its key ends before it served anything, and leaves the key to the next one", async () => {
    const { environment, client } = await makeEmpty();
    await client.query(
      `create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
    );
    await client.query(
      "create trigger refuse before insert on workspaces for each row execute function refuse()",
    );
    const refused = startProgram(environment);
    assert.notEqual((await refused.ended).code, 0);
    assert.doesNotMatch(refused.output, /cs_|countersign is running/);
    await client.query("drop trigger refuse on workspaces");
    const program = startProgram(environment);
    await keyOf(program);
    await stop(program);
  });
});

describe("a start on an external database that another node migrates", { timeout: waitMs }, () => {
  const migrationLock = "7263546281";

  test("lives and serves nothing meanwhile, tries again when its connection is cut, and then serves", async () => {
    const { environment, client, port } = await makeExternal();
    await client.query(`select pg_advisory_lock(${migrationLock})`);
    const program = startProgram(environment);
    const cut = await untilAwaitsTurn(client);
    await until(async () => (await statusOf(port, "/healthz")) === 200, "it lives");
    assert.equal(await statusOf(port, "/readyz"), 503);
    assert.equal(await statusOf(port, "/v1/openapi.json"), 503);
    await client.query("select pg_terminate_backend($1)", [cut]);
    await until(async () => (await untilAwaitsTurn(client)) !== cut, "a second try");
    await client.query(`select pg_advisory_unlock(${migrationLock})`);
    await until(async () => (await statusOf(port, "/readyz")) === 200, "it is ready");
    assert.equal(await statusOf(port, "/v1/openapi.json"), 200);
    await stop(program);
  });

  test("ends in one line when it can't work on that schema, and has served nothing", async () => {
    const { environment, client } = await makeExternal();
    await client.query(`select pg_advisory_lock(${migrationLock})`);
    const program = startProgram(environment);
    await untilAwaitsTurn(client);
    await client.query("update migrations set checksum = 'another'");
    await client.query(`select pg_advisory_unlock(${migrationLock})`);
    assert.notEqual((await program.ended).code, 0);
    assert.match(program.errors, /^countersign: The migration [^\n]* was changed[^\n]*\n$/);
    assert.doesNotMatch(program.output, /"msg":"serving"/);
  });
});

type Place = {
  environment: Record<string, string>;
  connection: pg.ClientConfig;
  client: pg.Client;
  port: number;
};

/** A DATA_DIR whose database is migrated and empty, and runs as long as this file. */
async function makeEmpty(): Promise<Place> {
  dataDirs += 1;
  const dataDir = join(folder, String(dataDirs));
  const port = await freePort();
  const environment = { DATA_DIR: dataDir, PORT: String(port) };
  const { code, stderr } = await runCommand(environment, ["workspace", "list"]);
  assert.equal(code, 0, stderr);
  const postgres = (await useEmbeddedPostgres({
    dataDir,
    purpose: "command",
    log: { info: () => {}, warn: () => {} },
  })) as EmbeddedPostgres;
  releases.unshift(() => postgres.release());
  const { ownerConnection: connection } = postgres;
  await asSuperuser(dataDir, connection, letOwnerWatch);
  return { environment, connection, port, client: await connectTo(connection) };
}

async function makeExternal(): Promise<Place> {
  const database = await makeTestDatabase();
  releases.unshift(() => database.drop());
  const port = await freePort();
  const environment = { ...environmentOn(database.url), PORT: String(port) };
  const { connection } = database;
  return { environment, connection, port, client: await connectTo(connection) };
}

async function connectTo(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, application_name: "the test" });
  await client.connect();
  releases.unshift(() => client.end());
  return client;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The newest process that asks again and again whether it may migrate, which holds up nobody. */
function untilAwaitsTurn(client: pg.Client): Promise<number> {
  return until(async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and query like '%pg_try_advisory_lock%' and pid <> pg_backend_pid()
       order by backend_start desc limit 1`,
    );
    return rows[0]?.pid;
  }, "a process that asks whether it may migrate");
}

/** The backend that waits for a lock with such a statement. */
function untilBlocked(client: pg.Client, statement: string): Promise<number> {
  return until(async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like $1
         order by backend_start desc limit 1`,
      [statement],
    );
    return rows[0]?.pid;
  }, `a backend that waits with ${statement}`);
}

async function statusOf(port: number, path: string): Promise<number> {
  try {
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  } catch {
    return 0;
  }
}

function keyOf(program: Program): Promise<string> {
  return until(() => {
    assert.equal(program.child.exitCode, null, `it ended: ${program.errors}${program.output}`);
    return /^ {2}API key {3}(cs_[0-9A-Za-z]{49}) /m.exec(program.output)?.[1];
  }, "the first key");
}

async function stop(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
}
