// A running program whose database a newer one has migrated: it goes on where the migrations say that they work beside
// it, and rests where they don't.

import assert from "node:assert/strict";
import { test } from "node:test";
import { migrate } from "../src/database/migrations.ts";
import { migrateAsOwner } from "../src/storage/service-rights.ts";
import { until } from "./patience.ts";
import { makeTestDatabase, type TestDatabase, testServiceRole } from "./test-database.ts";
import { newestNumber, withFurtherMigrations } from "./test-migrations.ts";
import { environmentOn, runCommand, textOf } from "./test-program.ts";
import { decide, findReviewer } from "./test-review.ts";
import { makeWorkspace, minimalBody, startNode, type TestNode } from "./test-service.ts";
import { makeEndpoint, type Receiver, startReceiver, startWorker } from "./test-worker.ts";

type Line = Record<string, unknown>;
type Scene = {
  database: TestDatabase;
  node: TestNode;
  receiver: Receiver;
  key: string;
  lines: Line[];
  logDestination: { write(line: string): void };
};

/** A node of this program, and a workspace with an endpoint. */
async function onScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  const database = await makeTestDatabase();
  const lines: Line[] = [];
  const logDestination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const node = await startNode(database, { logDestination });
  const receiver = await startReceiver();
  try {
    const { id, key } = await makeWorkspace(node.db);
    await makeEndpoint(node.db, id, receiver.url);
    await work({ database, node, receiver, key, lines, logDestination });
  } finally {
    await node.stop();
    await receiver.close();
    await database.drop();
  }
}

async function createOne({ node, key }: Scene): Promise<string> {
  const created = await node.call("POST", "/v1/requests", { key, body: minimalBody });
  assert.equal(created.status, 201, created.text);
  return created.json.id;
}

const kindsHeard = ({ receiver }: Scene, id: string) =>
  receiver.heard.filter(({ json }) => json.data?.id === id).map(({ json }) => json.event);

test("a program goes on, and stays ready, on a newer schema that works beside it", async () => {
  const header = `-- More is known of a request.\n-- works beside: ${await newestNumber()}\n`;
  const further = {
    "9001_column.sql": `${header}alter table approvals add column made_up integer default 7 not null;`,
    "9002_index.sql": `${header}-- without a transaction
create index concurrently if not exists made_up on approvals (made_up, id);`,
  };
  await withFurtherMigrations(further, (folder) =>
    onScene(async (scene) => {
      const { database, node, lines, logDestination } = scene;
      const worker = startWorker(database, { logDestination });
      try {
        const early = await createOne(scene);
        const applied = await migrate(database.connection, { folder });
        assert.deepEqual(applied, Object.keys(further));
        const ready = await node.call("GET", "/readyz");
        assert.equal(ready.status, 200, ready.text);
        assert.ok(
          lines.some(({ msg }) => /newer than this program by 9001_.*beside/.test(`${msg}`)),
        );
        for (const id of [early, await createOne(scene)]) {
          const { token } = await findReviewer(node.db, id);
          const decided = await decide(node.app, token, { verdict: "approve" });
          assert.equal(decided.status, 200, decided.text);
          await until(() => kindsHeard(scene, id).includes("request.approved"), "its outcome");
        }
        // It can be restarted, too.
        assert.deepEqual(await migrate(database.connection), []);
        const doctor = await runCommand(environmentOn(database.url), ["doctor"]);
        assert.match(textOf(doctor), /^warning +schema: newer .* works beside it/m);
      } finally {
        await worker.stop();
      }
    }),
  );
});

test("a program isn't ready on a newer schema unless each newer migration works beside it", async () => {
  const ours = await newestNumber();
  await onScene(async ({ node }) => {
    const statusOn = async (...worksBeside: (string | null)[]) => {
      await node.db.query("delete from migrations where name like '9%'");
      await node.db.query(
        `insert into migrations (name, checksum, works_beside)
         select '900' || n || '_later.sql', '', beside
         from unnest($1::text[]) with ordinality as each (beside, n)`,
        [worksBeside],
      );
      return (await node.call("GET", "/readyz")).status;
    };
    assert.equal(await statusOn(ours, "0001"), 200);
    assert.equal(await statusOn(null), 503);
    assert.equal(await statusOn("9000"), 503);
    assert.equal(await statusOn(ours, null), 503);
    assert.equal(await statusOn(null, ours), 503);
  });
});

test("on a newer schema that doesn't work beside it a worker stops, and a new one doesn't begin", async () => {
  const header = "-- More is known of a request.\n-- works beside: none\n";
  const further = {
    "9001_other.sql": `${header}alter table approvals add column made_up integer;`,
  };
  await withFurtherMigrations(further, (folder) =>
    onScene(async (scene) => {
      const { database, node, lines, logDestination } = scene;
      const stopsOf = () => lines.filter(({ msg }) => /the worker has stopped/.test(`${msg}`));
      const running = startWorker(database, { logDestination });
      try {
        const early = await createOne(scene);
        await until(() => kindsHeard(scene, early).includes("request.created"), "an event");
        await migrate(database.connection, { folder });
        const ready = await node.call("GET", "/readyz");
        assert.equal(ready.status, 503);
        assert.match(ready.json.error.message, /newer than this program by 1 migration/);
        await until(() => stopsOf().length === 1, "the worker's last word");
        assert.match(String(stopsOf()[0]?.msg), /9001_other\.sql.*start the new version/);
        await running.worker.stop();
        const late = await createOne(scene);
        running.worker.wake();
        const restarted = startWorker(database, { logDestination });
        await until(() => stopsOf().length === 2, "the restarted worker's only word");
        await restarted.stop();
        assert.deepEqual(await attemptsOf(scene, late), []);
      } finally {
        await running.stop();
      }
    }),
  );
});

test("an older program that starts again leaves the rights that a newer one has granted", async (t) => {
  const role = testServiceRole();
  if (role === null) return t.skip("the service has no role of its own here");
  await onScene(async ({ database, node }) => {
    await node.db.query(`grant delete on events to ${role.name}`);
    const mayDelete = async () => {
      const { rows } = await node.db.query<{ may: boolean }>(
        "select has_table_privilege($1, 'events', 'delete') as may",
        [role.name],
      );
      return rows[0]?.may;
    };
    await node.db.query("insert into migrations (name, checksum) values ('9001_later.sql', '')");
    await migrateAsOwner(database.connection, role.name);
    assert.equal(await mayDelete(), true);
    await node.db.query("delete from migrations where name = '9001_later.sql'");
    await migrateAsOwner(database.connection, role.name);
    assert.equal(
      await mayDelete(),
      false,
      "of one version it takes away what the service needs not",
    );
  });
});

async function attemptsOf({ node }: Scene, approvalId: string): Promise<unknown[]> {
  const { rows } = await node.db.query(
    `select a.number from attempts a
     join deliveries d on d.workspace_id = a.workspace_id and d.id = a.delivery_id
     join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     where e.approval_id = $1`,
    [approvalId],
  );
  return rows;
}
