import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import * as approvalResolution from "../src/storage/approval-resolution.ts";
import { inOneStatement } from "../src/storage/database.ts";
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

async function created() {
  const workspace = await makeWorkspace(service.db);
  const { json } = await service.call("POST", "/v1/requests", {
    key: workspace.key,
    body: minimalBody,
  });
  return { workspaceId: workspace.id, key: workspace.key, id: json.id as string };
}

async function timed<Result>(work: Promise<Result>): Promise<{ ms: number; result: Result }> {
  const started = performance.now();
  const result = await work;
  return { ms: performance.now() - started, result };
}

const cancel = (node: TestNode, id: string, key: string) =>
  node.call("POST", `/v1/requests/${id}/cancel`, { key });

test("a waiting caller is answered within a second of the decision, on this node and on another", async () => {
  for (const decider of [service, otherNode]) {
    const { key, id } = await created();
    const waiting = service.call("GET", `/v1/requests/${id}?wait=20`, { key });
    await pause(100);
    const decided = timed(cancel(decider, id, key));
    const { ms, result } = await timed(waiting);
    assert.equal(result.json.status, "CANCELLED");
    assert.ok(ms < 1_000 + (await decided).ms, `took ${ms} ms`);
  }
});

test("a decision by a person wakes the caller too", async () => {
  const { workspaceId, key, id } = await created();
  const waiting = service.call("GET", `/v1/requests/${id}?wait=20`, { key });
  await pause(50);
  await approvalResolution.resolve(
    inOneStatement(otherNode.db),
    { workspaceId, id },
    { status: "APPROVED", byEmail: "a@b.co", note: null, edit: null },
  );
  const { ms, result } = await timed(waiting);
  assert.equal(result.json.status, "APPROVED");
  assert.ok(ms < 1_000, `took ${ms} ms`);
});

test("without a decision the wait ends on time with PENDING, or 304 when nothing changed", async () => {
  const { key, id } = await created();
  const { ms, result } = await timed(service.call("GET", `/v1/requests/${id}?wait=1`, { key }));
  assert.equal(result.json.status, "PENDING");
  assert.ok(ms >= 950 && ms < 2_000, `took ${ms} ms`);
  const headers = { "if-none-match": result.headers.etag ?? "" };
  const unchanged = await service.call("GET", `/v1/requests/${id}?wait=1`, { key, headers });
  assert.equal(unchanged.status, 304);
});

test("a request that expires while its caller waits is answered EXPIRED at that moment", async () => {
  const { workspaceId, key, id } = await created();
  await service.db.query(
    "update approvals set expires_at = now() + interval '700 milliseconds' where workspace_id = $1 and id = $2",
    [workspaceId, id],
  );
  const { ms, result } = await timed(service.call("GET", `/v1/requests/${id}?wait=30`, { key }));
  assert.equal(result.json.status, "EXPIRED");
  assert.ok(ms > 300 && ms < 2_000, `took ${ms} ms`);
});

test("what is resolved, unknown or refused is answered at once", async () => {
  const { key, id } = await created();
  await cancel(service, id, key);
  for (const path of [
    `${id}?wait=30`,
    `req_${"0".repeat(32)}?wait=30`,
    `${id}?wait=61`,
    `${id}?wait=0`,
  ]) {
    const { ms } = await timed(service.call("GET", `/v1/requests/${path}`, { key }));
    assert.ok(ms < 1_000, path);
  }
});

test("wait takes whole seconds from 0 to 60 and refuses the rest by name", async () => {
  const { key, id } = await created();
  for (const wait of ["-1", "61", "1.5", "x", "", "1e1", "0x1", " 1", "999999999999"]) {
    const reply = await service.call("GET", `/v1/requests/${id}?wait=${encodeURIComponent(wait)}`, {
      key,
    });
    assert.equal(reply.status, 400, wait);
    assert.match(reply.json.error.message, /^wait: .*0 to 60/);
  }
  const twice = await service.call("GET", `/v1/requests/${id}?wait=1&wait=2`, { key });
  assert.match(twice.json.error.message, /^wait: must be given once/);
});

test("hundreds of waiting callers hold no connection, poll nothing, and are all woken", async () => {
  const { key } = await makeWorkspace(service.db);
  const ids = await Promise.all(
    Array.from({ length: 300 }, async () => {
      const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
      return json.id as string;
    }),
  );
  const waiting = ids.map((id) => service.call("GET", `/v1/requests/${id}?wait=30`, { key }));
  while (service.resolutions.waiting < 300) await pause(20);
  await pause(300);
  let queries = 0;
  const onAcquire = () => {
    queries += 1;
  };
  service.db.on("acquire", onAcquire);
  await pause(3_000);
  service.db.off("acquire", onAcquire);
  assert.ok(queries <= 1, `${queries} statements ran in three quiet seconds`);
  assert.equal(
    service.db.idleCount,
    service.db.totalCount,
    "no connection is taken by those who wait",
  );
  await Promise.all(ids.map((id) => cancel(otherNode, id, key)));
  const replies = await Promise.all(waiting);
  assert.deepEqual(new Set(replies.map(({ json }) => json.status)), new Set(["CANCELLED"]));
  assert.equal(service.resolutions.waiting, 0);
});

test("a caller is woken even when the listening connection was lost meanwhile", async () => {
  const { key, id } = await created();
  const waiting = service.call("GET", `/v1/requests/${id}?wait=20`, { key });
  await pause(100);
  await service.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'countersign listen'`,
  );
  await cancel(otherNode, id, key);
  const { ms, result } = await timed(waiting);
  assert.equal(result.json.status, "CANCELLED");
  assert.ok(ms < 2_500, `took ${ms} ms`);
});

/** The node on a real socket, for what only a real connection can show. */
async function listening(node: TestNode): Promise<string> {
  return node.app.listen({ port: 0, host: "127.0.0.1" });
}

test("a caller who goes away is forgotten", async () => {
  const node = await startNode(service.database);
  try {
    const address = await listening(node);
    const { key, id } = await created();
    const controller = new AbortController();
    const gone = fetch(`${address}/v1/requests/${id}?wait=30`, {
      headers: { authorization: `Bearer ${key}` },
      signal: controller.signal,
    });
    while (node.resolutions.waiting === 0) await pause(10);
    controller.abort();
    await assert.rejects(gone);
    const started = performance.now();
    while (node.resolutions.waiting > 0 && performance.now() - started < 2_000) await pause(10);
    assert.equal(node.resolutions.waiting, 0);
  } finally {
    await node.stop();
  }
});

test("a stopping node answers those who wait instead of cutting them off", async () => {
  const node = await startNode(service.database);
  const address = await listening(node);
  const { key, id } = await created();
  const headers = { authorization: `Bearer ${key}` };
  const waiting = fetch(`${address}/v1/requests/${id}?wait=30`, { headers });
  while (node.resolutions.waiting === 0) await pause(10);
  const started = performance.now();
  await node.stop();
  const answer = (await (await waiting).json()) as { status: string };
  assert.equal(answer.status, "PENDING");
  assert.ok(performance.now() - started < 2_000);
});
