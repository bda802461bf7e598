import assert from "node:assert/strict";
import { after, test } from "node:test";
import { endpointsPerWorkspaceMax } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { ComposedMail } from "../src/operations/deliveries/composed-mail.ts";
import { disableEndpoint, enableEndpoint } from "../src/operations/deliveries/manage-endpoint.ts";
import {
  resendDelivery,
  resendUnsuccessful,
  sendTestEvent,
} from "../src/operations/deliveries/resend-delivery.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import {
  makeEndpoint,
  type Receiver,
  startReceiver,
  startWorker,
  testPublicUrl,
} from "./test-worker.ts";
import { isSignedByStandard, isSignedWith } from "./webhook-verifier.ts";

let wake = () => {};
const service = await startService({ onDue: () => wake() });
const { db, keyring } = service;
const kept: ComposedMail[] = [];
const { worker, stop } = startWorker(service.database, {
  webhookRetryDelaysMs: [50, 50],
  mail: {
    send: null,
    origin: { keyring, publicUrl: testPublicUrl },
    onKept: (mail) => kept.push(mail),
  },
});
wake = () => worker.wake();
const receivers: Receiver[] = [];
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await stop();
  await service.stop();
});

let owners = 0;

async function setUp(status: { code: number } = { code: 200 }) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  owners += 1;
  const owner = `owner${owners}@example.com`;
  await addMember(db, { workspaceId, email: owner, role: "owner" });
  await addMember(db, { workspaceId, email: `admin${owners}@example.com`, role: "admin" });
  const receiver = await startReceiver((response) => response.writeHead(status.code).end("answer"));
  receivers.push(receiver);
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const create = async () => {
    const reply = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    return reply.json.id as string;
  };
  return { workspaceId, key, owner, receiver, endpoint, create };
}

async function endpointRow(id: string) {
  const { rows } = await db.query(
    "select failing_since, warned_at, disabled_at, disabled_reason from endpoints where id = $1",
    [id],
  );
  return rows[0];
}

/** Tests move a row's timestamps, not the clock. */
async function moveBack(id: string, days: number): Promise<void> {
  await db.query(
    `update endpoints
     set failing_since = failing_since - $2 * interval '1 day', warned_at = warned_at - $2 * interval '1 day'
     where id = $1`,
    [id, days],
  );
}

async function statesOf(endpointId: string): Promise<string[]> {
  const { rows } = await db.query(
    "select state from deliveries where endpoint_id = $1 order by id",
    [endpointId],
  );
  return rows.map(({ state }) => state);
}

/** About the endpoint, not about single deliveries. */
function noticesTo(owner: string) {
  return kept.filter(({ to, subject }) => to === owner && /^Webhook endpoint /.test(subject));
}

test("an endpoint that answers 410 is disabled at once, and what comes after is kept as skipped", async () => {
  const { owner, receiver, endpoint, create } = await setUp({ code: 410 });
  await create();
  await until(async () => (await endpointRow(endpoint.id)).disabled_at !== null, "it is disabled");
  assert.match((await endpointRow(endpoint.id)).disabled_reason, /410/);
  await until(async () => (await statesOf(endpoint.id))[0] === "failed", "it is recorded");
  await create();
  assert.deepEqual(await statesOf(endpoint.id), ["failed", "skipped"]);
  assert.equal(receiver.heard.length, 1);
  const [notice] = await until(() => noticesTo(owner).length > 0 && noticesTo(owner), "a notice");
  assert.ok(notice?.text.includes(endpoint.id));
  assert.match(notice?.text ?? "", /410/);
});

