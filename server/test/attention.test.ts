import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { attentionCountMax, attentionNamedMax, pendingCountMax } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { type Role, roles } from "../src/domain/workspace/role.ts";
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
} from "../src/operations/deliveries/manage-endpoint.ts";
import { noteEndpointGone } from "../src/operations/deliveries/note-endpoint-health.ts";
import { resendDelivery } from "../src/operations/deliveries/resend-delivery.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import type { DecidedResolution } from "../src/storage/approvals/approval-resolution.ts";
import type { Attention } from "../src/wire/dashboard-attention.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { resolveNow } from "./test-evidence.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint } from "./test-worker.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

async function setUp(settings: Parameters<typeof makeWorkspace>[1] = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db, settings);
  const cookies: Partial<Record<Role, string>> = {};
  const lookAs = async (role: Role): Promise<Attention> => {
    const email = `${role}@${workspaceId}.example`.replaceAll("_", "-");
    if (cookies[role] === undefined) await makeMember(db, { workspaceId, email, role });
    cookies[role] ??= await signIn(service, email);
    const { status, json } = await callDashboard(
      service,
      "GET /workspaces/:workspaceId/attention",
      { cookie: cookies[role], params: { workspaceId } },
    );
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  const create = async (body: object = {}) => {
    const reply = await service.call("POST", "/v1/requests", {
      key,
      body: { ...minimalBody, ...body },
    });
    assert.equal(reply.status, 201, JSON.stringify(reply.json));
    return reply.json.id as string;
  };
  return { workspaceId, key, create, lookAs, look: () => lookAs("viewer") };
}

/** As if its deliveries, or its mails, had come to this end. */
async function endDeliveries(
  approvalId: string,
  to: "webhook" | "mail" | "callback",
  state = "failed",
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `update deliveries d set state = $3, finished_at = case when $3 <> 'skipped' then now_ms() end, attempts = 3
     from events ev
     where ev.workspace_id = d.workspace_id and ev.id = d.event_id and ev.approval_id = $1 and d.channel = $2
     returning d.id`,
    [approvalId, to, state],
  );
  assert.ok(rows.length > 0);
  return rows.map(({ id }) => id);
}

async function setFailing(endpointId: string): Promise<void> {
  await db.query("update endpoints set failing_since = now_ms() where id = $1", [endpointId]);
}

/** Sets its whole life: asked so many minutes ago, and so many left. */
async function setLife(id: string, agoMinutes: number, leftMinutes: number): Promise<void> {
  await db.query(
    `update approvals set created_at = now_ms() - $2 * interval '1 minute',
       expires_at = now_ms() + $3 * interval '1 minute' where id = $1`,
    [id, agoMinutes, leftMinutes],
  );
}

const calm = {
  endpoints: { named: [], count: 0 },
  expiring: null,
  failedMails: { count: 0, isMore: false, named: [] },
  quota: null,
};

function isCalm({ now: _now, ...rest }: Attention): boolean {
  assert.deepEqual(rest, calm);
  return true;
}

test("a workspace in which all is well needs nobody", async () => {
  const { workspaceId, create, look } = await setUp();
  assert.ok(isCalm(await look()));
  await makeEndpoint(db, workspaceId, "https://hook.example/fine");
  const id = await create();
  await endDeliveries(id, "webhook", "delivered");
  await endDeliveries(id, "mail", "delivered");
  assert.ok(isCalm(await look()));
});

