import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Queryable } from "../src/database/database.ts";
import { readBacklog } from "../src/storage/deliveries/backlog.ts";
import { rowsLookedAt } from "./rows-looked-at.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint } from "./test-worker.ts";

// No worker runs here, so what is due stays due.

const service = await startService();
const { db, call } = service;
after(() => service.stop());

test("an empty database has no backlog", async () => {
  assert.deepEqual(await readBacklog(service.servicePool), {
    pending: 0,
    overdueSeconds: 0,
    dueSeconds: { webhook: 0, mail: 0, callback: 0, message: 0 },
    logLagSeconds: 0,
    clockAheadSeconds: 0,
  });
});

test("a database's clock that is off is told, and what the question takes is no difference", async () => {
  for (const off of [90, -3_600]) {
    const query = async (asked: { name: string; text: string }) => {
      const answer = await service.servicePool.query(asked);
      const [row] = answer.rows;
      return { ...answer, rows: [{ ...row, clock: row.clock + off }] };
    };
    const { clockAheadSeconds } = await readBacklog({ query } as unknown as Queryable);
    assert.ok(off > 0 ? clockAheadSeconds > 0 : clockAheadSeconds < 0, `${clockAheadSeconds}`);
    assert.ok(Math.abs(clockAheadSeconds) <= Math.abs(off), `${clockAheadSeconds}`);
  }
});

test("what waits longest is told by channel, and nothing that waits for a disabled endpoint", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const enabled = await makeEndpoint(db, workspaceId, "https://one.example/hook");
  const disabled = await makeEndpoint(db, workspaceId, "https://two.example/hook");
  for (let nth = 0; nth < 3; nth += 1) {
    const reply = await call("POST", "/v1/requests", { key, body: minimalBody });
    assert.equal(reply.status, 201, reply.text);
  }
  const wait = (endpointId: string, seconds: number) =>
    db.query(
      `update deliveries set due_at = now() - $2 * interval '1 second' where endpoint_id = $1`,
      [endpointId, seconds],
    );
  await wait(enabled.id, 100);
  await wait(disabled.id, 9_000);
  await db.query(
    "update endpoints set disabled_at = now(), disabled_reason = 'person' where id = $1",
    [disabled.id],
  );
  await db.query(
    "update deliveries set due_at = now() - interval '200 seconds' where channel = 'mail'",
  );
  await db.query(
    `update approvals set expires_at = now() - interval '30 seconds'
     where id = (select id from approvals order by id limit 1)`,
  );
  const backlog = await readBacklog(service.servicePool);
  assert.equal(backlog.pending, 3);
  const { webhook, mail, callback, message } = backlog.dueSeconds;
  const isAbout = (seconds: number, wanted: number) =>
    seconds >= wanted && seconds < wanted + 3_600;
  assert.ok(isAbout(webhook, 100), `webhook ${webhook}`);
  assert.ok(isAbout(mail, 200), `mail ${mail}`);
  assert.deepEqual([callback, message], [0, 0]);
  assert.ok(isAbout(backlog.overdueSeconds, 30), `overdue ${backlog.overdueSeconds}`);
  assert.ok(backlog.logLagSeconds > 0 && backlog.logLagSeconds < 3_600, "facts wait for the log");
});

test("a log that stands still is told behind many facts without a time, and so is the installation's", async () => {
  await db.query("delete from log_pending");
  const lag = async () => (await readBacklog(service.servicePool)).logLagSeconds;
  const { id: workspaceId } = await makeWorkspace(db);
  await db.query("delete from log_pending");
  // As many as a turn of retention leaves, and more.
  await db.query(
    `insert into log_pending (workspace_id, source, subject, detail)
     select $1, 'd', 'req_' || n, '{"kind":"signing_key.made"}' from generate_series(1, 150) as n`,
    [workspaceId],
  );
  assert.equal(await lag(), 0);
  await db.query(
    `insert into log_pending (workspace_id, source, subject)
     select $1, 'e', 'evt_' || lpad(to_hex((extract(epoch from now() - interval '500 seconds') * 1000)::bigint), 12, '0')`,
    [workspaceId],
  );
  assert.ok((await lag()) >= 499, `${await lag()} s`);
  await db.query("delete from log_pending");
  await db.query(
    `with key as (
       insert into signing_keys (id, public_key, secret_key_id, sealed)
       values ('key', decode(repeat('00', 32), 'hex'), 'key', '')
       returning id
     ), tree as (
       insert into log_trees (workspace_id, origin, home, root)
       values ($1, 'here', 'home', decode(repeat('00', 32), 'hex'))
       returning id
     )
     insert into log_checkpoints (tree_id, size, note, signing_key_id, signed_at)
     select tree.id, 5, '', key.id, now() - interval '700 seconds' from key, tree`,
    [workspaceId],
  );
  await db.query("delete from log_pending");
  await db.query(
    `insert into log_pending (workspace_id, source, subject)
     select '', 'k', subject from (
       select 'not a checkpoint' as subject
       union all select tree_id || ':' || size from log_checkpoints
     ) as told`,
  );
  assert.ok((await lag()) >= 699, `${await lag()} s`);
  await db.query("delete from log_pending");
});

test("however much is due, few rows are looked at", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const endpoint = await makeEndpoint(db, workspaceId, "https://three.example/hook");
  await db.query(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind)
       select $1, $2, 'webhook.test' from generate_series(1, 2000)
       returning id
     )
     insert into deliveries (workspace_id, event_id, channel, endpoint_id)
     select $1, id, 'webhook', $2 from event`,
    [workspaceId, endpoint.id],
  );
  await db.query("vacuum analyze deliveries");
  const client = await service.servicePool.connect();
  try {
    const { counts } = await rowsLookedAt(client, () => readBacklog(client));
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
    assert.ok(rows < 200, JSON.stringify(counts));
  } finally {
    client.release();
  }
});
