// A request may name an address for its own outcome. What is sent there is what endpoints get; the address itself is told
// to nobody who need not know it.

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import { constructEvent } from "../../sdk/src/webhooks.ts";
import { inOneStatement } from "../src/database/database.ts";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import {
  callbackLanesMax,
  callbackNoticesPerDayMax,
  callbacksPerHostMax,
  webhookAttemptsMax,
} from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  rotateCallbackSecret,
  showCallbackSecret,
} from "../src/operations/deliveries/callback-secret.ts";
import { completeGivenUpCallback } from "../src/operations/deliveries/complete-attempt.ts";
import {
  resendDelivery,
  resendUnsuccessful,
} from "../src/operations/deliveries/resend-delivery.ts";
import * as deliveries from "../src/storage/deliveries/deliveries.ts";
import { until } from "./patience.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { resolveNow } from "./test-evidence.ts";
import { findReviewer, getReview } from "./test-review.ts";
import {
  makeWorkspace,
  minimalBody,
  startNode,
  startService,
  testKeyring,
} from "./test-service.ts";
import { makeEndpoint, type Receiver, startReceiver, startWorker } from "./test-worker.ts";
import { isSignedByStandard, isSignedWith } from "./webhook-verifier.ts";

let wake = () => {};
const log: string[] = [];
const logDestination = { write: (line: string) => void log.push(line) };
const callbackAllowed = loopbackCidrs;
const service = await startService({ onDue: () => wake(), callbackAllowed, logDestination });
const { db } = service;
const kept: unknown[] = [];
const { worker, stop } = startWorker(service.database, {
  logDestination,
  webhookRetryDelaysMs: [20, 20],
  mail: {
    send: null,
    origin: { keyring: testKeyring, publicUrl: "https://approvals.example/countersign" },
    onKept: (mail) => void kept.push(mail),
  },
});
wake = () => worker.wake();
const receivers: Receiver[] = [];
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await stop();
  await service.stop();
});

/** The part of an address that lets anybody continue a workflow. */
const token = "resume-4f0c9a";

async function receive(answer?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  return { ...receiver, url: `${receiver.url}/${token}?signature=${token}` };
}

async function setUp(answer?: Parameters<typeof startReceiver>[0]) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await receive(answer);
  const ask = async (more: object = {}) => {
    const body = { ...minimalBody, payload: { amount: 1 }, callbackUrl: receiver.url, ...more };
    const { status, json } = await service.call("POST", "/v1/requests", { key, body });
    assert.equal(status, 201, JSON.stringify(json));
    return json.id as string;
  };
  const cancel = (id: string) => service.call("POST", `/v1/requests/${id}/cancel`, { key });
  return { workspaceId, key, receiver, ask, cancel };
}

async function callbacksOf(workspaceId: string) {
  const found = await deliveries.list(db, {
    workspaceId,
    approvalId: null,
    isFailed: false,
    limit: 1_000,
  });
  return found.filter(({ destination }) => destination.kind === "callback");
}

async function untilState(workspaceId: string, state: string, count = 1) {
  return until(async () => {
    const found = await callbacksOf(workspaceId);
    return found.length === count && found.every((each) => each.state === state) && found;
  }, `${count} callbacks to be ${state}`);
}

async function secretOf(workspaceId: string): Promise<string> {
  const shown = await showCallbackSecret(db, testKeyring, workspaceId);
  assert.ok(!isRefusal(shown));
  return shown.secret;
}