test("callbacks that were given up are told by host, until they are resent or the action was redeemed", async () => {
  const { workspaceId, key, create, look, lookAs } = await setUp();
  const giveUp = async (callbackUrl: string) => {
    const id = await create({ callbackUrl });
    await endDeliveries(id, "mail", "delivered");
    const decision = { status: "APPROVED", byEmail: "ann@example.com", note: null, edit: null };
    await resolveNow(inOneStatement(db), { workspaceId, id }, decision as DecidedResolution);
    const [deliveryId = ""] = await endDeliveries(id, "callback");
    return { id, deliveryId };
  };
  const one = await giveUp("https://workflows.example/resume/secret-1");
  const told = (await look()).failedCallbacks;
  assert.deepEqual(
    told?.named.map(({ deliveryId, host, count }) => [deliveryId, host, count]),
    [[one.deliveryId, "workflows.example", 1]],
  );
  assert.doesNotMatch(JSON.stringify(await lookAs("owner")), /secret-1/);
  assert.ok(!isRefusal(await resendDelivery(db, one.deliveryId)));
  assert.ok(isCalm(await look()));
  const hosts = Array.from({ length: attentionNamedMax + 2 }, (_, n) => `host-${n}.example`);
  const failed = [];
  for (const host of [...hosts, ...hosts.slice(-2)]) failed.push(await giveUp(`https://${host}/`));
  const many = (await look()).failedCallbacks;
  assert.deepEqual([many?.count, many?.isMore], [attentionNamedMax + 4, false]);
  assert.deepEqual(
    many?.named.map(({ host, count }) => [host, count]),
    [
      [hosts.at(-1), 2],
      [hosts.at(-2), 2],
      [hosts.at(-3), 1],
    ],
  );
  assert.equal(many?.otherDeliveryId, failed[attentionNamedMax - 2]?.deliveryId);
  for (const { id } of failed) {
    const { status } = await service.call("POST", `/v1/requests/${id}/redeem`, { key });
    assert.equal(status, 200);
  }
  assert.ok(isCalm(await look()));
});

test("a request expires soon in the last quarter of its time, and not before its last hour", async () => {
  const { create, look } = await setUp();
  const id = await create();
  for (const [agoMinutes, leftMinutes, isSoon] of [
    [1_380, 59.9, true],
    [1_378, 60.1, false],
    [10_020, 59, true],
    [45.5, 14.5, true],
    [44, 16, false],
    [3, 2, false],
    [4, 1, true],
    [10, -1, false],
  ] as const) {
    await setLife(id, agoMinutes, leftMinutes);
    const { expiring } = await look();
    assert.equal(expiring !== null, isSoon, `${leftMinutes} of ${agoMinutes + leftMinutes} left`);
  }
});

test("a request that expires soon is seen behind however many older ones that don't", async () => {
  const { workspaceId, create, look } = await setUp();
  await db.query(
    `insert into approvals (workspace_id, id, summary, approver_email, created_at, expires_at)
     select $1, 'req_' || lpad(to_hex(1600000000000 + i), 12, '0') || repeat('0', 20),
       'Filler', 'ann@example.com', now_ms(), now() + interval '1 day'
     from generate_series(1, $2::int) as i`,
    [workspaceId, pendingCountMax + 1],
  );
  assert.equal((await look()).expiring, null);
  const id = await create();
  await setLife(id, 58, 2);
  const { expiring } = await look();
  assert.deepEqual([expiring?.count, expiring?.isMore], [1, false]);
  assert.equal(expiring?.first.requestId, id);
});

test("requests that expire soon are counted, the first of them is named, and decided ones are not", async () => {
  const { create, look, key } = await setUp();
  const ids = [await create(), await create(), await create()];
  for (const [at, id] of ids.entries()) await setLife(id, 1_400, 30 - at);
  assert.deepEqual((await look()).expiring?.count, 3);
  assert.equal((await look()).expiring?.first.requestId, ids[2]);
  await service.call("POST", `/v1/requests/${ids[2]}/cancel`, { key });
  const { expiring } = await look();
  assert.deepEqual([expiring?.count, expiring?.isMore], [2, false]);
  assert.equal(expiring?.first.requestId, ids[1]);
});

test("a failing endpoint is named with what it gave up and what waits, until it works and all was resent", async () => {
  const { workspaceId, create, look } = await setUp();
  const { id } = await makeEndpoint(db, workspaceId, "https://hook.example/failing");
  const [failed = ""] = await endDeliveries(await create(), "webhook");
  await create();
  await setFailing(id);
  const { endpoints } = await look();
  assert.equal(endpoints.count, 1);
  const [named] = endpoints.named;
  assert.deepEqual([named?.id, named?.trouble], [id, "failing"]);
  assert.deepEqual(named?.missed, { count: 1, isMore: false });
  assert.deepEqual(named?.waiting, { count: 1, isMore: false });
  await db.query("update endpoints set failing_since = null where id = $1", [id]);
  assert.equal((await look()).endpoints.named[0]?.trouble, "missed");
  assert.ok(!isRefusal(await resendDelivery(db, failed)));
  assert.ok(isCalm(await look()));
});

