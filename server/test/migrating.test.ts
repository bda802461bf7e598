import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import pg from "pg";
import { listMissingMigrations, migrate } from "../src/storage/migrations.ts";
import { dumpSchema } from "./schema-dump.ts";
import { makeTestDatabase, type TestDatabase } from "./test-database.ts";
import { startNode } from "./test-service.ts";
import { schemaFile } from "./write-schema.ts";

async function onDatabase(
  options: { isEmpty?: boolean },
  work: (database: TestDatabase, client: pg.Client) => Promise<void>,
): Promise<void> {
  const database = await makeTestDatabase(options);
  const client = new pg.Client(database.connection);
  await client.connect();
  try {
    await work(database, client);
  } finally {
    await client.end();
    await database.drop();
  }
}

test("the committed schema.sql is what the migrations make", async () => {
  await onDatabase({}, async (_database, client) => {
    assert.equal(
      await dumpSchema(client),
      await readFile(schemaFile, "utf8"),
      "run `npm run schema` and look at the difference",
    );
  });
});

test("nodes that start at once on an empty database migrate it once and all end well", async () => {
  await onDatabase({ isEmpty: true }, async ({ connection }, client) => {
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(connection)));
    const working = applied.filter((names) => names.length > 0);
    assert.equal(working.length, 1);
    const { rows } = await client.query("select name from migrations order by name");
    assert.deepEqual(
      rows.map(({ name }) => name),
      working[0],
    );
    assert.deepEqual(await migrate(connection), []);
  });
});

test("a migration that was changed after it had been applied is refused", async () => {
  await onDatabase({}, async ({ connection }, client) => {
    await client.query("update migrations set checksum = 'other'");
    await assert.rejects(migrate(connection), /0001_first_schema\.sql was changed after/);
  });
});

test("until it is migrated a node is alive but not ready, and answers 503", async () => {
  await onDatabase({ isEmpty: true }, async (database, client) => {
    const node = await startNode(database);
    try {
      assert.equal((await node.call("GET", "/healthz")).status, 200);
      const early = await node.call("GET", "/readyz");
      assert.deepEqual([early.status, early.json.error.code], [503, "unavailable"]);
      const key = "cs_0000000000000000000000000000000000000000000000000";
      assert.equal(
        (await node.call("GET", "/v1/requests", { key })).status,
        401,
        "no key passes by its form alone",
      );
      assert.ok((await listMissingMigrations(client)).length > 0);
      await migrate(database.connection);
      assert.deepEqual((await node.call("GET", "/readyz")).json, { status: "ready" });
    } finally {
      await node.stop();
    }
  });
});