test("each outcome is POSTed to the request's own address, with an endpoint's body, and verifies", async () => {
  const { workspaceId, key, receiver, ask, cancel } = await setUp();
  const hook = await receive();
  await makeEndpoint(db, workspaceId, hook.url);
  const tx = inOneStatement(db);
  const decided = { byEmail: "ann@example.com", note: "fine" };
  const approved = await ask();
  await resolveNow(
    tx,
    { workspaceId, id: approved },
    { status: "APPROVED", ...decided, edit: null },
  );
  const rejected = await ask();
  await resolveNow(tx, { workspaceId, id: rejected }, { status: "REJECTED", ...decided });
  const expired = await ask();
  await db.query(
    "update approvals set expires_at = now_ms(), created_at = now_ms() - interval '1 hour' where id = $1",
    [expired],
  );
  await service.call("GET", `/v1/requests/${expired}`, { key });
  const cancelled = await ask();
  await cancel(cancelled);
  worker.wake();
  await untilState(workspaceId, "delivered", 4);
  await until(() => hook.heard.length === 8, "the endpoint to hear of all");
  const secret = await secretOf(workspaceId);
  assert.equal(receiver.heard.length, 4);
  for (const { headers, body, json } of receiver.heard) {
    assert.ok(isSignedWith(secret, String(headers["x-service-signature"]), body));
    assert.ok(isSignedByStandard(secret, headers, body));
    const event = await constructEvent(body, headers, secret);
    assert.equal(event.event, headers["x-service-event"]);
    const same = hook.heard.find((each) => each.body.equals(body));
    assert.ok(same, "an endpoint got the very same bytes");
    assert.notEqual(
      same.headers["x-service-delivery-id"],
      headers["x-service-delivery-id"],
      "each delivery has its own id",
    );
    assert.doesNotMatch(body.toString(), new RegExp(token));
    assert.equal(json.data.callbackUrl, undefined);
  }
  assert.deepEqual(receiver.heard.map(({ json }) => [json.event, json.data.id]).sort(), [
    ["request.approved", approved],
    ["request.cancelled", cancelled],
    ["request.expired", expired],
    ["request.rejected", rejected],
  ]);
});

test("a request answers the same with and without an address, and nothing tells it", async () => {
  const { workspaceId, key, receiver, ask } = await setUp();
  const id = await ask();
  const bare = { ...minimalBody, payload: { amount: 1 } };
  const plain = await service.call("POST", "/v1/requests", { key, body: bare });
  const alike = (text: string, of: string) =>
    text.replaceAll(of, "req").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");
  const read = await service.call("GET", `/v1/requests/${id}`, { key });
  const readPlain = await service.call("GET", `/v1/requests/${plain.json.id}`, { key });
  assert.equal(alike(read.text, id), alike(readPlain.text, plain.json.id));
  const list = await service.call("GET", "/v1/requests", { key });
  const { token: link } = await findReviewer(db, id);
  const page = await getReview(service.app, link);
  const tx = inOneStatement(db);
  const decision = {
    status: "APPROVED",
    byEmail: "ann@example.com",
    note: null,
    edit: null,
  } as const;
  await resolveNow(tx, { workspaceId, id }, decision);
  const redeemed = await service.call("POST", `/v1/requests/${id}/redeem`, { key });
  assert.equal(redeemed.status, 200);
  worker.wake();
  await untilState(workspaceId, "delivered");
  const told = [read.text, list.text, page.text, redeemed.text, JSON.stringify(kept), ...log];
  for (const text of told) assert.doesNotMatch(text, new RegExp(token));
  assert.equal(receiver.heard.length, 1);
});

test("an address that can't be called, or hides what it is, is refused at the create with the reason", async () => {
  const { key } = await makeWorkspace(db);
  const manyLetters = String.fromCodePoint(
    ...Array.from({ length: 200 }, (_, n) => 0x4e00 + 37 * n),
  );
  const refusals: [unknown, RegExp][] = [
    [7, /must be a string/],
    ["", /begins with https/],
    ["example.com/hook", /begins with https/],
    ["ftp://example.com/", /begins with https/],
    ["javascript:alert(1)", /begins with https/],
    ["https://user:pass@example.com/", /user name or password/],
    ["https://example.com/#part", /fragment/],
    ["https://example.com/a b", /hidden characters/],
    ["https://exam\u200bple.com/", /hidden characters/],
    ["https://example.com/\u202egpj", /hidden characters/],
    [`https://example.com/${"x".repeat(2_029)}`, /at most 2048 characters, but has 2049/],
    // Short to the eye, and long in the form that name servers know.
    [`https://${manyLetters}.example/`, /host of at most/],
    [`https://${"a".repeat(1_000)}.example/`, /host of at most/],
    ["https://10.0.0.1/hook", /public address/],
    ["https://169.254.169.254/latest", /metadata/],
    ["https://[::ffff:10.0.0.1]/", /public address/],
    ["https://2130706433.example:99999/", /begins with https/],
    ["http://93.184.216.34/hook", /must begin with https/],
  ];
  for (const [callbackUrl, reason] of refusals) {
    const body = { ...minimalBody, callbackUrl };
    const { status, json } = await service.call("POST", "/v1/requests", { key, body });
    assert.equal(status, 400, String(callbackUrl));
    assert.equal(json.error.code, "validation_error");
    assert.match(json.error.message, /^callbackUrl: /);
    assert.match(json.error.message, reason);
  }
  const longest = `https://example.com/${"x".repeat(2_028)}`;
  for (const callbackUrl of [longest, null, "HTTPS://EXAMPLE.com", "https:\\\\example.com\\a"]) {
    const body = { ...minimalBody, callbackUrl };
    const { status } = await service.call("POST", "/v1/requests", { key, body });
    assert.equal(status, 201, String(callbackUrl));
  }
  const { rows } = await db.query(
    "select callback_url from approvals where callback_url like 'https://example.com/_' or callback_url = 'https://example.com/'",
  );
  assert.deepEqual(
    rows.map((row) => row.callback_url).sort(),
    ["https://example.com/", "https://example.com/a"],
    "kept in the one spelling that is called",
  );
});

