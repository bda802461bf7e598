import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";

const service = await startService();
const otherNode = await startNode(service.database);
after(async () => {
  await otherNode.stop();
  await service.stop();
});

async function race(key: string, calls: number): Promise<Record<number, number>> {
  const replies = await Promise.all(
    Array.from({ length: calls }, (_, n) =>
      (n % 2 === 0 ? service : otherNode).call("POST", "/v1/requests", { key, body: minimalBody }),
    ),
  );
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function rowsOf(workspaceId: string) {
  const { rows } = await service.db.query(
    `select (select count(*)::int from approvals where workspace_id = $1) as approvals,
       (select count(*)::int from events where workspace_id = $1) as events,
       (select count(*)::int from deliveries where workspace_id = $1) as deliveries,
       (select count(*)::int from reviewers where workspace_id = $1) as reviewers,
       (select requests from monthly_usage where workspace_id = $1) as used`,
    [workspaceId],
  );
  return rows[0];
}

test("of 500 concurrent creates on the Hobby plan exactly the 100 included succeed", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "hobby" });
  assert.deepEqual(await race(key, 500), { 201: 100, 402: 400 });
  assert.deepEqual(await rowsOf(id), {
    approvals: 100,
    events: 100,
    deliveries: 100,
    reviewers: 100,
    used: 100,
  });
  const refused = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  assert.equal(refused.json.error.code, "quota_exceeded");
  assert.match(refused.json.error.message, /100.*hobby/);
});

test("an overage plan goes on beyond what is included, exactly up to its cap", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "pro", included: 10, cap: 30 });
  assert.deepEqual(await race(key, 100), { 201: 30, 402: 70 });
  assert.equal((await rowsOf(id)).used, 30);
});

test("the plans carry the published numbers", async () => {
  const { rows } = await service.db.query(
    "select name, included, has_overage, cap, has_groups from plans order by included nulls last",
  );
  assert.deepEqual(rows, [
    { name: "hobby", included: 100, has_overage: false, cap: null, has_groups: false },
    { name: "pro", included: 2000, has_overage: true, cap: 20_000, has_groups: true },
    { name: "scale", included: 20_000, has_overage: true, cap: 200_000, has_groups: true },
    { name: "unlimited", included: null, has_overage: false, cap: null, has_groups: true },
  ]);
});

test("the unlimited plan has no limit, but counts", async () => {
  const { id, key } = await makeWorkspace(service.db);
  assert.deepEqual(await race(key, 250), { 201: 250 });
  assert.equal((await rowsOf(id)).used, 250);
});

test("a workspace's own numbers limit it on any plan", async () => {
  for (const settings of [
    { plan: "unlimited", included: 3 },
    { plan: "unlimited", cap: 3 },
    { plan: "hobby", cap: 3 },
    { plan: "scale", included: 1, cap: 3 },
  ]) {
    const { key } = await makeWorkspace(service.db, settings);
    assert.deepEqual(await race(key, 6), { 201: 3, 402: 3 }, JSON.stringify(settings));
  }
});

test("a limit of 0 lets nothing through", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "hobby", included: 0 });
  assert.deepEqual(await race(key, 10), { 402: 10 });
  assert.equal((await rowsOf(id)).used, 0);
});

test("lowering a limit below what is used refuses without counting down, raising it lets calls through", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "hobby", included: 5 });
  await race(key, 5);
  await service.db.query("update workspaces set included = 2 where id = $1", [id]);
  assert.deepEqual(await race(key, 3), { 402: 3 });
  assert.equal((await rowsOf(id)).used, 5);
  await service.db.query("update workspaces set included = 7 where id = $1", [id]);
  assert.deepEqual(await race(key, 10), { 201: 2, 402: 8 });
});

test("a new month begins with a new count", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "hobby", included: 1 });
  await race(key, 1);
  await service.db.query(
    "update monthly_usage set month = (month - interval '1 month')::date where workspace_id = $1",
    [id],
  );
  assert.deepEqual(await race(key, 3), { 201: 1, 402: 2 });
});

test("no other refusal uses quota", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "hobby", included: 1 });
  for (const body of [
    "{",
    { summary: "s" },
    { ...minimalBody, notify: "group:x" },
    { ...minimalBody, agentState: "x".repeat(262_144) },
  ]) {
    const { status } = await service.call("POST", "/v1/requests", { key, body });
    assert.ok(status >= 400 && status < 404, String(status));
  }
  assert.deepEqual(await rowsOf(id), {
    approvals: 0,
    events: 0,
    deliveries: 0,
    reviewers: 0,
    used: null,
  });
  assert.deepEqual(await race(key, 1), { 201: 1 });
});
