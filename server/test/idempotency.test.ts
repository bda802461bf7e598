import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createGroup } from "../src/operations/people/manage-group.ts";
import {
  makeWorkspace,
  minimalBody,
  startNode,
  startService,
  type TestNode,
} from "./test-service.ts";

const service = await startService();
const otherNode = await startNode(service.database);
after(async () => {
  await otherNode.stop();
  await service.stop();
});

const create = (
  key: string,
  idempotencyKey: string,
  body: object | string = minimalBody,
  node: TestNode = service,
) =>
  node.call("POST", "/v1/requests", { key, body, headers: { "idempotency-key": idempotencyKey } });

async function countApprovals(workspaceId: string): Promise<number> {
  const { rows } = await service.db.query(
    "select count(*)::int as count from approvals where workspace_id = $1",
    [workspaceId],
  );
  return rows[0].count;
}

async function usedThisMonth(workspaceId: string): Promise<number> {
  const { rows } = await service.db.query(
    "select requests from monthly_usage where workspace_id = $1",
    [workspaceId],
  );
  return rows[0]?.requests ?? 0;
}

test("the same key with the same body answers the original request, 201, marked as replayed", async () => {
  const { id, key } = await makeWorkspace(service.db);
  const first = await create(key, "order-1042");
  const again = await create(key, "order-1042");
  assert.equal(again.status, 201);
  assert.equal(again.headers["idempotent-replayed"], "true");
  assert.equal(again.headers.location, first.headers.location);
  assert.equal(again.text, first.text);
  assert.equal(await countApprovals(id), 1);
  assert.equal(await usedThisMonth(id), 1);
});

test("a replay answers the request in its current state", async () => {
  const { key } = await makeWorkspace(service.db);
  const first = await create(key, "k");
  await service.call("POST", `/v1/requests/${first.json.id}/cancel`, { key });
  assert.equal((await create(key, "k")).json.status, "CANCELLED");
});

test("the same key with another body is 422 and creates nothing", async () => {
  const { id, key } = await makeWorkspace(service.db);
  await create(key, "k");
  const other = await create(key, "k", { ...minimalBody, summary: "Something else" });
  assert.equal(other.status, 422);
  assert.equal(other.json.error.code, "idempotency_key_reused");
  assert.equal(await countApprovals(id), 1);
});

test("20 concurrent creates with one key make one request, on one node and on two", async () => {
  for (const nodes of [[service], [service, otherNode]]) {
    const { id, key } = await makeWorkspace(service.db);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        create(key, "same", minimalBody, nodes[n % nodes.length]),
      ),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
    assert.equal(new Set(replies.map(({ json }) => json.id)).size, 1);
    assert.equal(
      replies.filter(({ headers }) => headers["idempotent-replayed"] === undefined).length,
      1,
    );
    assert.equal(await countApprovals(id), 1);
    assert.equal(await usedThisMonth(id), 1);
    const { rows } = await service.db.query(
      "select count(*)::int as count from events where workspace_id = $1",
      [id],
    );
    assert.equal(rows[0].count, 1);
  }
});

test("repeats of the request that took the last of the quota are answered with it, never 402", async () => {
  for (const padding of ["", "x".repeat(40_000)]) {
    const { key } = await makeWorkspace(service.db, { plan: "hobby", included: 1 });
    const body = { ...minimalBody, payload: padding };
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        create(key, "same", body, n % 2 === 0 ? service : otherNode),
      ),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
    assert.equal(new Set(replies.map(({ json }) => json.id)).size, 1);
  }
});

test("of one key with two bodies in the same moment one is created and the other refused", async () => {
  const { id, key } = await makeWorkspace(service.db);
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      create(key, "same", { ...minimalBody, summary: n % 2 === 0 ? "even" : "odd" }),
    ),
  );
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(20).fill(201), ...Array(20).fill(422)]);
  assert.equal(await countApprovals(id), 1);
});

test("racing batches on two nodes with overlapping keys create each key once, and harm nobody else", async () => {
  const { id, key } = await makeWorkspace(service.db);
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, n) => {
      const node = n % 2 === 0 ? service : otherNode;
      return n % 4 < 2
        ? create(key, `key-${Math.floor(n / 4) % 10}`, minimalBody, node)
        : node.call("POST", "/v1/requests", { key, body: minimalBody });
    }),
  );
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
  assert.equal(await countApprovals(id), 10 + 100);
  assert.equal(await usedThisMonth(id), 110);
});

test("a key belongs to its workspace", async () => {
  const [one, two] = [await makeWorkspace(service.db), await makeWorkspace(service.db)];
  const first = await create(one.key, "k");
  const second = await create(two.key, "k", { ...minimalBody, summary: "Another" });
  assert.equal(second.status, 201);
  assert.notEqual(first.json.id, second.json.id);
});

test("a refused call is not remembered as an answer", async () => {
  const { key } = await makeWorkspace(service.db, { plan: "hobby", included: 1 });
  await create(key, "first");
  assert.equal((await create(key, "second")).status, 402);
  await service.db.query("update workspaces set included = 2 where included = 1");
  assert.equal((await create(key, "second")).status, 201);
  assert.equal((await create(key, "third")).status, 402);
});

test("a replay is answered even when quota and group are gone since", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "pro", cap: 1 });
  await createGroup(service.db, {
    workspaceId: id,
    key: "fin",
    name: "Finance",
    members: ["a@b.co"],
  });
  const body = { ...minimalBody, notify: "group:fin" };
  const first = await create(key, "k", body);
  assert.equal(first.status, 201);
  await service.db.query("delete from group_members where workspace_id = $1", [id]);
  assert.equal((await create(key, "k", body)).json.id, first.json.id);
  assert.equal((await create(key, "new", body)).json.error.code, "empty_group");
});

test("a key that is empty, too long, not printable or sent twice is refused by name", async () => {
  const { key } = await makeWorkspace(service.db);
  assert.equal((await create(key, "x".repeat(255))).status, 201);
  for (const flawed of ["", "x".repeat(256), "tab\there", "\u00fc"]) {
    const reply = await create(key, flawed);
    assert.equal(reply.status, 400, JSON.stringify(flawed));
    assert.match(reply.json.error.message, /^Idempotency-Key: /);
  }
});
