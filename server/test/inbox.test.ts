// The inbox: what waits for a person in all workspaces, what is over, and deciding there. Everything is by the address
// that they have proven, and nobody else's.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { sessionCallsBurstMax } from "../src/domain/limits.ts";
import type { InboxPastRow, InboxRow } from "../src/wire/inbox-contract.ts";
import { makeMember, signIn } from "./test-dashboard.ts";
import { callInbox, decideInInbox, type InboxReply, openPlace } from "./test-inbox.ts";
import { digestOfReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());
const voters = makeVoters(service);

/** An address of its own for each test, since an inbox spans all workspaces. */
function somebody(name = "ann"): string {
  return `${name}-${randomUUID().slice(0, 8)}@example.com`;
}

async function ask(key: string, body: object): Promise<string> {
  const reply = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, ...body },
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

async function listOf(cookie: string): Promise<InboxRow[]> {
  const { status, json, text } = await callInbox(service, "GET /list", { cookie });
  assert.equal(status, 200, text);
  return json.waiting;
}

async function pastOf(cookie: string): Promise<InboxPastRow[]> {
  const { status, json, text } = await callInbox(service, "GET /past", { cookie });
  assert.equal(status, 200, text);
  return json.past;
}

const idsOf = (rows: { requestId: string }[]) => rows.map(({ requestId }) => requestId);

test("everything that waits is listed, in all workspaces, the earliest deadline first", async () => {
  const email = somebody();
  const [one, two] = [
    await makeWorkspace(db, { name: "One" }),
    await makeWorkspace(db, { name: "Two" }),
  ];
  const late = await ask(one.key, { notify: email, ttlMinutes: 90, agentName: "payer" });
  const soon = await ask(two.key, { notify: email.toUpperCase(), ttlMinutes: 5 });
  const middle = await ask(one.key, { notify: email, ttlMinutes: 30, agentName: "payer" });
  await ask(one.key, { notify: somebody("else") });
  const cookie = await signIn(service, email);
  const { json } = await callInbox(service, "GET /list", { cookie });
  assert.deepEqual(idsOf(json.waiting), [soon, middle, late]);
  assert.deepEqual([json.email, json.isMore], [email, false]);
  assert.ok(Math.abs(Date.parse(json.now) - Date.now()) < 60_000);
  const [first, second, third] = json.waiting as InboxRow[];
  assert.deepEqual(
    [first?.workspaceName, second?.workspaceName, second?.agentName, second?.progress],
    ["Two", "One", "payer", null],
  );
  assert.equal(second?.agent, third?.agent);
  assert.notEqual(first?.agent, second?.agent);
  assert.ok(!JSON.stringify(json).includes(one.keyId));
});

test("deciding in the inbox counts like deciding by the link, and is then over", async () => {
  const email = somebody();
  const { key } = await makeWorkspace(db, { reviewCode: true });
  const id = await ask(key, { notify: email, payload: { amount: 1 } });
  const cookie = await signIn(service, email);
  const [row] = await listOf(cookie);
  assert.ok(row !== undefined);
  // The code in the mail is for its link.
  const status = await callInbox(service, `POST /reviews/${row.id}/status`, { cookie });
  assert.deepEqual([status.status, status.json.outcome], [200, null]);
  const decided = await decideInInbox(service, cookie, { id: row.id, verdict: "approve" });
  assert.equal(decided.status, 200, decided.text);
  const read = await service.call("GET", `/v1/requests/${id}`, { key });
  assert.deepEqual([read.json.status, read.json.resolvedByEmail], ["APPROVED", email]);
  assert.deepEqual(await listOf(cookie), []);
  const [over] = await pastOf(cookie);
  assert.deepEqual(
    [over?.requestId, over?.outcome?.status, over?.outcome?.isYours],
    [id, "APPROVED", true],
  );
  const again = await decideInInbox(service, cookie, { id: row.id, verdict: "reject" });
  assert.deepEqual([again.status, again.json.error.code], [409, "already_resolved"]);
});

