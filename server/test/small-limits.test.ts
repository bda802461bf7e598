// A PostgreSQL whose limits are reached: its queue of notifications is full, or a role may write no temporary files.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { openDatabase } from "../src/database/database.ts";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../src/database/embedded-postgres/embedded-postgres.ts";
import { Readiness } from "../src/database/readiness.ts";
import { migrateAsOwner } from "../src/storage/service-rights.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startNode } from "./test-service.ts";
import { asSuperuser } from "./test-superuser.ts";

const dataDir = mkdtempSync(join(tmpdir(), "cs-small-limits-"));
let postgres: EmbeddedPostgres;

async function startPostgres(): Promise<EmbeddedPostgres> {
  const log = { info: () => {}, warn: () => {} };
  const started = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
  assert.ok(!("inUseBy" in started));
  return started;
}

before(async () => {
  const first = await startPostgres();
  // The least there may be, half a megabyte; it counts from the next start on.
  await asSuperuser(dataDir, first.connection, "alter system set max_notify_queue_pages = 64");
  await first.release();
  postgres = await startPostgres();
  await migrateAsOwner(postgres.ownerConnection, postgres.connection.user);
});
after(async () => {
  await postgres?.release();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Another application, whose session listens and then keeps a transaction open. The answer ends it. */
async function fillQueue(): Promise<() => Promise<void>> {
  const clients = [new pg.Client(postgres.connection), new pg.Client(postgres.connection)] as const;
  const [listening, telling] = clients;
  for (const client of clients) await client.connect();
  await listening.query("listen elsewhere");
  await listening.query("begin");
  await listening.query("select 1");
  const many =
    "select pg_notify('elsewhere', n || repeat('x', 4000)) from generate_series(1, 20) n";
  await assert.rejects(
    async () => {
      for (;;) await telling.query(many);
    },
    { code: "54000" },
  );
  return async () => {
    for (const client of clients) await client.end();
  };
}

test("while the queue of notifications is full decisions get 503 and the log says why, and room lets them through", async () => {
  const { connection, ownerConnection } = postgres;
  const lines: (Record<string, unknown> & { err?: Record<string, unknown> })[] = [];
  const logDestination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const node = await startNode(
    { connection: ownerConnection, serviceConnection: connection },
    { logDestination },
  );
  try {
    const { key } = await makeWorkspace(node.db);
    const created = await node.call("POST", "/v1/requests", { key, body: minimalBody });
    const cancel = () => node.call("POST", `/v1/requests/${created.json.id}/cancel`, { key });
    const empty = await fillQueue();
    const refused = await cancel();
    assert.deepEqual([refused.status, refused.json.error.code], [503, "unavailable"]);
    const told = lines.find(({ err }) => err?.code === "54000");
    assert.match(String(told?.msg), /queue of notifications is full/);
    assert.match(String(told?.err?.message), /too many notifications/);
    await empty();
    // PostgreSQL itself would refuse for ever.
    await until(async () => (await cancel()).status === 200, "the decision to be taken");
  } finally {
    await node.stop();
  }
});

test("a role that may write no temporary files is ready", async () => {
  const { connection } = postgres;
  await asSuperuser(dataDir, connection, `alter role ${connection.user} set temp_file_limit = 0`);
  const db = openDatabase({ connection, connectionsMax: 1, onIdleFault: () => {} });
  try {
    const readiness = new Readiness(db, { info: () => {}, warn: () => {} });
    assert.equal(await readiness.reasonAgainst(), null);
  } finally {
    await db.end();
  }
});