test("without CALLBACK_ALLOW_CIDRS plain http and private addresses are refused, wherever webhooks may go", async () => {
  const node = await startNode(service.database, { webhookAllowed: loopbackCidrs });
  const { key } = await makeWorkspace(db);
  const inside = { ...minimalBody, callbackUrl: "https://127.0.0.1/resume" };
  const refused = await node.call("POST", "/v1/requests", { key, body: inside });
  assert.equal(refused.status, 400);
  assert.match(refused.json.error.message, /^callbackUrl: must lead to a public address/);
  const body = { ...minimalBody, callbackUrl: "http://workflows.example/resume" };
  const { status, json } = await node.call("POST", "/v1/requests", { key, body });
  assert.deepEqual([status, json.error.code], [400, "validation_error"]);
  assert.match(json.error.message, /^callbackUrl: must begin with https:\/\/\.$/);
  const stranger = await node.call("POST", "/v1/requests", { key: `${key.slice(0, -1)}x`, body });
  assert.equal(stranger.status, 401);
  await node.stop();
});

test("plain http goes only to addresses that the operator allows, whatever the name says later", async () => {
  const { workspaceId, ask, cancel } = await setUp();
  // By its name it may be anything when it is created. It is a public address by the time it is called.
  const id = await ask({ callbackUrl: "http://workflows.example/resume" });
  await db.query(
    "update approvals set callback_url = 'http://93.184.216.34/resume' where id = $1",
    [id],
  );
  await cancel(id);
  const [failed] = await untilState(workspaceId, "failed");
  assert.equal(failed?.last?.outcome, "address_not_allowed");
});

test("three attempts with one id and the same bytes are recorded, and then it is given up", async () => {
  const { workspaceId, receiver, ask, cancel } = await setUp((response) =>
    response.writeHead(500).end("broken"),
  );
  await cancel(await ask());
  const [failed] = await untilState(workspaceId, "failed");
  assert.ok(failed);
  const tried = await deliveries.listAttempts(db, failed);
  assert.deepEqual(
    tried.map(({ outcome, httpStatus, responseStart }) => [outcome, httpStatus, responseStart]),
    Array.from({ length: webhookAttemptsMax }, () => ["http_status", 500, "broken"]),
  );
  const ids = receiver.heard.map(({ headers }) => headers["x-service-delivery-id"]);
  assert.deepEqual(new Set(ids), new Set([failed.id]));
  assert.ok(receiver.heard.every(({ body }) => receiver.heard[0]?.body.equals(body)));
});

test("410 gives an address up at once, and a redirect is not followed", async () => {
  const gone = await setUp((response) => response.writeHead(410).end());
  await gone.cancel(await gone.ask());
  const [failed] = await untilState(gone.workspaceId, "failed");
  assert.equal(failed?.attempts, 1);
  const inside = await receive();
  const leading = await setUp((response) =>
    response.writeHead(302, { location: inside.url }).end(),
  );
  await leading.cancel(await leading.ask());
  const [redirected] = await untilState(leading.workspaceId, "failed");
  assert.equal(redirected?.last?.outcome, "redirected");
  assert.equal(inside.heard.length, 0);
});

