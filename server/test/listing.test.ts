import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
after(() => service.stop());

async function filled(count: number, bodyOf: (n: number) => object = () => ({})) {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const body = { ...minimalBody, ...bodyOf(n) };
    ids.push((await service.call("POST", "/v1/requests", { key, body })).json.id);
  }
  return { workspaceId, key, newestFirst: ids.toSorted().reverse() };
}

const list = (key: string, query: Record<string, string> = {}) =>
  service.call("GET", `/v1/requests?${new URLSearchParams(query)}`, { key });

async function walk(
  key: string,
  query: Record<string, string>,
): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const { json, status } = await list(key, cursor === null ? query : { ...query, cursor });
    assert.equal(status, 200);
    ids.push(...json.data.map((each: { id: string }) => each.id));
    assert.equal(json.hasMore, json.nextCursor !== null);
    if (!json.hasMore) return { ids, pages };
    cursor = json.nextCursor;
  }
}

test("pages go through everything once, newest first", async () => {
  const { key, newestFirst } = await filled(25);
  assert.deepEqual(await walk(key, { limit: "10" }), { ids: newestFirst, pages: 3 });
  assert.deepEqual(await walk(key, { limit: "25" }), { ids: newestFirst, pages: 1 });
  assert.deepEqual(await walk(key, { limit: "1" }), { ids: newestFirst, pages: 25 });
  assert.deepEqual((await list(key)).json.data.length, 20);
});

test("pages stay stable while new requests arrive", async () => {
  const { key, newestFirst } = await filled(6);
  const first = await list(key, { limit: "3" });
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const second = await list(key, { limit: "3", cursor: first.json.nextCursor });
  const ids = [...first.json.data, ...second.json.data].map((each) => each.id);
  assert.deepEqual(ids, newestFirst);
});

test("an item of a list is the request as a read answers it", async () => {
  const { key, newestFirst } = await filled(1, () => ({ payload: { a: 1 }, agentState: [1] }));
  const read = await service.call("GET", `/v1/requests/${newestFirst[0]}`, { key });
  assert.equal((await list(key)).text, `{"data":[${read.text}],"hasMore":false,"nextCursor":null}`);
});

test("filters by status, agent and time narrow the list, also together", async () => {
  const { key, newestFirst } = await filled(6, (n) => ({
    agentName: n % 2 === 0 ? "even" : "odd",
  }));
  const ids = async (query: Record<string, string>) => (await walk(key, query)).ids;
  assert.equal((await ids({ agentName: "even" })).length, 3);
  assert.deepEqual(await ids({ agentName: "EVEN" }), []);
  await service.call("POST", `/v1/requests/${newestFirst[0]}/cancel`, { key });
  assert.deepEqual(await ids({ status: "CANCELLED" }), [newestFirst[0]]);
  assert.deepEqual(await ids({ status: "PENDING" }), newestFirst.slice(1));
  assert.deepEqual(await ids({ status: "APPROVED" }), []);
  const third = (await service.call("GET", `/v1/requests/${newestFirst[2]}`, { key })).json
    .createdAt;
  const after = await ids({ createdAfter: third });
  const before = await ids({ createdBefore: third });
  assert.ok(after.every((id) => newestFirst.slice(0, 2).includes(id)));
  assert.ok(before.every((id) => newestFirst.slice(3).includes(id)));
  assert.deepEqual(await ids({ createdAfter: "2999-01-01T00:00:00Z" }), []);
  assert.equal((await ids({ createdBefore: "2999-01-01" })).length, 6);
  assert.equal((await ids({ createdAfter: "0000-01-01T00:00:00+14:00" })).length, 6);
  assert.deepEqual(
    await ids({ status: "CANCELLED", agentName: "even", createdAfter: "2999-01-01" }),
    [],
  );
});

test("a wrong parameter is refused by name", async () => {
  const { key } = await makeWorkspace(service.db);
  for (const [query, name] of [
    ["status=pending", "status"],
    ["status=", "status"],
    ["status=PENDING&status=EXPIRED", "status"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=1.5", "limit"],
    ["limit=-1", "limit"],
    ["limit=", "limit"],
    ["cursor=xyz", "cursor"],
    ["cursor=", "cursor"],
    [`cursor=${Buffer.from("' or 1=1 --").toString("base64url")}`, "cursor"],
    ["createdAfter=yesterday", "createdAfter"],
    ["createdBefore=2026-13-01", "createdBefore"],
    ["createdBefore=2026-02-30", "createdBefore"],
    ["createdAfter=2026-01-01T00:00:00+02:00", "createdAfter"],
    ["agentName=%00", "agentName"],
  ]) {
    const reply = await service.call("GET", `/v1/requests?${query}`, { key });
    assert.equal(reply.status, 400, query);
    assert.ok(reply.json.error.message.startsWith(`${name}: `), reply.json.error.message);
  }
});

test("requests past their time are listed as EXPIRED and never as PENDING", async () => {
  const { workspaceId, key, newestFirst } = await filled(4);
  await service.db.query(
    "update approvals set expires_at = now() - interval '1 minute' where workspace_id = $1 and id = any($2)",
    [workspaceId, newestFirst.slice(0, 2)],
  );
  assert.deepEqual((await walk(key, { status: "PENDING" })).ids, newestFirst.slice(2));
  assert.deepEqual(
    (await walk(key, { status: "EXPIRED", limit: "1" })).ids,
    newestFirst.slice(0, 2),
  );
  const statuses = (await list(key)).json.data.map((each: { status: string }) => each.status);
  assert.deepEqual(statuses, ["EXPIRED", "EXPIRED", "PENDING", "PENDING"]);
  const { rows } = await service.db.query(
    "select count(*)::int as count from events where workspace_id = $1 and kind = 'request.expired'",
    [workspaceId],
  );
  assert.equal(rows[0].count, 2);
});

test("a page of very large requests ends early instead of answering hundreds of megabytes", async () => {
  const payload = "x".repeat(3_500_000);
  const { key, newestFirst } = await filled(5, () => ({ payload }));
  const page = await list(key, { limit: "100" });
  assert.equal(page.json.data.length, 3);
  assert.equal(page.json.hasMore, true);
  assert.deepEqual((await walk(key, { limit: "100" })).ids, newestFirst);
});
