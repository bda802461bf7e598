import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import type { Database } from "../src/database/database.ts";
import {
  largeWebhookWeight,
  mailsPerWorkspaceMax,
  webhooksInFlightMax,
  webhooksPerEndpointMax,
  webhooksPerFailingEndpointMax,
  webhooksPerWorkspaceMax,
} from "../src/domain/limits.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint, type Receiver, startReceiver, startWorker } from "./test-worker.ts";

let wake = () => {};
const service = await startService({ onDue: () => wake() });
const { db } = service;
const { worker, stop } = startWorker(service.database);
wake = () => worker.wake();
const receivers: Receiver[] = [];
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await stop();
  await service.stop();
});

/** A backlog as a long outage leaves it, written in one go. */
async function makeBacklog(
  on: Database,
  workspaceId: string,
  endpointId: string,
  count: number,
): Promise<void> {
  await on.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, expires_at)
       select $1, new_id('req_'), 'backlog ' || n, 'ann@example.com', now_ms() + interval '1 day'
       from generate_series(1, $3::integer) n
       returning workspace_id, id
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.created' from approval
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, endpoint_id, due_at)
     select workspace_id, id, $2, now_ms() - interval '1 hour' from event`,
    [workspaceId, endpointId, count],
  );
}

type Hanging = Receiver & { held: ServerResponse[] };

/** A receiver that does not answer until it is told to. */
async function startHanging(): Promise<Hanging> {
  const held: ServerResponse[] = [];
  const receiver = await startReceiver((response) => void held.push(response));
  receivers.push(receiver);
  return { ...receiver, held };
}

/** Leaves the worker to the next test: deletes the deliveries that have not begun, and lets the rest fail. */
async function giveUp(workspaceId: string, { close }: Receiver): Promise<void> {
  await db.query(
    "delete from deliveries where workspace_id = $1 and endpoint_id is not null and attempts = 0",
    [workspaceId],
  );
  await close();
}

/** Looks again and again at how many deliveries are under way at a time, while something goes on. */
async function mostUnderWay(
  of: { workspaceId: string; endpointId?: string },
  doing: () => Promise<unknown>,
): Promise<number> {
  let most = 0;
  let isOver = false;
  const work = doing().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const { rows } = await db.query(
      `select count(*)::int as leased from deliveries
       where workspace_id = $1 and ($2::text is null or endpoint_id = $2) and leased_until > now()`,
      [of.workspaceId, of.endpointId ?? null],
    );
    most = Math.max(most, rows[0].leased);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await work;
  return most;
}

async function startHealthy() {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

test("10,000 due deliveries to a hanging endpoint do not delay a healthy one", async () => {
  const stuck = await makeWorkspace(db);
  const hanging = await startHanging();
  const endpoint = await makeEndpoint(db, stuck.id, hanging.url);
  await makeBacklog(db, stuck.id, endpoint.id, 10_000);
  worker.wake();
  await until(() => hanging.heard.length > 0, "the hanging endpoint to be called");
  const other = await makeWorkspace(db);
  const healthy = await startHealthy();
  await makeEndpoint(db, other.id, healthy.url);
  // One in the same workspace as the hanging one, too.
  const neighbour = await startHealthy();
  await makeEndpoint(db, stuck.id, neighbour.url);
  for (let n = 1; n <= 20; n += 1) {
    await service.call("POST", "/v1/requests", { key: other.key, body: minimalBody });
    await until(() => healthy.heard.length === n, "the healthy endpoint");
    await service.call("POST", "/v1/requests", { key: stuck.key, body: minimalBody });
    await until(() => neighbour.heard.length === n, "the neighbour of the hanging endpoint");
  }
  // None of the hanging calls has ended: nobody has waited for any of them.
  assert.ok(hanging.held.every(({ destroyed }) => !destroyed));
  await giveUp(stuck.id, hanging);
});

test("an endpoint gets no more than its bound at a time, and far less while it fails", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const receiver = await startHanging();
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const its = { workspaceId, endpointId: endpoint.id };
  await makeBacklog(db, workspaceId, endpoint.id, 200);
  worker.wake();
  const most = await mostUnderWay(its, async () => {
    await until(() => receiver.heard.length >= webhooksPerEndpointMax, "as many as it gets");
    await untilLookedAgain();
  });
  assert.equal(most, webhooksPerEndpointMax);
  failAll(receiver);
  await until(async () => {
    failAll(receiver);
    const { rows } = await db.query("select failing_since from endpoints where id = $1", [
      endpoint.id,
    ]);
    return rows[0].failing_since !== null;
  }, "the endpoint to count as failing");
  // A claim that began before may still be under way, and so may its deliveries.
  await untilLookedAgain();
  await until(async () => {
    failAll(receiver);
    const { rows } = await db.query(
      `select count(*)::int as leased from deliveries where endpoint_id = $1 and leased_until > now()`,
      [endpoint.id],
    );
    return rows[0].leased <= webhooksPerFailingEndpointMax;
  }, "the calls of before to end");
  const before = receiver.heard.length;
  const later = await mostUnderWay(its, () =>
    until(() => {
      failAll(receiver);
      return receiver.heard.length >= before + 3;
    }, "some more calls"),
  );
  assert.ok(later <= webhooksPerFailingEndpointMax, `${later}`);
  await giveUp(workspaceId, receiver);
});

function failAll({ held }: Hanging): void {
  for (const response of held.splice(0)) response.writeHead(500).end();
}

/** A request of somebody else makes the worker look for all that is due. */
async function untilLookedAgain(): Promise<void> {
  const other = await makeWorkspace(db);
  const healthy = await startHealthy();
  await makeEndpoint(db, other.id, healthy.url);
  await service.call("POST", "/v1/requests", { key: other.key, body: minimalBody });
  await until(() => healthy.heard.length === 1, "the worker to look again");
}

test("a workspace with very many endpoints that hang takes no more than its share", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const receiver = await startHanging();
  const endpoints = 2 * Math.ceil(webhooksPerWorkspaceMax / webhooksPerEndpointMax);
  for (let n = 0; n < endpoints; n += 1) {
    const endpoint = await makeEndpoint(db, workspaceId, `${receiver.url}/${n}`);
    await makeBacklog(db, workspaceId, endpoint.id, webhooksPerEndpointMax * 2);
  }
  worker.wake();
  const other = await makeWorkspace(db);
  const healthy = await startHealthy();
  await makeEndpoint(db, other.id, healthy.url);
  const most = await mostUnderWay({ workspaceId }, async () => {
    await until(() => receiver.heard.length >= webhooksPerWorkspaceMax, "its share");
    await service.call("POST", "/v1/requests", { key: other.key, body: minimalBody });
    await until(() => healthy.heard.length === 1, "another workspace's endpoint");
    assert.ok(receiver.held.every(({ destroyed }) => !destroyed));
  });
  assert.equal(most, webhooksPerWorkspaceMax);
  await giveUp(workspaceId, receiver);
});

test("of large bodies only a few of one workspace are under way at a time", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await startHanging();
  await makeEndpoint(db, workspaceId, receiver.url, ["request.cancelled"]);
  const body = { ...minimalBody, payload: "x".repeat(100_000) };
  const fitting = Math.floor(webhooksPerWorkspaceMax / largeWebhookWeight);
  const created = await Promise.all(
    Array.from({ length: 2 * fitting }, () => service.call("POST", "/v1/requests", { key, body })),
  );
  const most = await mostUnderWay({ workspaceId }, async () => {
    await Promise.all(
      created.map(({ json }) => service.call("POST", `/v1/requests/${json.id}/cancel`, { key })),
    );
    await until(() => receiver.heard.length >= fitting, "as many as fit");
  });
  const { rows } = await db.query(
    "select distinct weight from deliveries where workspace_id = $1 and endpoint_id is not null",
    [workspaceId],
  );
  assert.deepEqual(rows, [{ weight: largeWebhookWeight }]);
  // The mails of these requests are under way beside them, a few at a time.
  assert.ok(most >= fitting && most <= fitting + mailsPerWorkspaceMax, `${most}`);
  await giveUp(workspaceId, receiver);
});

test("however busy others are, the workspace with least under way comes first", async () => {
  // More slow work than one process takes at a time, all of it in workspaces that were there before.
  const slow = await startHanging();
  const busy = Math.ceil(webhooksInFlightMax / (2 * webhooksPerEndpointMax)) + 4;
  const backlog = webhooksPerEndpointMax * 4;
  const busyIds: string[] = [];
  for (let n = 0; n < busy; n += 1) {
    const { id: workspaceId } = await makeWorkspace(db);
    busyIds.push(workspaceId);
    for (const path of ["/a", "/b"]) {
      const endpoint = await makeEndpoint(db, workspaceId, `${slow.url}${path}`);
      await makeBacklog(db, workspaceId, endpoint.id, backlog);
    }
  }
  worker.wake();
  await until(() => slow.heard.length > webhooksInFlightMax / 2, "the others to be busy");
  const late = await makeWorkspace(db);
  const healthy = await startHealthy();
  await makeEndpoint(db, late.id, healthy.url);
  for (let n = 1; n <= 5; n += 1) {
    await service.call("POST", "/v1/requests", { key: late.key, body: minimalBody });
    const before = slow.heard.length;
    // One place at a time comes free.
    await until(() => {
      slow.held.shift()?.end("ok");
      return healthy.heard.length === n;
    }, "the one that came last");
    // It took one of the next free places: fewer others came first than were under way.
    const overtook = slow.heard.length - before;
    assert.ok(overtook < webhooksInFlightMax, `${overtook} others came first`);
  }
  assert.ok(slow.heard.length < busy * 2 * backlog, "the others were busy all the time");
  for (const workspaceId of busyIds) await giveUp(workspaceId, { ...slow, close: async () => {} });
  await slow.close();
});

test("a backlog to a healthy endpoint is worked off, each delivery once", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const healthy = await startHealthy();
  const endpoint = await makeEndpoint(db, workspaceId, healthy.url);
  await makeBacklog(db, workspaceId, endpoint.id, 1_000);
  worker.wake();
  await until(() => healthy.heard.length >= 1_000, "the backlog");
  await until(async () => {
    const { rows } = await db.query(
      "select count(*)::int as due from deliveries where endpoint_id = $1 and state = 'due'",
      [endpoint.id],
    );
    return rows[0].due === 0;
  }, "all to be recorded");
  const ids = new Set(healthy.heard.map(({ headers }) => headers["x-service-delivery-id"]));
  assert.equal(ids.size, 1_000);
  assert.equal(healthy.heard.length, 1_000);
});
