// One workspace that keeps the database busy, and another that has a small thing to ask.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { DatabaseBusy, isOutOfReach } from "../src/database/faults.ts";
import { asHolder } from "../src/database/holder.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { issueKey } from "../src/operations/workspaces/issue-key.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService, type TestService } from "./test-service.ts";

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.stop());

const create = (key: string, body: object = minimalBody) =>
  service.call("POST", "/v1/requests", { key, body });

const largeBody = { ...minimalBody, payload: { text: "x".repeat(100_000) } };

/** Statements of the database that wait for a lock. */
async function countBlocked(): Promise<number> {
  const { rows } = await service.db.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

test("large creates that wait hold up nobody else, nor do small ones of the same workspace", async () => {
  const busy = await makeWorkspace(service.db);
  const other = await makeWorkspace(service.db);
  assert.equal((await create(busy.key)).status, 201);
  assert.equal((await create(other.key)).status, 201);
  const underWay = await inTransaction(service.db, async (tx) => {
    // The first of its large creates would keep this row locked until it is written.
    await tx.query("select from monthly_usage where workspace_id = $1 for update", [busy.id]);
    const large = Array.from({ length: 40 }, () => create(busy.key, largeBody));
    await until(async () => (await countBlocked()) >= 2, "large creates to wait");
    const small = Array.from({ length: 40 }, () => create(busy.key));
    for (let n = 0; n < 5; n += 1) {
      const [created] = await Promise.all([create(other.key), create(other.key, largeBody)]);
      assert.equal(created.status, 201, created.text);
      const read = await service.call("GET", `/v1/requests/${created.json.id}`, { key: other.key });
      assert.equal(read.status, 200);
      assert.equal((await service.call("GET", "/v1/requests", { key: other.key })).status, 200);
    }
    assert.ok((await countBlocked()) <= 2, "the busy workspace takes more than its lanes");
    return [...large, ...small];
  });
  // On a slow machine some have waited too long.
  for (const { status } of await Promise.all(underWay)) assert.ok([201, 503].includes(status));
});

test("one holder never takes all connections, and one that waits in vain is told to come again", async () => {
  const { db } = service;
  const client = await db.connect();
  await client.query("select pg_advisory_lock(16)");
  const blocked = Array.from({ length: 40 }, () =>
    asHolder("busy", () => db.query("select pg_advisory_xact_lock(16)")),
  );
  const outcomes = Promise.allSettled(blocked);
  await until(async () => (await countBlocked()) === 5, "half of the connections to be taken");
  const others = Array.from({ length: 100 }, (_, n) =>
    asHolder(`other ${n}`, () => inTransaction(db, (tx) => tx.query("select 1"))),
  );
  await Promise.all(others);
  // Those without a connection are turned away in the end, as busy. The database is not gone.
  const refused: unknown[] = [];
  for (const each of blocked) each.catch((error: unknown) => refused.push(error));
  await until(() => refused.length === 35, "all without a connection to be turned away");
  assert.ok(refused.every((error) => error instanceof DatabaseBusy && isOutOfReach(error)));
  await client.query("select pg_advisory_unlock(16)");
  client.release();
  const fulfilled = (await outcomes).filter(({ status }) => status === "fulfilled");
  assert.equal(fulfilled.length, 5);
});

test("keys of one workspace share its turn", async () => {
  // A second key is a stranger until its first answer, and the workspace's afterwards.
  const { key, id } = await makeWorkspace(service.db);
  const second = await issueKey(service.db, { workspaceId: id, name: "Second" });
  if (isRefusal(second)) throw new Error(second.message);
  const ids = await Promise.all(
    [key, second.key].map(async (each) => {
      const { json, status } = await create(each);
      assert.equal(status, 201);
      return { each, path: `/v1/requests/${json.id}/cancel` };
    }),
  );
  const underWay = await inTransaction(service.db, async (tx) => {
    await tx.query("lock table approvals in access exclusive mode");
    const cancels = ids.flatMap(({ each, path }) =>
      Array.from({ length: 10 }, () => service.call("POST", path, { key: each })),
    );
    await until(async () => (await countBlocked()) >= 5, "cancels to wait");
    // A few more moments for any that would come beyond the share.
    for (let n = 0; n < 50; n += 1) assert.equal(await countBlocked(), 5);
    return cancels;
  });
  await Promise.all(underWay);
});
