// What a migration does to those who work on the database at the same time, and what a migrator leaves that was cut off.

import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { migrate } from "../src/database/migrations.ts";
import { until } from "./patience.ts";
import { makeTestDatabase, type TestDatabase } from "./test-database.ts";
import { withFurtherMigrations } from "./test-migrations.ts";
import { makeWorkspace, minimalBody, startNode } from "./test-service.ts";

type Scene = {
  database: TestDatabase;
  folder: string;
  /** The test's own, to look with. */
  client: pg.Client;
  /** Another's, who holds something. */
  other: pg.Client;
};

/** A database of this program, and a newer program's migrations. */
async function onScene(
  further: Readonly<Record<string, string>>,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  await withFurtherMigrations(further, async (folder) => {
    const database = await makeTestDatabase();
    const [client, other] = [
      new pg.Client(database.connection),
      new pg.Client(database.connection),
    ];
    for (const each of [client, other]) {
      // The drop cuts off what a failed test has left.
      each.on("error", () => {});
      await each.connect();
    }
    try {
      await work({ database, folder, client, other });
    } finally {
      await client.end();
      await other.end();
      await database.drop();
    }
  });
}

const build = (table: string) => `-- Found by it.
-- works beside: 0033
-- without a transaction
create index concurrently if not exists made_up on ${table} (id);
`;

/** The process that carries the migrations out, once it waits for another's lock. */
function untilWaits(client: pg.Client): Promise<number> {
  return until(async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name = 'countersign migrate' and wait_event_type = 'Lock'`,
    );
    return rows[0]?.pid;
  }, "a migration that waits for a lock");
}

async function stateOf(client: pg.Client, index: string): Promise<boolean | null> {
  const { rows } = await client.query<{ indisvalid: boolean }>(
    "select indisvalid from pg_index where indexrelid = to_regclass($1)",
    [index],
  );
  return rows[0]?.indisvalid ?? null;
}

test("a migration that waits for a lock lets calls pass, says for whom it waits, and goes on by itself", async () => {
  const further = { "9001_column.sql": "alter table approvals add column made_up integer;" };
  await onScene(further, async ({ database, folder, client, other }) => {
    const node = await startNode(database);
    try {
      const { key } = await makeWorkspace(node.db);
      await other.query("set application_name = 'a long report'");
      await other.query("begin");
      await other.query("select count(*) from approvals");
      const told: string[] = [];
      const migrated = migrate(database.connection, { folder, tell: (text) => told.push(text) });
      await untilWaits(client);
      // Behind a migration that waited without limit, this create would wait for the report's end.
      const created = await node.call("POST", "/v1/requests", { key, body: minimalBody });
      assert.equal(created.status, 201, created.text);
      const words =
        /^9001_column\.sql waits for AccessExclusiveLock on approvals, held by .*\(a long report, idle in transaction, in a transaction for \d+ s\).*; it lets calls pass and tries again in \d+ s$/;
      await until(() => told.some((text) => words.test(text)), "the holder's name");
      await other.query("rollback");
      assert.deepEqual(await migrated, ["9001_column.sql"]);
    } finally {
      await node.stop();
    }
  });
});

test("an index is built beside writes, also while other nodes wait for their turn to migrate", async () => {
  const further = {
    "9001_index.sql": build("approvals"),
    "9002_column.sql": "alter table approvals add column made_up integer;",
  };
  await onScene(further, async ({ database, folder, client, other }) => {
    await other.query("begin");
    await other.query("update workspaces set name = name");
    await other.query("lock table approvals in row exclusive mode");
    const nodes = Array.from({ length: 3 }, () => migrate(database.connection, { folder }));
    const all = Promise.all(nodes);
    await untilWaits(client);
    await client.query("begin; lock table approvals in row exclusive mode; commit");
    await other.query("commit");
    const working = (await all).filter((names) => names.length > 0);
    assert.deepEqual(working, [["9001_index.sql", "9002_column.sql"]]);
    assert.equal(await stateOf(client, "made_up"), true);
  });
});

test("an index whose build was cut off is dropped and built again by the next migrator", async () => {
  await onScene(
    { "9001_index.sql": build("approvals") },
    async ({ database, folder, client, other }) => {
      await other.query("begin");
      await other.query("lock table approvals in row exclusive mode");
      const cut = migrate(database.connection, { folder });
      cut.catch(() => {});
      const pid = await untilWaits(client);
      await client.query("select pg_terminate_backend($1)", [pid]);
      await assert.rejects(cut);
      assert.equal(await stateOf(client, "made_up"), false);
      await other.query("commit");
      assert.deepEqual(await migrate(database.connection, { folder }), ["9001_index.sql"]);
      assert.equal(await stateOf(client, "made_up"), true);
      // Killed after the build and before it was noted: it is there, and valid.
      await client.query("delete from migrations where name = '9001_index.sql'");
      assert.deepEqual(await migrate(database.connection, { folder }), ["9001_index.sql"]);
      assert.deepEqual(await migrate(database.connection, { folder }), []);
    },
  );
});

test("a migrator that is cut off leaves whole files and nothing of the next one", async () => {
  const further = {
    "9001_whole.sql": "create table made_up (id text primary key);",
    "9002_half.sql": `
      alter table made_up add column half integer;
      lock table approvals in access exclusive mode;`,
  };
  await onScene(further, async ({ database, folder, client, other }) => {
    await other.query("begin");
    await other.query("lock table approvals in row exclusive mode");
    const cut = migrate(database.connection, { folder });
    cut.catch(() => {});
    const pid = await untilWaits(client);
    await client.query("select pg_terminate_backend($1)", [pid]);
    await assert.rejects(cut);
    const { rows } = await client.query(
      "select name from migrations where name > '9' order by name",
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      ["9001_whole.sql"],
    );
    const { rows: columns } = await client.query(
      "select attname from pg_attribute where attrelid = 'made_up'::regclass and attnum > 0",
    );
    assert.deepEqual(
      columns.map(({ attname }) => attname),
      ["id"],
    );
    await other.query("commit");
    assert.deepEqual(await migrate(database.connection, { folder }), ["9002_half.sql"]);
  });
});

test("an operator's time limit for statements doesn't end a migration", async () => {
  const further = {
    "9001_limits.sql": `do $$ begin assert current_setting('statement_timeout') = '0'; end $$;`,
  };
  await onScene(further, async ({ database, folder, client }) => {
    const { rows } = await client.query<{ statement: string }>(
      "select format('alter database %I set statement_timeout = 60000', current_database()) as statement",
    );
    await client.query(rows[0]?.statement ?? "");
    assert.deepEqual(await migrate(database.connection, { folder }), ["9001_limits.sql"]);
  });
});