test("an endpoint is disabled before its 410 is recorded, so that nobody who enables it again is overtaken by one", async () => {
  const { receiver, endpoint, create } = await setUp({ code: 410 });
  const holder = await db.connect();
  await holder.query("begin");
  await holder.query("select from endpoints where id = $1 for no key update", [endpoint.id]);
  await create();
  await until(() => receiver.heard.length === 1, "it answers");
  await until(async () => {
    const { rows } = await db.query(
      `select from pg_stat_activity where datname = current_database()
       and application_name = 'countersign worker' and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }, "the worker to wait for the endpoint");
  assert.deepEqual(await statesOf(endpoint.id), ["due"]);
  await holder.query("rollback");
  holder.release();
  await until(async () => (await statesOf(endpoint.id))[0] === "failed", "it is recorded");
  assert.notEqual((await endpointRow(endpoint.id)).disabled_at, null);
});

test("after a 410 the commands in the notice send everything that was lost to it", async () => {
  const status = { code: 410 };
  const { workspaceId, owner, receiver, endpoint, create } = await setUp(status);
  for (let n = 0; n < 10; n += 1) await create();
  await until(async () => !(await statesOf(endpoint.id)).includes("due"), "all to be set aside");
  const [notice] = await until(() => noticesTo(owner).length > 0 && noticesTo(owner), "a notice");
  const command = /resend-failed --workspace (\S+)\s+--endpoint (\S+)\s+--since (\S+)/.exec(
    (notice?.text ?? "").replaceAll(/\s+/g, " "),
  );
  assert.deepEqual(command?.slice(1, 3), [workspaceId, endpoint.id]);
  status.code = 200;
  assert.ok(!isRefusal(await enableEndpoint(db, endpoint.id)));
  const time = new Date(command?.[3] ?? "");
  const since = { workspaceId, endpointId: endpoint.id, time };
  assert.deepEqual(await resendUnsuccessful(db, since), { resent: 10 });
  await until(
    async () => (await statesOf(endpoint.id)).every((state) => state === "delivered"),
    "all to be delivered",
  );
  const ids = receiver.heard.map(({ headers }) => headers["x-service-delivery-id"]);
  assert.equal(new Set(ids).size, 10);
});

test("a workspace has no more enabled endpoints than each of its events can bear", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const made = [];
  for (let n = 0; n < endpointsPerWorkspaceMax; n += 1) {
    made.push(await makeEndpoint(db, workspaceId, `https://hook.example/${n}`));
  }
  await assert.rejects(makeEndpoint(db, workspaceId, "https://hook.example/more"), /at most 50/);
  const [first] = made;
  assert.ok(first);
  assert.ok(!isRefusal(await disableEndpoint(db, first.id, "test")));
  await makeEndpoint(db, workspaceId, "https://hook.example/more");
  assert.ok(isRefusal(await enableEndpoint(db, first.id)));
});

test("one that only fails is warned about at half time and disabled after five days, and owners are told both times", async () => {
  const status = { code: 500 };
  const { workspaceId, owner, receiver, endpoint, create } = await setUp(status);
  const failOnce = async () => {
    const before = receiver.heard.length;
    await create();
    await until(() => receiver.heard.length >= before + 3, "three attempts");
    await until(async () => !(await statesOf(endpoint.id)).includes("due"), "them to be recorded");
  };
  await failOnce();
  assert.notEqual((await endpointRow(endpoint.id)).failing_since, null);
  await moveBack(endpoint.id, 2.4);
  await failOnce();
  assert.equal((await endpointRow(endpoint.id)).warned_at, null);
  await moveBack(endpoint.id, 0.2);
  await failOnce();
  assert.notEqual((await endpointRow(endpoint.id)).warned_at, null);
  const [warning] = await until(() => noticesTo(owner).length > 0 && noticesTo(owner), "a warning");
  assert.ok(warning?.text.includes(endpoint.id));
  await failOnce();
  assert.equal((await endpointRow(endpoint.id)).disabled_at, null);
  await moveBack(endpoint.id, 2.6);
  await create();
  await until(async () => (await endpointRow(endpoint.id)).disabled_at !== null, "it is disabled");
  const [, told] = await until(() => noticesTo(owner).length > 1 && noticesTo(owner), "a notice");
  assert.match(told?.text ?? "", /5 days/);
  assert.equal(noticesTo(owner).length, 2);
  assert.equal(kept.filter(({ to }) => to.startsWith("admin")).length, 0);

  // Enabled again, everything since is sent on request, and the clock begins anew.
  status.code = 200;
  await create();
  const since = { workspaceId, endpointId: null, time: new Date(Date.now() - 3_600_000) };
  assert.deepEqual(await resendUnsuccessful(db, since), { resent: 0 });
  assert.ok(!isRefusal(await enableEndpoint(db, endpoint.id)));
  assert.equal((await endpointRow(endpoint.id)).failing_since, null);
  const states = await statesOf(endpoint.id);
  const unsuccessful = states.filter((state) => state !== "due").length;
  assert.deepEqual(await resendUnsuccessful(db, since), { resent: unsuccessful });
  await until(
    async () => (await statesOf(endpoint.id)).every((state) => state === "delivered"),
    "all to be delivered",
  );
});

test("a success ends the time of failing, however long it was", async () => {
  const status = { code: 500 };
  const { endpoint, create } = await setUp(status);
  await create();
  await until(async () => (await statesOf(endpoint.id))[0] === "failed", "it fails");
  await moveBack(endpoint.id, 30);
  status.code = 200;
  await create();
  await until(async () => (await endpointRow(endpoint.id)).failing_since === null, "it is healthy");
  assert.equal((await endpointRow(endpoint.id)).disabled_at, null);
});

test("a success that was under way before the failure was noted ends it too", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const waiting: (() => void)[] = [];
  const receiver = await startReceiver((response, { json }) => {
    if (json.event === "request.cancelled") response.writeHead(500).end();
    else waiting.push(() => response.end("ok"));
  });
  receivers.push(receiver);
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  await until(() => waiting.length === 1, "the first to be under way");
  await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  await until(async () => (await endpointRow(endpoint.id)).failing_since !== null, "the failure");
  for (const answer of waiting) answer();
  await until(async () => (await endpointRow(endpoint.id)).failing_since === null, "the success");
});

test("an endpoint that hears from us rarely is never disabled without a warning", async () => {
  const status = { code: 500 };
  const { endpoint, create } = await setUp(status);
  await create();
  await until(async () => (await statesOf(endpoint.id))[0] === "failed", "it fails");
  await moveBack(endpoint.id, 30);
  await create();
  await until(
    async () => (await endpointRow(endpoint.id)).warned_at !== null,
    "it is warned about",
  );
  await until(async () => !(await statesOf(endpoint.id)).includes("due"), "the rest");
  assert.equal((await endpointRow(endpoint.id)).disabled_at, null);
});

test("one delivery is sent again with the same id and bytes, whatever became of it", async () => {
  const status = { code: 500 };
  const { receiver, endpoint, create } = await setUp(status);
  await create();
  await until(async () => (await statesOf(endpoint.id))[0] === "failed", "it fails");
  const id = String(receiver.heard[0]?.headers["x-service-delivery-id"]);
  status.code = 200;
  for (const heard of [4, 5]) {
    assert.ok(!isRefusal(await resendDelivery(db, id)));
    await until(() => receiver.heard.length === heard, "it is sent again");
    await until(async () => (await statesOf(endpoint.id))[0] === "delivered", "it is recorded");
  }
  for (const { headers, body } of receiver.heard) {
    assert.equal(headers["x-service-delivery-id"], id);
    assert.deepEqual(body, receiver.heard[0]?.body);
  }
  const unknown = await resendDelivery(db, "dlv_unknown");
  assert.ok(isRefusal(unknown));
});

test("a resend begins a new round of three attempts, and no more", async () => {
  const { receiver, endpoint, create } = await setUp({ code: 500 });
  await create();
  await until(async () => (await statesOf(endpoint.id))[0] === "failed", "it fails");
  const id = String(receiver.heard[0]?.headers["x-service-delivery-id"]);
  assert.ok(!isRefusal(await resendDelivery(db, id)));
  await until(async () => (await statesOf(endpoint.id))[0] === "failed", "it fails again");
  assert.equal(receiver.heard.length, 6);
  const { rows } = await db.query("select number from attempts where delivery_id = $1", [id]);
  assert.equal(rows.length, 6);
});

test("only what failed or was skipped since the time is sent again", async () => {
  const status = { code: 500 };
  const { workspaceId, receiver, endpoint, create } = await setUp(status);
  await create();
  await create();
  await until(async () => (await statesOf(endpoint.id)).join() === "failed,failed", "both fail");
  await db.query(
    `update deliveries set finished_at = finished_at - interval '2 hours', created_at = created_at - interval '2 hours'
     where id = (select min(id) from deliveries where endpoint_id = $1)`,
    [endpoint.id],
  );
  status.code = 200;
  await create();
  await until(async () => (await statesOf(endpoint.id))[2] === "delivered", "the third succeeds");
  const before = receiver.heard.length;
  const time = new Date(Date.now() - 3_600_000);
  assert.deepEqual(await resendUnsuccessful(db, { workspaceId, endpointId: null, time }), {
    resent: 1,
  });
  await until(() => receiver.heard.length === before + 1, "it is sent again");
  await until(
    async () => (await statesOf(endpoint.id)).join() === "failed,delivered,delivered",
    "it is recorded",
  );
});

test("a test event has the form of every other, is signed, and says that it is one", async () => {
  const { receiver, endpoint } = await setUp();
  const sent = await sendTestEvent(db, endpoint.id);
  assert.ok(!isRefusal(sent));
  const [heard] = await until(() => receiver.heard.length > 0 && receiver.heard, "the test event");
  assert.ok(heard);
  assert.equal(heard.json.event, "webhook.test");
  assert.equal(heard.headers["x-service-event"], "webhook.test");
  assert.equal(heard.headers["x-service-delivery-id"], sent.deliveryId);
  assert.deepEqual(Object.keys(heard.json), ["event", "createdAt", "data"]);
  assert.equal(heard.json.data.status, "PENDING");
  assert.ok(
    isSignedWith(endpoint.secret, String(heard.headers["x-service-signature"]), heard.body),
  );
  assert.ok(isSignedByStandard(endpoint.secret, heard.headers, heard.body));
});
