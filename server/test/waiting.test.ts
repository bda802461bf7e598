import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { until } from "./patience.ts";
import { resolveNow } from "./test-evidence.ts";
import {
  insist,
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

const cancel = (node: TestNode, id: string, key: string) =>
  node.call("POST", `/v1/requests/${id}/cancel`, { key });

/** The longest wait there is, for a request that nobody decides. It is on its way when this returns. */
async function startLongestWait() {
  const { key, id } = await created();
  let isOver = false;
  const waitingBefore = service.resolutions.waiting;
  const answer = service.call("GET", `/v1/requests/${id}?wait=60`, { key }).finally(() => {
    isOver = true;
  });
  await until(() => service.resolutions.waiting > waitingBefore);
  return {
    isOver: () => isOver,
    end: async () => {
      await cancel(service, id, key);
      await answer;
    },
  };
}

/** Takes what was asked for after the longest wait began, and is answered before that ends: not by its own time-out. */
async function early<Result>(begin: () => Promise<Result>): Promise<Result> {
  const longest = await startLongestWait();
  const result = await begin();
  assert.ok(!longest.isOver(), "it came no sooner than by its time-out");
  await longest.end();
  return result;
}

async function untilWaiting(node: TestNode, count = 1): Promise<void> {
  await until(() => node.resolutions.waiting >= count);
}

for (const where of ["this node", "another"]) {
  test(`a waiting caller is woken by a decision on ${where}, not by its time-out`, async () => {
    const decider = where === "another" ? otherNode : service;
    const { key, id } = await created();
    const { json } = await early(async () => {
      const waiting = service.call("GET", `/v1/requests/${id}?wait=60`, { key });
      await untilWaiting(service, 2);
      await cancel(decider, id, key);
      return waiting;
    });
    assert.equal(json.status, "CANCELLED");
  });
}

test("a decision by a person wakes the caller too", async () => {
  const { workspaceId, key, id } = await created();
  const { json } = await early(async () => {
    const waiting = service.call("GET", `/v1/requests/${id}?wait=60`, { key });
    await untilWaiting(service, 2);
    await resolveNow(
      inOneStatement(otherNode.db),
      { workspaceId, id },
      { status: "APPROVED", byEmail: "a@b.co", note: null, edit: null },
    );
    return waiting;
  });
  assert.equal(json.status, "APPROVED");
});

test("without a decision the wait ends by itself with PENDING, or 304 when nothing changed", async () => {
  const { key, id } = await created();
  const started = performance.now();
  const reply = await early(() => service.call("GET", `/v1/requests/${id}?wait=1`, { key }));
  assert.equal(reply.json.status, "PENDING");
  const ms = performance.now() - started;
  assert.ok(ms >= 950, `waited ${ms} ms of the second that was asked for`);
  const headers = { "if-none-match": reply.headers.etag ?? "" };
  const unchanged = await service.call("GET", `/v1/requests/${id}?wait=1`, { key, headers });
  assert.equal(unchanged.status, 304);
});

test("a request that expires while its caller waits is answered EXPIRED at that moment", async () => {
  const { workspaceId, key, id } = await created();
  const { json } = await early(async () => {
    await service.db.query(
      "update approvals set expires_at = now() + interval '700 milliseconds' where workspace_id = $1 and id = $2",
      [workspaceId, id],
    );
    return service.call("GET", `/v1/requests/${id}?wait=60`, { key });
  });
  assert.equal(json.status, "EXPIRED");
});

test("a refused call, and one for a resolved or unknown request, is answered without a wait", async () => {
  const { key, id } = await created();
  await cancel(service, id, key);
  await early(async () => {
    for (const path of [
      `${id}?wait=60`,
      `req_${"0".repeat(32)}?wait=60`,
      `${id}?wait=61`,
      `${id}?wait=0`,
    ]) {
      await service.call("GET", `/v1/requests/${path}`, { key });
    }
  });
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
    Array.from({ length: 200 }, async () => {
      const { json } = await insist(service, "POST", "/v1/requests", { key, body: minimalBody });
      return json.id as string;
    }),
  );
  const undecided = await created();
  const waiting = ids.map((id) => insist(service, "GET", `/v1/requests/${id}?wait=60`, { key }));
  await untilWaiting(service, 200);
  await until(
    () => service.servicePool.idleCount === service.servicePool.totalCount,
    "no connection to be taken",
  );
  let taken = 0;
  const onAcquire = () => {
    taken += 1;
  };
  service.servicePool.on("acquire", onAcquire);
  await service.call("GET", `/v1/requests/${undecided.id}?wait=3`, { key: undecided.key });
  service.servicePool.off("acquire", onAcquire);
  // That one call looks up its key and reads its request; hundreds that poll would take hundreds.
  assert.ok(taken < 10, `${taken} statements ran in three quiet seconds`);
  await Promise.all(
    ids.map((id) => insist(otherNode, "POST", `/v1/requests/${id}/cancel`, { key })),
  );
  const replies = await Promise.all(waiting);
  assert.deepEqual(new Set(replies.map(({ json }) => json.status)), new Set(["CANCELLED"]));
  assert.equal(service.resolutions.waiting, 0);
});

test("a caller is woken even when the listening connection was lost meanwhile", async () => {
  const { key, id } = await created();
  const { json } = await early(async () => {
    const waiting = service.call("GET", `/v1/requests/${id}?wait=60`, { key });
    await untilWaiting(service, 2);
    await service.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'countersign listen'`,
    );
    await cancel(otherNode, id, key);
    return waiting;
  });
  assert.equal(json.status, "CANCELLED");
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
    const gone = fetch(`${address}/v1/requests/${id}?wait=60`, {
      headers: { authorization: `Bearer ${key}` },
      signal: controller.signal,
    });
    await untilWaiting(node);
    const longest = await startLongestWait();
    controller.abort();
    await assert.rejects(gone);
    await until(() => node.resolutions.waiting === 0);
    assert.ok(!longest.isOver(), "it was forgotten no sooner than by its time-out");
    await longest.end();
  } finally {
    await node.stop();
  }
});

test("a stopping node answers those who wait instead of cutting them off", async () => {
  const node = await startNode(service.database);
  const address = await listening(node);
  const { key, id } = await created();
  const headers = { authorization: `Bearer ${key}` };
  const answer = await early(async () => {
    const waiting = fetch(`${address}/v1/requests/${id}?wait=60`, { headers });
    await untilWaiting(node);
    await node.stop();
    return (await (await waiting).json()) as { status: string };
  });
  assert.equal(answer.status, "PENDING");
});