test("what failed a week ago, test events, and what was skipped on purpose need nobody", async () => {
  const { workspaceId, create, look } = await setUp();
  const { id } = await makeEndpoint(db, workspaceId, "https://hook.example/past");
  const [old = ""] = await endDeliveries(await create(), "webhook");
  await db.query("update deliveries set id = 'dlv_018000000000' || right(id, 20) where id = $1", [
    old,
  ]);
  await db.query(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind) values ($1, $2, 'webhook.test') returning id
     )
     insert into deliveries (workspace_id, event_id, channel, endpoint_id, state, finished_at)
     select $1, id, 'webhook', $2, 'failed', now_ms() from event`,
    [workspaceId, id],
  );
  await endDeliveries(await create(), "webhook", "skipped");
  assert.ok(isCalm(await look()));
});

test("an endpoint that the service disabled stays in sight until it is enabled; one that a person disabled is not", async () => {
  const { workspaceId, create, look } = await setUp();
  const endpoint = await makeEndpoint(db, workspaceId, "https://hook.example/gone");
  const other = await makeEndpoint(db, workspaceId, "https://hook.example/off");
  assert.ok(!isRefusal(await disableEndpoint(db, other.id, "moving house")));
  await noteEndpointGone(db, endpoint);
  await create();
  const { endpoints } = await look();
  assert.deepEqual(
    endpoints.named.map(({ id, trouble, missed }) => [id, trouble, missed.count]),
    [[endpoint.id, "disabled", 1]],
  );
  assert.ok(!isRefusal(await enableEndpoint(db, endpoint.id)));
  assert.ok(isCalm(await look()));
  await noteEndpointGone(db, endpoint);
  assert.ok(!isRefusal(await disableEndpoint(db, endpoint.id, "not needed any more")));
  assert.ok(isCalm(await look()));
});

test("an endpoint that the service disabled and a person deleted needs nobody", async () => {
  const { workspaceId, create, look } = await setUp();
  const endpoint = await makeEndpoint(db, workspaceId, "https://hook.example/gone");
  await noteEndpointGone(db, endpoint);
  await create();
  assert.equal((await look()).endpoints.count, 1);
  assert.ok(!isRefusal(await deleteEndpoint(db, endpoint.id)));
  assert.ok(isCalm(await look()));
});

test("only a few endpoints are named, those that fail first, and all are counted", async () => {
  const { workspaceId, look } = await setUp();
  const gone = await makeEndpoint(db, workspaceId, "https://hook.example/gone");
  await noteEndpointGone(db, gone);
  for (let n = 0; n < attentionNamedMax; n += 1) {
    const { id } = await makeEndpoint(db, workspaceId, `https://hook.example/${n}`);
    await setFailing(id);
  }
  const { named, count } = (await look()).endpoints;
  assert.equal(count, attentionNamedMax + 1);
  assert.deepEqual(
    named.map(({ trouble }) => trouble),
    Array(attentionNamedMax).fill("failing"),
  );
});

test("a mail that never reached an approver is named while the request waits, until it is sent again", async () => {
  const { create, look, key } = await setUp();
  const waiting = await create({ notify: "bob@exmaple.com" });
  const over = await create();
  const [mail = ""] = await endDeliveries(waiting, "mail");
  await endDeliveries(over, "mail");
  await service.call("POST", `/v1/requests/${over}/cancel`, { key });
  const { failedMails } = await look();
  assert.equal(failedMails.count, 1);
  const [named] = failedMails.named;
  assert.deepEqual([named?.deliveryId, named?.email], [mail, "bob@exmaple.com"]);
  assert.ok(!isRefusal(await resendDelivery(db, mail)));
  assert.ok(isCalm(await look()));
});

