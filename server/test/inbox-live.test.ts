// A page that listens is told when its inbox may differ, whichever node changed it. How soon is not asserted here: the test
// of one request everywhere prints it for link, inbox and Slack.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { inboxListenersPerPersonMax } from "../src/domain/channels/inbox-limits.ts";
import { until } from "./patience.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { callInbox, decideInInbox } from "./test-inbox.ts";
import {
  makeWorkspace,
  minimalBody,
  startNode,
  startService,
  type TestNode,
} from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const other = await startNode(service.database);
const { db } = service;
await service.app.listen({ port: 0, host: "127.0.0.1" });
after(async () => {
  await other.stop();
  await service.stop();
});
const voters = makeVoters(service);

function somebody(name = "ann"): string {
  return `${name}-${randomUUID().slice(0, 8)}@example.com`;
}

async function ask(key: string, notify: string): Promise<string> {
  const body = { ...minimalBody, notify };
  const reply = await other.call("POST", "/v1/requests", { key, body });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

/** A browser's stream: what it was told, and whether it is over. */
async function open(cookie: string, node: TestNode = service) {
  const { port } = node.app.server.address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(
      `http://127.0.0.1:${port}/inbox/api/events`,
      { headers: { cookie }, agent: false },
      resolve,
    ).on("error", reject);
  });
  let text = "";
  let isOver = false;
  response.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  response.on("error", () => {});
  response.once("close", () => {
    isOver = true;
  });
  const changes = () => text.split("event: changed\ndata: \n\n").length - 1;
  return {
    response,
    changes,
    text: () => text,
    isOver: () => isOver,
    /** Until it was told once more than before. */
    heard: (before: number) => until(() => changes() > before, "news of the inbox"),
    leave: () => response.destroy(),
  };
}

async function listenAs(email: string) {
  const cookie = await signIn(service, email);
  const stream = await open(cookie);
  assert.equal(stream.response.statusCode, 200);
  await stream.heard(0);
  return { cookie, ...stream };
}

async function waitingOf(cookie: string): Promise<string[]> {
  const { json } = await callInbox(service, "GET /list", { cookie });
  return json.waiting.map(({ requestId }: { requestId: string }) => requestId);
}

test("a new request on another node is told, and one for somebody else is not", async (t) => {
  const [ann, bob] = [somebody("ann"), somebody("bob")];
  const { key } = await makeWorkspace(db);
  await ask(key, ann);
  await ask(key, bob);
  const [hers, his] = [await listenAs(ann), await listenAs(bob)];
  assert.match(String(hers.response.headers["content-type"]), /^text\/event-stream/);
  assert.equal(hers.response.headers["cache-control"], "no-store");
  const [before, unchanged] = [hers.changes(), his.changes()];
  const began = performance.now();
  const id = await ask(key, ann.toUpperCase());
  await hers.heard(before);
  t.diagnostic(`told after ${Math.round(performance.now() - began)} ms`);
  assert.ok((await waitingOf(hers.cookie)).includes(id));
  assert.equal(his.changes(), unchanged);
  hers.leave();
  his.leave();
});

test("a decision by link, an end by time and a cancellation are told", async () => {
  const ann = somebody();
  const { key } = await makeWorkspace(db);
  const ids = [await ask(key, ann), await ask(key, ann), await ask(key, ann)];
  const hers = await listenAs(ann);
  const [decided = "", cancelled = "", expired = ""] = ids;
  let before = hers.changes();
  await voters.vote(decided, ann);
  await hers.heard(before);
  before = hers.changes();
  await other.call("POST", `/v1/requests/${cancelled}/cancel`, { key });
  await hers.heard(before);
  before = hers.changes();
  await db.query("update approvals set expires_at = now_ms() where id = $1", [expired]);
  await other.call("GET", `/v1/requests/${expired}`, { key });
  await hers.heard(before);
  assert.deepEqual(await waitingOf(hers.cookie), []);
  hers.leave();
});

test("a colleague's vote, and a vote that was passed on, are told to those who voted and to those who wait", async () => {
  const [ann, bob, cy] = [somebody("ann"), somebody("bob"), somebody("cy")];
  const dee = somebody("dee");
  const { id: workspaceId, key } = await voters.workspaceWith([ann, bob, cy]);
  await makeMember(db, { workspaceId, email: dee, role: "viewer" });
  const { id } = await voters.ask(key, { quorum: 3 });
  const [hers, his] = [await listenAs(ann), await listenAs(bob)];
  const { json } = await callInbox(service, "GET /list", { cookie: hers.cookie });
  const [before, between] = [hers.changes(), his.changes()];
  await decideInInbox(other, hers.cookie, { id: json.waiting[0].id, verdict: "approve" });
  await Promise.all([hers.heard(before), his.heard(between)]);
  const voted = hers.changes();
  const passed = await voters.passOn(id, cy, dee);
  assert.equal(passed.status, 200, passed.text);
  await hers.heard(voted);
  hers.leave();
  his.leave();
});

