// Callbacks go to any number of hosts. None of them, and no workspace, keeps others from being called.

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import {
  callbackLanesMax,
  callbacksInFlightMax,
  callbacksPerWorkspaceMax,
} from "../src/domain/limits.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { startReceiver, startWorker } from "./test-worker.ts";

const workersMax = 2;
let wake = () => {};
const service = await startService({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
const { db } = service;
const workers = Array.from({ length: workersMax }, () => startWorker(service.database));
wake = () => {
  for (const { worker } of workers) worker.wake();
};
const held: ServerResponse[] = [];
let isHanging = true;
const hanging = await startReceiver((response) => {
  if (isHanging) held.push(response);
  else response.end();
});
const healthy = await startReceiver();
after(async () => {
  await hanging.close();
  await healthy.close();
  for (const { stop } of workers) await stop();
  await service.stop();
});

/** Outcomes that are due to as many hosts, all of which are the same receiver. */
async function addCallbacks(
  workspaceId: string,
  { url, count }: { url: string; count: number },
): Promise<void> {
  const { port } = new URL(url);
  await db.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, status, resolved_at, expires_at, callback_url)
       select $1, new_id('req_'), 'crowd', 'ann@example.com', 'CANCELLED', now_ms(), now_ms() + interval '1 day',
         'http://a' || n || '.localhost:' || $3 || '/'
       from generate_series(1, $2::int) as n
       returning workspace_id, id, split_part(callback_url, '/', 3) as host
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.cancelled' from approval
       returning workspace_id, id, approval_id
     )
     insert into deliveries (workspace_id, event_id, channel, recipient, due_at)
     select event.workspace_id, event.id, 'callback', approval.host, now_ms() - interval '1 hour'
     from event join approval on approval.id = event.approval_id`,
    [workspaceId, count, port],
  );
}

/** Asks, and cancels at once. */
async function callBack({ key }: { key: string }, callbackUrl: string): Promise<void> {
  const body = { ...minimalBody, callbackUrl };
  const { status, json } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201, JSON.stringify(json));
  await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
}

test("a workspace whose hosts all hang gets its share of each worker, and others are called at once", async () => {
  const crowd = await makeWorkspace(db);
  // Enough to take every slot of every worker, and lanes for several looks.
  const count = workersMax * callbacksInFlightMax + callbackLanesMax;
  await addCallbacks(crowd.id, { url: hanging.url, count });
  wake();
  const share = workersMax * callbacksPerWorkspaceMax;
  await until(() => held.length >= share, "the crowd to be called");
  const other = await makeWorkspace(db);
  for (let n = 1; n <= 5; n += 1) {
    await callBack(other, healthy.url);
    await until(() => healthy.heard.length === n, "the other workspace to be called");
  }
  assert.equal(held.length, share);
  // What has ended makes room for the next, until each host was called.
  isHanging = false;
  for (const response of held) response.end();
  await until(() => hanging.heard.length === count, "all of the crowd");
  assert.equal(new Set(hanging.heard.map(({ headers }) => headers.host)).size, count);
});