test("a mail to somebody who is no longer in the group needs nobody", async () => {
  const { workspaceId, create, look } = await setUp();
  const members = ["ann@example.com", "gone@example.com"];
  const group = await createGroup(db, { workspaceId, key: "payers", name: "Payers", members });
  assert.ok(!isRefusal(group));
  await endDeliveries(await create({ notify: "group:payers" }), "mail");
  assert.equal((await look()).failedMails.count, 2);
  assert.ok(!isRefusal(await removeGroupMember(db, group.id, "gone@example.com")));
  assert.deepEqual(
    (await look()).failedMails.named.map(({ email }) => email),
    ["ann@example.com"],
  );
});

test("counts end where the exact number helps nobody", async () => {
  const { workspaceId, create, look } = await setUp();
  const id = await create();
  await db.query(
    `with event as (
       select workspace_id, id from events where approval_id = $2
     ), reviewer as (
       insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
       select $1, $2, 'p' || n || '@example.com', 'a key', '', sha256(($2 || n)::bytea)
       from generate_series(1, $3::int) as n
       returning id
     )
     insert into deliveries (workspace_id, event_id, channel, reviewer_id, state, finished_at)
     select $1, event.id, 'mail', reviewer.id, 'failed', now_ms() from event, reviewer`,
    [workspaceId, id, attentionCountMax + 50],
  );
  const { failedMails } = await look();
  assert.deepEqual([failedMails.count, failedMails.isMore], [attentionCountMax, true]);
  assert.equal(failedMails.named.length, attentionNamedMax);
});

test("the monthly volume is told when little of it is left, and when none is", async () => {
  const { create, look } = await setUp({ plan: "hobby", included: 10 });
  for (let n = 0; n < 8; n += 1) await create();
  assert.equal((await look()).quota, null);
  await create();
  assert.deepEqual((await look()).quota, { used: 9, limit: 10, isUsedUp: false });
  await create();
  assert.deepEqual((await look()).quota, { used: 10, limit: 10, isUsedUp: true });
});

test("every role sees the same, and each page that it leads to opens for every role", async () => {
  const { workspaceId, create, lookAs } = await setUp({ plan: "hobby", included: 1 });
  const { id: endpointId } = await makeEndpoint(db, workspaceId, "https://hook.example/x");
  await setFailing(endpointId);
  const requestId = await create();
  await setLife(requestId, 1_400, 30);
  const [deliveryId = ""] = await endDeliveries(requestId, "mail");
  const params = { workspaceId, endpointId, requestId, deliveryId };
  const { now: _now, ...seen } = await lookAs("owner");
  assert.deepEqual(
    [seen.endpoints.count, seen.expiring?.count, seen.failedMails.count, seen.quota?.isUsedUp],
    [1, 1, 1, true],
  );
  for (const role of roles) {
    const { now: _then, ...same } = await lookAs(role);
    assert.deepEqual(same, seen, role);
    const email = `${role}@${workspaceId}.example`.replaceAll("_", "-");
    const cookie = await signIn(service, email);
    for (const name of [
      "GET /workspaces/:workspaceId/endpoints/:endpointId",
      "GET /workspaces/:workspaceId/endpoints",
      "GET /workspaces/:workspaceId/requests/:requestId",
      "GET /workspaces/:workspaceId/requests",
      "GET /workspaces/:workspaceId/deliveries/:deliveryId",
      "GET /workspaces/:workspaceId/usage",
    ] as const) {
      const { status } = await callDashboard(service, name, { cookie, params });
      assert.equal(status, 200, `${role} ${name}`);
    }
  }
});

test("nothing of one workspace shows in another", async () => {
  const busy = await setUp({ plan: "hobby", included: 1 });
  const { id } = await makeEndpoint(db, busy.workspaceId, "https://hook.example/theirs");
  await setFailing(id);
  const requestId = await busy.create();
  await setLife(requestId, 1_400, 30);
  await endDeliveries(requestId, "mail");
  const { look } = await setUp();
  assert.ok(isCalm(await look()));
});
