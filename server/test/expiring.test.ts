import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { until } from "./patience.ts";
import { resolveNow } from "./test-evidence.ts";
import { insist, makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";

const service = await startService();
const otherNode = await startNode(service.database);
after(async () => {
  await otherNode.stop();
  await service.stop();
});

async function overdue() {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  await service.db.query(
    "insert into endpoints (workspace_id, url) values ($1, 'https://hook.example')",
    [workspaceId],
  );
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const { rows } = await service.db.query(
    `update approvals set expires_at = now_ms() - interval '1 hour', created_at = now_ms() - interval '2 hours'
     where workspace_id = $1 and id = $2 returning expires_at`,
    [workspaceId, json.id],
  );
  return { workspaceId, key, id: json.id as string, expiresAt: rows[0].expires_at as Date };
}

async function eventsOf(workspaceId: string) {
  const { rows } = await service.db.query(
    `select e.kind, e.created_at, count(d.id)::int as deliveries
     from events e left join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id
     where e.workspace_id = $1 and e.kind <> 'request.created' group by 1, 2`,
    [workspaceId],
  );
  return rows;
}

test("a read past the end answers EXPIRED, resolved at its end by nobody, with its event and deliveries", async () => {
  const { workspaceId, key, id, expiresAt } = await overdue();
  const { json } = await service.call("GET", `/v1/requests/${id}`, { key });
  assert.equal(json.status, "EXPIRED");
  assert.equal(json.resolvedAt, expiresAt.toISOString());
  assert.equal(json.resolvedAt, json.expiresAt);
  assert.equal(json.resolvedByEmail, null);
  assert.deepEqual(await eventsOf(workspaceId), [
    { kind: "request.expired", created_at: expiresAt, deliveries: 1 },
  ]);
});

test("however many readers race on two nodes, the event is emitted once", async () => {
  const { workspaceId, key, id } = await overdue();
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, n) => {
      const node = n % 2 === 0 ? service : otherNode;
      if (n % 10 === 9) return insist(node, "GET", "/v1/requests", { key });
      return insist(node, "GET", `/v1/requests/${id}`, { key });
    }),
  );
  for (const { json } of replies) assert.equal((json.data?.[0] ?? json).status, "EXPIRED");
  assert.equal((await eventsOf(workspaceId)).length, 1);
});

test("200 racing cancels, decisions and reads around the end leave one final state and one event", async () => {
  for (const endsInMs of [-1, 5, 30, 60_000]) {
    const { workspaceId, key, id } = await overdue();
    await service.db.query(
      "update approvals set expires_at = now_ms() + $3 * interval '1 millisecond' where workspace_id = $1 and id = $2",
      [workspaceId, id, endsInMs],
    );
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const node = n % 2 === 0 ? service : otherNode;
        if (n % 4 < 2)
          return (await node.call("POST", `/v1/requests/${id}/cancel`, { key })).status === 200;
        if (n % 8 === 7) {
          await node.call("GET", `/v1/requests/${id}`, { key });
          return false;
        }
        const verdict = n % 8 === 3 ? ("APPROVED" as const) : ("REJECTED" as const);
        const tx = inOneStatement(node.db);
        return resolveNow(
          tx,
          { workspaceId, id },
          { status: verdict, byEmail: "a@b.co", note: null, edit: null },
        );
      }),
    );
    const { json } = await service.call("GET", `/v1/requests/${id}`, { key });
    assert.notEqual(json.status, "PENDING");
    assert.equal(results.filter(Boolean).length, json.status === "EXPIRED" ? 0 : 1);
    const events = await eventsOf(workspaceId);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      [`request.${json.status.toLowerCase()}`],
    );
  }
});

test("a list looks again at what ran out while it expired something else", async () => {
  const { workspaceId, key, id } = await overdue();
  const other = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  await service.db.query(
    "update approvals set expires_at = now_ms() + interval '300 milliseconds' where workspace_id = $1 and id = $2",
    [workspaceId, other.json.id],
  );
  const blocker = await service.db.connect();
  try {
    await blocker.query("begin");
    await blocker.query("select from approvals where workspace_id = $1 and id = $2 for update", [
      workspaceId,
      id,
    ]);
    const listing = service.call("GET", "/v1/requests", { key });
    await until(async () => {
      const { rows } = await service.db.query(
        `select expires_at < now() and exists (
           select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         ) as is_over from approvals where workspace_id = $1 and id = $2`,
        [workspaceId, other.json.id],
      );
      return rows[0].is_over;
    }, "the list to wait, and the other's time to be over");
    await blocker.query("rollback");
    const statuses = (await listing).json.data.map((each: { status: string }) => each.status);
    assert.deepEqual(statuses, ["EXPIRED", "EXPIRED"]);
  } finally {
    blocker.release();
  }
});

test("nothing is approved, rejected or cancelled after its end, even before anybody noticed the end", async () => {
  const { workspaceId, key, id } = await overdue();
  const tx = inOneStatement(service.db);
  assert.equal(
    await resolveNow(
      tx,
      { workspaceId, id },
      { status: "APPROVED", byEmail: "a@b.co", note: null, edit: null },
    ),
    null,
  );
  const cancel = await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  assert.equal(cancel.status, 409);
  assert.match(cancel.json.error.message, /expired at/);
});

test("a replayed create past the end answers EXPIRED", async () => {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const headers = { "idempotency-key": "k" };
  await service.call("POST", "/v1/requests", { key, body: minimalBody, headers });
  await service.db.query("update approvals set expires_at = now_ms() where workspace_id = $1", [
    workspaceId,
  ]);
  const replay = await service.call("POST", "/v1/requests", { key, body: minimalBody, headers });
  assert.deepEqual([replay.status, replay.json.status], [201, "EXPIRED"]);
});