test("a create whose transaction ends late is told, though a newer one was told before", async () => {
  const ann = somebody();
  const { id: workspaceId, key } = await makeWorkspace(db);
  await ask(key, ann);
  const slow = await db.connect();
  await slow.query("begin");
  const { rows } = await slow.query(
    `insert into approvals (workspace_id, id, summary, approver_email, expires_at)
     values ($1, new_id('req_'), 'Late', $2, now() + interval '1 hour') returning id`,
    [workspaceId, ann],
  );
  await slow.query(
    `insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
     values ($1, $2, $3, 'k', '', sha256($2::text::bytea))`,
    [workspaceId, rows[0].id, ann],
  );
  const hers = await listenAs(ann);
  let before = hers.changes();
  await ask(key, ann);
  await hers.heard(before);
  before = hers.changes();
  await slow.query("commit");
  slow.release();
  await hers.heard(before);
  assert.ok((await waitingOf(hers.cookie)).includes(rows[0].id));
  hers.leave();
});

test("signing out ends the stream, and so does a session that is ended elsewhere", async () => {
  const ann = somebody();
  const { key } = await makeWorkspace(db);
  await ask(key, ann);
  const [one, two] = [await listenAs(ann), await listenAs(ann)];
  await callDashboard(other, "POST /sign-out", { cookie: one.cookie });
  await until(() => one.isOver(), "the end of the stream");
  assert.equal(two.isOver(), false);
  await callDashboard(other, "POST /me/sessions/revoke-others", {
    cookie: await signIn(service, ann),
  });
  await until(() => two.isOver(), "the end of the other stream");
  const after = await open(two.cookie);
  assert.equal(after.response.statusCode, 401);
});

test("a person has so many streams, one more is refused, and one that left makes room", async () => {
  const ann = somebody();
  const { key } = await makeWorkspace(db);
  await ask(key, ann);
  const cookie = await signIn(service, ann);
  const streams = await Promise.all(
    Array.from({ length: inboxListenersPerPersonMax }, () => open(cookie)),
  );
  const refused = await open(cookie);
  assert.equal(refused.response.statusCode, 429);
  assert.ok(Number(refused.response.headers["retry-after"]) > 0);
  const before = service.inboxWatch.listening;
  streams[0]?.leave();
  await until(() => service.inboxWatch.listening === before - 1, "a place that is free again");
  const next = await open(cookie);
  assert.equal(next.response.statusCode, 200);
  for (const stream of [...streams, next]) stream.leave();
  await until(() => service.inboxWatch.listening === 0, "nobody who listens");
});

test("a reader that takes nothing is told once of many changes, and nothing piles up for it", async () => {
  const ann = somebody();
  const { key } = await makeWorkspace(db);
  await ask(key, ann);
  const hers = await listenAs(ann);
  hers.response.pause();
  for (let at = 0; at < 5; at += 1) await ask(key, ann);
  hers.response.resume();
  const before = hers.changes();
  await ask(key, ann);
  await hers.heard(before);
  assert.ok(hers.text().length < 1_000);
  hers.leave();
});

test("who isn't signed in hears nothing, and a HEAD opens no stream", async () => {
  assert.equal((await callInbox(service, "GET /events")).status, 401);
  const ann = somebody();
  const { key } = await makeWorkspace(db);
  await ask(key, ann);
  const cookie = await signIn(service, ann);
  const before = service.inboxWatch.listening;
  const head = await callInbox(service, "HEAD /events", { cookie });
  assert.deepEqual([head.status, head.text], [200, ""]);
  assert.equal(service.inboxWatch.listening, before);
});

test("a node that stops ends its streams, and stops at once", async () => {
  const node = await startNode(service.database);
  await node.app.listen({ port: 0, host: "127.0.0.1" });
  const ann = somebody();
  const { key } = await makeWorkspace(db);
  await ask(key, ann);
  const stream = await open(await signIn(node, ann), node);
  await stream.heard(0);
  await node.stop();
  await until(() => stream.isOver(), "the end of the stream");
  assert.equal(node.inboxWatch.listening, 0);
});