test("one bad host of many requests is one mail a day to each owner, without its address", async () => {
  const { workspaceId, ask, cancel } = await setUp((response) => response.writeHead(404).end());
  await makeMember(db, { workspaceId, email: "owner@example.com", role: "owner" });
  const ids = await Promise.all(Array.from({ length: 20 }, () => ask()));
  await Promise.all(ids.map(cancel));
  await untilState(workspaceId, "failed", 20);
  const notices = async () => {
    const { rows } = await db.query(
      `select ev.detail, d.recipient, d.state from events ev
       join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id
       where ev.workspace_id = $1 and ev.kind = 'callback.failed'`,
      [workspaceId],
    );
    return rows;
  };
  const [notice, ...more] = await until(async () => {
    const rows = await notices();
    return rows[0]?.state === "delivered" && rows;
  }, "the owners' mail");
  assert.deepEqual(more, []);
  assert.equal(notice.recipient, "owner@example.com");
  const mail = kept.find((each) => JSON.stringify(each).includes("Callback failed"));
  assert.ok(mail);
  assert.match(JSON.stringify(mail), /127\[\.\]0\[\.\]0\[\.\]1:\d+/);
  assert.doesNotMatch(JSON.stringify(mail), new RegExp(token));
  // A day later the same host is news again; other hosts are, up to a bound.
  await db.query(
    "update callback_notices set told_at = told_at - interval '25 hours' where workspace_id = $1",
    [workspaceId],
  );
  for (let host = 0; host <= callbackNoticesPerDayMax; host += 1) {
    const other = await receive((response) => response.writeHead(404).end());
    await cancel(await ask({ callbackUrl: other.url }));
  }
  await untilState(workspaceId, "failed", 21 + callbackNoticesPerDayMax);
  assert.equal((await notices()).length, 1 + callbackNoticesPerDayMax);
});

test("however many hosts are given up at the same moment, owners hear of no more than so many a day", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const { rows } = await db.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, status, resolved_at, expires_at, callback_url)
       select $1, new_id('req_'), 'race', 'ann@example.com', 'CANCELLED', now_ms(), now_ms() + interval '1 day',
         'https://' || n || '.invalid/'
       from generate_series(1, 40) as n
       returning workspace_id, id, split_part(callback_url, '/', 3) as host
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.cancelled' from approval
       returning workspace_id, id, approval_id
     )
     insert into deliveries (workspace_id, event_id, channel, recipient, attempts, lease_token, leased_until)
     select event.workspace_id, event.id, 'callback', approval.host, 1, gen_random_uuid(), now() + interval '1 hour'
     from event join approval on approval.id = event.approval_id
     returning id, lease_token, recipient`,
    [workspaceId],
  );
  const end = {
    outcome: "http_status",
    httpStatus: 404,
    responseStart: "",
    durationMs: 1,
    next: { state: "failed" },
  } as const;
  const told = { event: "request.cancelled", reason: "It answered with HTTP status 404." };
  await Promise.all(
    rows.map(({ id: deliveryId, lease_token: leaseToken, recipient: host }) => {
      const lease = { workspaceId, deliveryId, leaseToken, number: 1 };
      return completeGivenUpCallback(db, [{ ...end, lease }], { ...told, host });
    }),
  );
  const { rows: notices } = await db.query(
    "select id from events where workspace_id = $1 and kind = 'callback.failed'",
    [workspaceId],
  );
  assert.equal(notices.length, callbackNoticesPerDayMax);
});

test("a thousand callbacks to a host that hangs delay neither another host nor another workspace", async () => {
  const held: ServerResponse[] = [];
  const stuck = await setUp((response) => void held.push(response));
  const host = new URL(stuck.receiver.url).host;
  await db.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, status, resolved_at, expires_at, callback_url)
       select $1, new_id('req_'), 'backlog', 'ann@example.com', 'CANCELLED', now_ms(), now_ms() + interval '1 day', $2
       from generate_series(1, 1000)
       returning workspace_id, id
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.cancelled' from approval
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, channel, recipient, due_at)
     select workspace_id, id, 'callback', $3, now_ms() - interval '1 hour' from event`,
    [stuck.workspaceId, stuck.receiver.url, host],
  );
  worker.wake();
  await until(() => held.length === callbacksPerHostMax, "the host to be called");
  const neighbour = await receive();
  const other = await setUp();
  for (let n = 1; n <= 10; n += 1) {
    await stuck.cancel(await stuck.ask({ callbackUrl: neighbour.url }));
    await until(() => neighbour.heard.length === n, "another host of the same workspace");
    await other.cancel(await other.ask());
    await until(() => other.receiver.heard.length === n, "another workspace");
  }
  assert.equal(held.length, callbacksPerHostMax, "no more are under way to one host");
  await db.query(
    "delete from deliveries where workspace_id = $1 and attempts = 0 and state = 'due'",
    [stuck.workspaceId],
  );
  for (const response of held) response.end();
});