test("another's place looks like one that is not there, whatever is asked of it", async () => {
  const email = somebody();
  const { id: workspaceId, key } = await makeWorkspace(db);
  const requestId = await ask(key, { notify: email });
  const mine = await signIn(service, email);
  const [row] = await listOf(mine);
  const review = await openPlace(service, mine, row?.id ?? "");
  const stranger = somebody("eve");
  await ask(key, { notify: stranger });
  // Not even owners of the workspace decide for others.
  await makeMember(db, { workspaceId, email: stranger, role: "owner" });
  const theirs = await signIn(service, stranger);
  assert.ok(!idsOf(await listOf(theirs)).includes(requestId));
  const body = { verdict: "approve", digest: digestOfReview(review), ticket: review.ticket };
  for (const name of ["open", "status", "decision", "hand-over", "colleagues"]) {
    const answers: InboxReply[] = [];
    for (const id of [row?.id, "rev_00000000000000000000000000000000", "x", "%00", "rev_%27"]) {
      answers.push(
        await callInbox(service, `POST /reviews/${id}/${name}`, { cookie: theirs, body }),
      );
    }
    assert.deepEqual(
      answers.map(({ status, json }) => [name, status, json]),
      answers.map(() => [name, 404, answers[0]?.json]),
    );
    assert.equal(answers[0]?.json.error.code, "not_found");
  }
  assert.equal(
    (await callInbox(service, `GET /find/${requestId}`, { cookie: theirs })).status,
    404,
  );
  const found = await callInbox(service, `GET /find/${requestId}`, { cookie: mine });
  assert.deepEqual([found.status, found.json], [200, { id: row?.id }]);
  for (const hostile of ["x", "%00", "req_%25", "..%2f..", "a".repeat(3_000)]) {
    const answer = await callInbox(service, `GET /find/${hostile}`, { cookie: mine });
    assert.equal(answer.status, 404, hostile);
  }
  assert.equal(
    (await service.call("GET", `/v1/requests/${requestId}`, { key })).json.status,
    "PENDING",
  );
});

test("who is not signed in, or calls from another site, gets nothing and changes nothing", async () => {
  const email = somebody();
  const { key } = await makeWorkspace(db);
  const requestId = await ask(key, { notify: email });
  const cookie = await signIn(service, email);
  const [row] = await listOf(cookie);
  const { id = "" } = row ?? {};
  const review = await openPlace(service, cookie, id);
  const body = { verdict: "approve", digest: digestOfReview(review), ticket: review.ticket };
  const reads = ["GET /list", "GET /past", `GET /find/${requestId}`];
  const acts = ["open", "status", "decision", "hand-over", "colleagues"].map(
    (name) => `POST /reviews/${id}/${name}`,
  );
  for (const name of [...reads, ...acts]) {
    for (const none of [undefined, "__Host-countersign=made-up", `${cookie}; ${cookie}`]) {
      const reply = await callInbox(service, name, {
        body,
        ...(none === undefined ? {} : { cookie: none }),
      });
      assert.deepEqual([name, reply.status, reply.json.error.code], [name, 401, "signed_out"]);
    }
  }
  const elsewhere = [
    {},
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { origin: "https://approvals.example", "sec-fetch-site": "same-site" },
    { origin: "null", "sec-fetch-site": "same-origin" },
  ];
  for (const name of acts) {
    for (const headers of elsewhere) {
      const reply = await callInbox(service, name, { cookie, body, headers });
      assert.deepEqual([name, reply.status, reply.json.error.code], [name, 403, "cross_origin"]);
    }
  }
  for (const name of acts) {
    for (const method of ["GET", "HEAD"]) {
      await callInbox(service, name.replace("POST", method), { cookie });
    }
  }
  assert.equal(
    (await service.call("GET", `/v1/requests/${requestId}`, { key })).json.status,
    "PENDING",
  );
});

