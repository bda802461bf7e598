import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Database } from "../src/database/database.ts";
import { expiryBatch } from "../src/domain/limits.ts";
import { Sweeper } from "../src/worker/sweeper.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint, startReceiver, startWorker, type TestWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
const workers: TestWorker[] = [];
after(async () => {
  for (const { stop } of workers) await stop();
  await service.stop();
});

/** Requests whose time has passed, as a service that stood still for long finds them. */
async function makeOverdue(on: Database, workspaceId: string, count: number): Promise<void> {
  await on.query(
    `insert into approvals (workspace_id, id, summary, approver_email, created_at, expires_at)
     select $1, new_id('req_'), 'overdue', 'ann@example.com', now_ms() - interval '2 days',
       now_ms() - n * interval '1 second'
     from generate_series(1, $2::integer) n`,
    [workspaceId, count],
  );
}

async function countOf(workspaceId: string) {
  const { rows } = await db.query(
    `select count(*) filter (where a.status = 'PENDING')::int as pending,
       count(*) filter (where a.status = 'EXPIRED' and a.resolved_at = a.expires_at)::int as expired,
       (select count(*)::int from events ev where ev.workspace_id = $1 and ev.kind = 'request.expired') as events,
       (select count(*)::int from deliveries d where d.workspace_id = $1 and d.endpoint_id is not null) as deliveries
     from approvals a where a.workspace_id = $1`,
    [workspaceId],
  );
  return rows[0];
}

test("requests that ran out while nobody worked are expired by several workers, each once", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const count = 5 * expiryBatch + 7;
  await makeOverdue(db, workspaceId, count);
  // Disabled, so that its events are kept and nothing is sent.
  const endpoint = await makeEndpoint(db, workspaceId, "http://127.0.0.1:9/");
  await db.query(
    "update endpoints set disabled_at = now_ms(), disabled_reason = 'test' where id = $1",
    [endpoint.id],
  );
  workers.push(...[1, 2, 3].map(() => startWorker(service.database)));
  await until(async () => (await countOf(workspaceId)).pending === 0, "all to be expired");
  assert.deepEqual(await countOf(workspaceId), {
    pending: 0,
    expired: count,
    events: count,
    deliveries: count,
  });
});

test("a batch that would take too long is taken in smaller ones, so that nobody's expiry is held up", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  // Stands in for a statement that PostgreSQL cut short: a worker that expires more than seven of them at once fails.
  await db.query(`
    create function refuse_many() returns trigger language plpgsql as $$
    begin
      if (select count(*) from added where workspace_id = '${workspaceId}') > 7 then
        raise exception 'too much at once' using errcode = '57014';
      end if;
      return null;
    end $$;
    create trigger refuse_many after insert on events
      referencing new table as added for each statement execute function refuse_many()`);
  const other = await makeWorkspace(db);
  await makeOverdue(db, workspaceId, 300);
  await makeOverdue(db, other.id, 10);
  await until(async () => (await countOf(other.id)).pending === 0, "the other's requests");
  await until(async () => (await countOf(workspaceId)).pending === 0, "its own");
  assert.equal((await countOf(workspaceId)).events, 300);
  await db.query("drop trigger refuse_many on events");
});

test("reminders that are due in great number do not hold up what expires meanwhile", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await db.query(
    `insert into approvals (workspace_id, id, summary, approver_email, created_at, expires_at, remind_at)
     select $1, new_id('req_'), 'remind', 'ann@example.com', now_ms() - interval '9 hours',
       now_ms() + interval '1 hour', now_ms() - interval '1 minute'
     from generate_series(1, 3000)`,
    [workspaceId],
  );
  const other = await makeWorkspace(db);
  await makeOverdue(db, other.id, 1);
  await until(async () => {
    const left = await db.query(
      "select 1 from approvals where workspace_id = $1 and remind_at is not null limit 1",
      [workspaceId],
    );
    return left.rows.length === 0;
  }, "all reminders");
  await until(async () => (await countOf(other.id)).pending === 0, "the other to expire");
  const { rows } = await db.query(
    `select (select created_at from events where workspace_id = $2 and kind = 'request.expired')
         < (select max(created_at) from events where workspace_id = $1 and kind = 'request.expiring')
       as is_before_last`,
    [workspaceId, other.id],
  );
  assert.deepEqual(rows, [{ is_before_last: true }]);
});

test("a request expires by itself when its time is over, not before, and the webhook tells", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await startReceiver();
  await makeEndpoint(db, workspaceId, receiver.url, ["request.expired"]);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const { rows } = await db.query(
    "update approvals set expires_at = now_ms() + interval '1 second' where id = $1 returning expires_at",
    [json.id],
  );
  const expiresAt = rows[0].expires_at as Date;
  await until(() => receiver.heard.length === 1, "the webhook");
  assert.ok(Date.now() >= expiresAt.getTime());
  const data = receiver.heard[0]?.json.data;
  assert.equal(data.status, "EXPIRED");
  assert.equal(data.resolvedAt, expiresAt.toISOString());
  assert.equal(data.resolvedByEmail, null);
  const { json: read } = await service.call("GET", `/v1/requests/${json.id}`, { key });
  assert.equal(read.status, "EXPIRED");
  assert.deepEqual((await countOf(workspaceId)).events, 1);
  await receiver.close();
});

test("a sweep that finds the next end ahead comes back by itself when it is there", async () => {
  // No worker polls here: only the first sweep is asked for.
  const own = await startService();
  const { id: workspaceId, key } = await makeWorkspace(own.db);
  const { json } = await own.call("POST", "/v1/requests", { key, body: minimalBody });
  await own.db.query("update approvals set expires_at = now_ms() + interval '2 seconds'");
  const faults: unknown[] = [];
  const sweeper = new Sweeper({
    db: own.db,
    keyring: own.keyring,
    onDue: () => {},
    onFault: (each) => faults.push(each),
  });
  sweeper.sweep();
  await until(async () => {
    const { rows } = await own.db.query(
      "select status from approvals where workspace_id = $1 and id = $2",
      [workspaceId, json.id],
    );
    return rows[0].status === "EXPIRED";
  }, "it to expire");
  assert.deepEqual(faults, []);
  await sweeper.stop();
  await own.stop();
});

test("one whose row is held by somebody else is left to them and expired afterwards", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const holder = await db.connect();
  await holder.query("begin");
  await holder.query("update approvals set expires_at = now_ms() where id = $1", [json.id]);
  await makeOverdue(db, workspaceId, 3);
  await until(async () => (await countOf(workspaceId)).expired === 3, "the others");
  await holder.query("commit");
  holder.release();
  await until(async () => (await countOf(workspaceId)).expired === 4, "the one that was held");
  assert.equal((await countOf(workspaceId)).events, 4);
});