test("a workspace that names a new host for each request keeps nobody from being served", async () => {
  const crowd = await makeWorkspace(db);
  // Their hosts come before all others in the order of the walk, and none of them is due yet.
  await db.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, status, resolved_at, expires_at, callback_url)
       select $1, new_id('req_'), 'crowd', 'ann@example.com', 'CANCELLED', now_ms(), now_ms() + interval '1 day',
         'https://0' || n || '.invalid/'
       from generate_series(1, $2::int) as n
       returning workspace_id, id, split_part(callback_url, '/', 3) as host
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.cancelled' from approval
       returning workspace_id, id, approval_id
     )
     insert into deliveries (workspace_id, event_id, channel, recipient, due_at)
     select event.workspace_id, event.id, 'callback', approval.host, now_ms() + interval '1 hour'
     from event join approval on approval.id = event.approval_id`,
    [crowd.id, 3 * callbackLanesMax],
  );
  const { workspaceId, ask, cancel } = await setUp();
  await cancel(await ask());
  await untilState(workspaceId, "delivered");
  await db.query("delete from deliveries where workspace_id = $1", [crowd.id]);
});

test("racing resolutions on two nodes make one callback", async () => {
  const other = await startNode(service.database, { callbackAllowed });
  const { workspaceId, key, receiver, ask } = await setUp();
  const ids = await Promise.all(Array.from({ length: 10 }, () => ask()));
  const racing = ids.flatMap((id) =>
    [service, other, service, other].map((node) =>
      node.call("POST", `/v1/requests/${id}/cancel`, { key }),
    ),
  );
  const won = (await Promise.all(racing)).filter(({ status }) => status === 200);
  assert.equal(won.length, ids.length);
  await untilState(workspaceId, "delivered", ids.length);
  assert.deepEqual(receiver.heard.map(({ json }) => json.data.id).sort(), ids.sort());
  await other.stop();
});

test("the secret is made once, however many need it first, and a rotated one signs beside the new for a while", async () => {
  const { workspaceId, receiver, ask, cancel } = await setUp();
  const id = await ask();
  await cancel(id);
  const shown = await Promise.all(Array.from({ length: 8 }, () => secretOf(workspaceId)));
  assert.equal(new Set(shown).size, 1);
  const [first = ""] = shown;
  assert.match(first, /^whsec_[A-Za-z0-9+/]{43}=$/);
  await untilState(workspaceId, "delivered");
  const rotated = await rotateCallbackSecret(db, testKeyring, workspaceId);
  assert.ok(!isRefusal(rotated));
  assert.notEqual(rotated.secret, first);
  assert.ok(rotated.oldSecretEndsAt);
  await cancel(await ask());
  await untilState(workspaceId, "delivered", 2);
  const [before, after] = receiver.heard;
  assert.ok(before && after);
  const signature = String(after.headers["x-service-signature"]);
  assert.ok(isSignedWith(rotated.secret, signature, after.body));
  assert.ok(isSignedWith(first, signature, after.body));
  assert.ok(
    !isSignedWith(rotated.secret, String(before.headers["x-service-signature"]), before.body),
  );
  await db.query(
    "update callback_secrets set expires_at = now_ms() where workspace_id = $1 and expires_at is not null",
    [workspaceId],
  );
  await cancel(await ask());
  await untilState(workspaceId, "delivered", 3);
  const last = receiver.heard.at(-1);
  assert.ok(last && !isSignedWith(first, String(last.headers["x-service-signature"]), last.body));
  const { rows } = await db.query(
    "select encode(sealed, 'escape') as text from callback_secrets where workspace_id = $1",
    [workspaceId],
  );
  for (const { text } of rows) assert.doesNotMatch(text, /whsec_/);
});

test("a failed callback is sent again on demand, alone or with all that failed", async () => {
  const answer = { code: 500 };
  const { workspaceId, receiver, ask, cancel } = await setUp((response) =>
    response.writeHead(answer.code).end(),
  );
  await cancel(await ask());
  await cancel(await ask());
  const [one] = await untilState(workspaceId, "failed", 2);
  answer.code = 200;
  const heardBefore = receiver.heard.length;
  assert.ok(!isRefusal(await resendDelivery(db, one?.id ?? "")));
  await until(() => receiver.heard.length === heardBefore + 1, "the one");
  const since = { workspaceId, endpointId: null, time: new Date(Date.now() - 60_000) };
  assert.deepEqual(await resendUnsuccessful(db, since), { resent: 1 });
  await untilState(workspaceId, "delivered", 2);
  assert.equal(receiver.heard.length, heardBefore + 2);
});

test("owners and admins see the address and the secret, viewers neither it nor its answers; each look is noted", async () => {
  // It answers with its own address, as receivers do that show what they got.
  const { workspaceId, receiver, ask, cancel } = await setUp((response, _heard, { url }) =>
    response.end(`resumed by ${url}`),
  );
  const id = await ask();
  await cancel(id);
  const [delivered] = await untilState(workspaceId, "delivered");
  const answer = `resumed by /hook/${token}?signature=${token}`;
  const { origin, host } = new URL(receiver.url);
  const cookies: Record<string, string> = {};
  for (const role of ["owner", "admin", "viewer"] as const) {
    const email = `${role}.${workspaceId}@example.com`;
    await makeMember(db, { workspaceId, email, role });
    cookies[role] = await signIn(service, email);
  }
  const look = async (role: string) => {
    const cookie = cookies[role] ?? "";
    const { json: request } = await callDashboard(
      service,
      "GET /workspaces/:workspaceId/requests/:requestId",
      { cookie, params: { workspaceId, requestId: id } },
    );
    const { json: delivery } = await callDashboard(
      service,
      "GET /workspaces/:workspaceId/deliveries/:deliveryId",
      { cookie, params: { workspaceId, deliveryId: delivered?.id ?? "" } },
    );
    return { request, delivery };
  };
  for (const [role, shown] of [
    ["owner", receiver.url],
    ["admin", receiver.url],
    ["viewer", `${origin}/…`],
  ] as const) {
    const { request, delivery } = await look(role);
    assert.equal(request.callbackUrl, shown);
    assert.equal(delivery.request.url, shown);
    const [{ responseStart, isResponseWithheld }] = delivery.attemptList;
    assert.deepEqual(
      [responseStart, isResponseWithheld],
      role === "viewer" ? [null, true] : [answer, undefined],
    );
    assert.deepEqual(delivery.destination, { kind: "callback", host });
    assert.deepEqual(
      request.history.filter((each: { isCallback?: true }) => each.isCallback),
      [
        {
          kind: "delivered",
          at: delivery.finishedAt,
          deliveryId: delivery.id,
          event: "request.cancelled",
          url: host,
          isCallback: true,
        },
      ],
    );
  }
  const { request, delivery } = await look("viewer");
  assert.doesNotMatch(JSON.stringify([request, delivery]), new RegExp(token));
  const askSecret = (role: string, way: "show" | "rotate") =>
    callDashboard(service, `POST /workspaces/:workspaceId/callback-secret/${way}`, {
      cookie: cookies[role] ?? "",
      params: { workspaceId },
    });
  const shown = await askSecret("admin", "show");
  assert.deepEqual(shown.json, { secret: await secretOf(workspaceId) });
  const rotated = await askSecret("owner", "rotate");
  assert.notEqual(rotated.json.secret, shown.json.secret);
  assert.equal((await askSecret("viewer", "show")).status, 403);
  assert.equal((await askSecret("viewer", "rotate")).status, 403);
  const { rows } = await db.query(
    "select actor_email, action from activity where workspace_id = $1 and action like 'callback%' order by id",
    [workspaceId],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ["callback_secret.shown", "callback_secret.shown", "callback_secret.rotated"],
  );
});