test("the page holds nothing of anybody, and keeps foreign content out", async () => {
  for (const path of ["/inbox", "/inbox/requests/req_1", "/inbox/settings"]) {
    const reply = await service.app.inject({ url: path });
    assert.equal(reply.statusCode, 200, path);
    assert.match(reply.body, /assets\/inbox-abc\.js/);
    const policy = String(reply.headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'; script-src 'self';/);
    assert.match(policy, /manifest-src 'self'; worker-src 'self'/);
    assert.equal(reply.headers["cache-control"], "no-store");
    assert.equal(reply.headers["referrer-policy"], "no-referrer");
  }
  const unknown = await service.app.inject({ url: "/inbox/api/nothing" });
  assert.deepEqual([unknown.statusCode, unknown.json().error.code], [404, "not_found"]);
});

test("who was removed from the group that was asked sees nothing of it any more", async () => {
  const [ann, bob] = [somebody("ann"), somebody("bob")];
  const { id: workspaceId, key, groupId } = await voters.workspaceWith([ann, bob]);
  for (const quorum of [1, 2]) {
    const { id } = await voters.ask(key, quorum === 1 ? {} : { quorum });
    const cookie = await signIn(service, ann);
    const row = (await listOf(cookie)).find(({ requestId }) => requestId === id);
    assert.equal(row?.groupName, "Finance");
    const progress = { stage: 1, stages: 1, approvals: 0, required: 2 };
    assert.deepEqual(row.progress, quorum === 1 ? null : progress);
    const leave =
      "delete from group_members where workspace_id = $1 and group_id = $2 and email = $3";
    await db.query(leave, [workspaceId, groupId, ann]);
    assert.ok(!idsOf(await listOf(cookie)).includes(id));
    assert.ok(!idsOf(await pastOf(cookie)).includes(id));
    const status = await callInbox(service, `POST /reviews/${row.id}/status`, { cookie });
    assert.equal(status.status, 404);
    assert.equal((await callInbox(service, `GET /find/${id}`, { cookie })).status, 404);
    await db.query(
      "insert into group_members (workspace_id, group_id, email) values ($1, $2, $3)",
      [workspaceId, groupId, ann],
    );
    assert.ok(idsOf(await listOf(cookie)).includes(id));
  }
});

test("after a vote the request waits for others, and their vote ends it for all of them", async () => {
  const [ann, bob] = [somebody("ann"), somebody("bob")];
  const { key } = await voters.workspaceWith([ann, bob]);
  const { id } = await voters.ask(key, { quorum: 2 });
  const [hers, his] = [await signIn(service, ann), await signIn(service, bob)];
  const [mine] = await listOf(hers);
  const voted = await decideInInbox(service, hers, { id: mine?.id ?? "", verdict: "approve" });
  assert.equal(voted.status, 200, voted.text);
  assert.deepEqual(await listOf(hers), []);
  assert.deepEqual(
    (await pastOf(hers)).map(({ requestId, outcome }) => [requestId, outcome]),
    [[id, null]],
  );
  const [theirs] = await listOf(his);
  assert.deepEqual(theirs?.progress, { stage: 1, stages: 1, approvals: 1, required: 2 });
  assert.deepEqual(await pastOf(his), []);
  await decideInInbox(service, his, { id: theirs?.id ?? "", verdict: "approve" });
  const [over] = await pastOf(hers);
  assert.equal(over?.outcome?.status, "APPROVED");
  const { rows } = await db.query("select distinct via from votes where approval_id = $1", [id]);
  assert.deepEqual(rows, [{ via: "inbox" }]);
});

test("a stand-in sees for whom, and who is asked in a later stage sees nothing before it opens", async () => {
  const [ann, bob, cfo] = [somebody("ann"), somebody("bob"), somebody("cfo")];
  const { id: workspaceId, key } = await voters.workspaceWith([ann, bob]);
  await makeMember(db, { workspaceId, email: cfo, role: "viewer" });
  const { id } = await voters.ask(key, { then: [{ notify: cfo, quorum: 1 }] });
  const cookie = await signIn(service, cfo);
  assert.deepEqual([await listOf(cookie), await pastOf(cookie)], [[], []]);
  await voters.passOn(id, ann, cfo);
  const [row] = await listOf(cookie);
  assert.deepEqual([row?.requestId, row?.for, row?.progress?.stages], [id, ann, 2]);
  const passed = await pastOf(await signIn(service, ann));
  assert.deepEqual(idsOf(passed), [id]);
});

test("who owns the key that asks is not told that its requests wait for them, and can't decide them", async () => {
  const email = somebody();
  const { id: workspaceId, key, keyId } = await makeWorkspace(db);
  const id = await ask(key, { notify: email });
  const cookie = await signIn(service, email);
  const [row] = await listOf(cookie);
  await db.query("update api_keys set owner_email = $3 where workspace_id = $1 and id = $2", [
    ...[workspaceId, keyId, email],
  ]);
  assert.deepEqual(await listOf(cookie), []);
  const refused = await decideInInbox(service, cookie, { id: row?.id ?? "", verdict: "approve" });
  assert.deepEqual([refused.status, refused.json.error.code], [409, "vote_refused"]);
  assert.equal((await service.call("GET", `/v1/requests/${id}`, { key })).json.status, "PENDING");
});

test("what is overdue is never shown as waiting, even before anybody has expired it", async () => {
  const email = somebody();
  const { key } = await makeWorkspace(db);
  const id = await ask(key, { notify: email });
  const cookie = await signIn(service, email);
  assert.equal((await listOf(cookie)).length, 1);
  await db.query("update approvals set expires_at = now_ms() where id = $1", [id]);
  assert.deepEqual(await listOf(cookie), []);
  const [over] = await pastOf(cookie);
  assert.deepEqual([over?.requestId, over?.outcome?.status], [id, "EXPIRED"]);
});

test("what one node decides is over on the other at once", async () => {
  const email = somebody();
  const { key } = await makeWorkspace(db);
  await ask(key, { notify: email });
  const other = await startNode(service.database);
  try {
    const cookie = await signIn(other, email);
    const [row] = await listOf(cookie);
    const decided = await decideInInbox(other, cookie, { id: row?.id ?? "", verdict: "reject" });
    assert.equal(decided.status, 200, decided.text);
    assert.deepEqual(await listOf(cookie), []);
  } finally {
    await other.stop();
  }
});

test("a large edit is read for the person who was asked, and for nobody else", async () => {
  const email = somebody();
  const { key } = await makeWorkspace(db);
  const id = await ask(key, { notify: email, payload: { text: "a" } });
  const cookie = await signIn(service, email);
  const [row] = await listOf(cookie);
  const review = await openPlace(service, cookie, row?.id ?? "");
  const edit = { text: "b".repeat(200_000) };
  const body = { verdict: "approve", digest: digestOfReview(review), ticket: review.ticket, edit };
  const path = `POST /reviews/${row?.id}/decision`;
  const unknown = await callInbox(service, path, { body });
  assert.equal(unknown.status, 401);
  const eve = somebody("eve");
  await ask(key, { notify: eve });
  const foreign = await callInbox(service, path, { body, cookie: await signIn(service, eve) });
  assert.equal(foreign.status, 404);
  const decided = await callInbox(service, path, { body, cookie });
  assert.equal(decided.status, 200, decided.text.slice(0, 300));
  const read = await service.call("GET", `/v1/requests/${id}`, { key });
  assert.deepEqual(read.json.effectivePayload, edit);
});

test("a session that asks without end is told to wait, and another one is not", async () => {
  const [ann, bob] = [somebody("ann"), somebody("bob")];
  const { key } = await makeWorkspace(db);
  for (const email of [ann, bob]) await ask(key, { notify: email });
  // Time stands still, so nothing is forgotten.
  const node = await startNode(service.database, { clock: () => 0 });
  try {
    const [hers, his] = [await signIn(node, ann), await signIn(node, bob)];
    const statuses: number[] = [];
    for (let at = 0; at <= sessionCallsBurstMax; at += 1) {
      statuses.push((await callInbox(node, "HEAD /list", { cookie: hers })).status);
    }
    assert.deepEqual(
      [statuses.slice(0, -1).every((status) => status === 200), statuses.at(-1)],
      [true, 429],
    );
    const refused = await callInbox(node, "GET /list", { cookie: hers });
    assert.equal(refused.json.error.code, "rate_limited");
    assert.ok(Number(refused.headers["retry-after"]) >= 1);
    assert.equal((await callInbox(node, "GET /list", { cookie: his })).status, 200);
  } finally {
    await node.stop();
  }
});
