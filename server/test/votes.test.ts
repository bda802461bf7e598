// Several people decide about one request: quorum, stages, edits, and who never counts. Real PostgreSQL, real links.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { deleteGroup } from "../src/operations/people/delete-group.ts";
import { addGroupMember, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { changeKey } from "../src/operations/workspaces/issue-key.ts";
import { findReviewer, listReviewers, openReview, postReview } from "./test-review.ts";
import { startService } from "./test-service.ts";
import { makeVoters, payment } from "./test-votes.ts";

let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { db, app } = service;
after(() => service.stop());

const ann = "ann@example.com";
const bob = "bob@example.com";
const cy = "cy@example.com";
const cfo = "cfo@example.com";

const { workspaceWith, ask, vote, read, sweep, mailsOf, passOn, beAway } = makeVoters(service);

test("two of three, then the CFO: the last vote of the last stage approves", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 2, then: [{ notify: cfo }] });
  assert.deepEqual(asked.approvals, {
    stage: 1,
    revision: 1,
    stages: [
      { notify: "group:finance", required: 2, votes: [] },
      { notify: cfo, required: 1, votes: [] },
    ],
  });
  const first = await vote(asked.id, ann, { note: "fine" });
  assert.equal(first.status, 200, first.text);
  assert.equal(first.json.outcome, null);
  assert.equal(first.json.voting?.you.kind, "voted");
  assert.equal((await vote(asked.id, ann)).json.error.code, "vote_refused");
  assert.deepEqual(
    (await listReviewers(db, asked.id)).map(({ email }) => email),
    [ann, bob, cy],
  );
  assert.equal((await vote(asked.id, cy)).status, 200);
  assert.equal((await read(key, asked.id)).approvals.stage, 2);
  assert.equal((await vote(asked.id, bob)).status, 409, "the first stage is complete");
  assert.equal((await vote(asked.id, cfo)).json.outcome?.status, "APPROVED");
  const done = await read(key, asked.id);
  assert.equal(done.status, "APPROVED");
  assert.equal(done.resolvedByEmail, cfo);
  assert.equal(done.modifiedPayload, null);
  assert.deepEqual(
    done.approvals.stages[0].votes.map(({ email }: { email: string }) => email),
    [ann, cy],
  );
  assert.equal(done.approvals.stages[0].votes[0].note, "fine");
});

test("an edit begins the next revision: earlier approvals no longer count, the editor's own does", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 2, then: [{ notify: cfo }] });
  await vote(asked.id, ann);
  await vote(asked.id, bob);
  const edited = await vote(asked.id, cfo, { edit: '{"amount":30000}' });
  assert.equal(edited.status, 200, edited.text);
  const after1 = await read(key, asked.id);
  assert.equal(after1.status, "PENDING");
  assert.deepEqual([after1.approvals.stage, after1.approvals.revision], [1, 2]);
  const { token } = await findReviewer(db, asked.id, { email: ann });
  const page = await openReview(app, token);
  assert.deepEqual(page.change?.payload, '{"amount":30000}');
  assert.equal(page.voting?.outdatedVote?.revision, 1);
  assert.equal((await vote(asked.id, cy)).status, 200);
  const last = await vote(asked.id, ann);
  assert.equal(last.json.outcome?.status, "APPROVED", last.text);
  const done = await read(key, asked.id);
  assert.deepEqual(done.modifiedPayload, { amount: 30000 });
  assert.equal(done.resolvedByEmail, ann);
});

test("one rejection ends the request at once", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 3 });
  await vote(asked.id, ann);
  assert.equal(
    (await vote(asked.id, bob, { verdict: "reject", note: "no" })).json.outcome?.status,
    "REJECTED",
  );
  const done = await read(key, asked.id);
  assert.equal(done.resolvedByEmail, bob);
  assert.equal(done.approvals.stages[0].votes[1].verdict, "reject");
});

test("the requester is never asked and never counts, in whatever spelling", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 2, requestedBy: "Ann+agent@Example.com" });
  assert.equal(asked.requestedBy, "Ann+agent@Example.com");
  assert.deepEqual(
    (await listReviewers(db, asked.id)).map(({ email }) => email),
    [bob, cy],
  );
  const refused = await service.call("POST", "/v1/requests", {
    key,
    body: { ...payment, quorum: 3, requestedBy: ann },
  });
  assert.deepEqual([refused.status, refused.json.error.code], [400, "quorum_unreachable"]);
  const alone = await service.call("POST", "/v1/requests", {
    key,
    body: { ...payment, notify: ann, requestedBy: ann },
  });
  assert.equal(alone.json.error.code, "quorum_unreachable");
});

test("who is needed later may not approve now", async () => {
  const { key } = await workspaceWith([ann, bob]);
  const asked = await ask(key, { quorum: 1, then: [{ notify: ann }] });
  const refused = await vote(asked.id, ann);
  assert.equal(refused.json.error.code, "needed_later");
  assert.match(
    refused.json.error.message,
    /needed in stage 2; somebody else of Finance must approve here/,
  );
  assert.equal((await vote(asked.id, bob)).status, 200);
  assert.equal((await vote(asked.id, ann)).json.outcome?.status, "APPROVED");
});

test("a removed member cannot vote, and the required number never falls", async () => {
  const { key, groupId } = await workspaceWith([ann, bob]);
  const asked = await ask(key, { quorum: 2 });
  const { token } = await findReviewer(db, asked.id, { email: ann });
  const removed = await removeGroupMember(db, groupId, ann);
  assert.ok(!isRefusal(removed), JSON.stringify(removed));
  await assert.rejects(openReview(app, token));
  assert.equal((await vote(asked.id, bob)).status, 200);
  assert.equal((await read(key, asked.id)).status, "PENDING");
});

test("a vote that is handed over is the colleague's, and counts for the one who had it", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 3 });
  assert.match(
    (await passOn(asked.id, ann, "eve@evil.example")).json.error.message,
    /not in this workspace/,
  );
  assert.match((await passOn(asked.id, ann, bob)).json.error.message, /too few different people/);
  const alone = await ask(key, { notify: "outside@example.com" });
  const passed = await passOn(alone.id, "outside@example.com", bob);
  assert.deepEqual(passed.json.voting?.you, { kind: "handed_over", to: bob });
  assert.deepEqual(await mailsOf(alone.id, "request.reassigned"), [bob]);
  assert.equal((await vote(alone.id, "outside@example.com")).status, 409);
  const plain = await read(key, alone.id);
  assert.equal("approvals" in plain, false, "a plain request's answer stays as it was");
  assert.equal((await vote(alone.id, bob)).json.outcome?.status, "APPROVED");
  const done = await read(key, alone.id);
  assert.deepEqual(
    [done.status, done.resolvedByEmail, "approvals" in done],
    ["APPROVED", bob, false],
  );
});

test("nothing goes back to somebody who passed it on, and a chain ends after three", async () => {
  const people = [ann, bob, cy, cfo, "dee@example.com"];
  const { key } = await workspaceWith(people);
  const asked = await ask(key, { notify: "out@example.com" });
  for (const [from = "", to = ""] of [
    ["out@example.com", ann],
    [ann, bob],
    [bob, cy],
  ]) {
    assert.equal((await passOn(asked.id, from, to)).status, 200, `${from} to ${to}`);
  }
  assert.match((await passOn(asked.id, cy, ann)).json.error.message, /passed it on/);
  assert.match((await passOn(asked.id, cy, cfo)).json.error.message, /3 times already/);
  const { token } = await findReviewer(db, asked.id, { email: cy });
  assert.deepEqual(await colleaguesOf(token), [ann, bob, cfo, "dee@example.com"].sort());
  const outside = await findReviewer(db, asked.id, { email: "out@example.com" });
  assert.deepEqual(await colleaguesOf(outside.token), []);
});

async function colleaguesOf(token: string): Promise<string[]> {
  const { json } = await postReview(app, `${token}/colleagues`, {});
  const { colleagues } = json as unknown as { colleagues: { email: string }[] };
  return colleagues.map(({ email }) => email);
}

test("nobody is offered for a hand-over whom the workspace doesn't let be asked", async () => {
  const outside = "eve@else.example";
  const { key, id: workspaceId } = await workspaceWith([ann, bob, outside]);
  const asked = await ask(key, { notify: ann });
  const { token } = await findReviewer(db, asked.id, { email: ann });
  assert.deepEqual(await colleaguesOf(token), [bob, outside]);
  await db.query(
    "update workspaces set approver_limit = 'domains', approver_domains = '{example.com}' where id = $1",
    [workspaceId],
  );
  assert.deepEqual(await colleaguesOf(token), [bob]);
  assert.match(
    (await passOn(asked.id, ann, outside)).json.error.message,
    /let eve@else\.example be asked/,
  );
});

test("instead of somebody who is away their delegate is asked, and both together count once", async () => {
  const { key, id: workspaceId } = await workspaceWith();
  await beAway(workspaceId, ann, cy);
  const asked = await ask(key, { quorum: 2 });
  assert.deepEqual(await mailsOf(asked.id, "request.created"), [bob, cy]);
  const { token } = await findReviewer(db, asked.id, { email: cy });
  assert.deepEqual((await openReview(app, token)).voting?.you, { kind: "asked", for: null });
  assert.equal((await vote(asked.id, cy)).status, 200);
  assert.equal((await vote(asked.id, cy)).json.error.code, "vote_refused");
  assert.equal((await vote(asked.id, ann)).json.outcome?.status, "APPROVED");
  const plain = await ask(key, { notify: ann });
  assert.deepEqual(await mailsOf(plain.id, "request.created"), [cy]);
  assert.equal((await vote(plain.id, cy)).json.outcome?.status, "APPROVED");
  assert.equal((await read(key, plain.id)).resolvedByEmail, cy);
});

test("when an absence begins, the delegate is asked once about what is open", async () => {
  const { key, id: workspaceId } = await workspaceWith();
  const plain = await ask(key, { notify: ann });
  const several = await ask(key, { quorum: 2, notify: "group:finance" });
  await beAway(workspaceId, ann, cfo);
  await sweep();
  assert.deepEqual(
    await mailsOf(plain.id, "request.reassigned"),
    [],
    "a delegate must be a colleague",
  );
  await db.query(
    "update absences set delegate_email = $2, begun_at = null where workspace_id = $1",
    [workspaceId, bob],
  );
  await sweep();
  await db.query("update absences set begun_at = null where workspace_id = $1", [workspaceId]);
  await sweep();
  assert.deepEqual(await mailsOf(plain.id, "request.reassigned"), [bob]);
  assert.deepEqual(await mailsOf(several.id, "request.reassigned"), [bob]);
  assert.equal((await vote(plain.id, bob)).json.outcome?.status, "APPROVED");
});

test("a stage that stays open asks more people, once, and never fewer approvals", async () => {
  const { key } = await workspaceWith([ann, bob]);
  const asked = await ask(key, { quorum: 2, escalate: [{ afterMinutes: 30, notify: cfo }] });
  await sweep();
  assert.deepEqual(await mailsOf(asked.id, "request.escalated"), []);
  await db.query("update steps set due_at = now_ms() where approval_id = $1", [asked.id]);
  await sweep();
  await sweep();
  assert.deepEqual(await mailsOf(asked.id, "request.escalated"), [cfo]);
  const { expiresAt } = await read(key, asked.id);
  assert.equal(expiresAt, asked.expiresAt);
  assert.equal((await vote(asked.id, cfo)).json.outcome, null);
  assert.equal((await vote(asked.id, ann)).json.outcome?.status, "APPROVED");
});

test("everybody who can still vote is reminded, once an hour", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 2 });
  await vote(asked.id, ann);
  const path = `/v1/requests/${asked.id}/remind`;
  const first = await service.call("POST", path, { key });
  assert.deepEqual([first.status, first.json.id], [200, asked.id]);
  assert.deepEqual(await mailsOf(asked.id, "request.reminded"), [bob, cy]);
  const second = await service.call("POST", path, { key });
  assert.deepEqual([second.status, second.json.error.code], [429, "reminded_recently"]);
  assert.ok(Number(second.headers["retry-after"]) > 3_000);
  await vote(asked.id, bob);
  assert.equal((await service.call("POST", path, { key })).json.error.code, "already_resolved");
});

test("when too few people are left, owners are told once and nothing is approved", async () => {
  const { key, groupId } = await workspaceWith([ann, bob]);
  const asked = await ask(key, { quorum: 2 });
  await removeGroupMember(db, groupId, ann);
  await sweep();
  await sweep();
  const { token } = await findReviewer(db, asked.id, { email: bob });
  assert.equal((await openReview(app, token)).voting?.isStuck, true);
  const { rows } = await db.query(
    "select from events where approval_id = $1 and kind = 'request.stuck'",
    [asked.id],
  );
  assert.equal(rows.length, 1);
  assert.equal((await read(key, asked.id)).status, "PENDING");
  await addGroupMember(db, groupId, ann);
  await sweep();
  assert.equal((await openReview(app, token)).voting?.isStuck, false, "ann is there again");
});

test("the owner of a key never approves what it asked for, whenever they became its owner", async () => {
  const { key, id: workspaceId } = await workspaceWith();
  const before = await ask(key, { notify: ann });
  const several = await ask(key, { quorum: 2 });
  await db.query("update api_keys set owner_email = $2 where workspace_id = $1", [
    workspaceId,
    "ANN@example.com",
  ]);
  assert.equal((await vote(before.id, ann)).json.error.code, "vote_refused");
  assert.equal((await vote(several.id, ann)).json.error.code, "vote_refused");
  const refused = await service.call("POST", "/v1/requests", {
    key,
    body: { ...payment, notify: ann },
  });
  assert.equal(refused.json.error.code, "quorum_unreachable");
  const group = await ask(key);
  assert.deepEqual(await mailsOf(group.id, "request.created"), [bob, cy]);
  assert.equal("approvals" in group, false);
});

test("somebody who becomes the key's owner no longer counts, and their stage is open again", async () => {
  const { key, keyId } = await workspaceWith();
  const asked = await ask(key, { quorum: 2, then: [{ notify: cfo }] });
  await vote(asked.id, ann);
  await vote(asked.id, bob);
  assert.equal((await read(key, asked.id)).approvals.stage, 2);
  await changeKey(db, { id: keyId, ownerEmail: "Ann+agent@example.com" });
  await sweep();
  assert.equal((await read(key, asked.id)).approvals.stage, 1);
  assert.deepEqual(await mailsOf(asked.id, "request.stage_entered"), [cfo, cy]);
  const { token } = await findReviewer(db, asked.id, { email: cy });
  const counted = async () =>
    (await openReview(app, token)).voting?.stages[0]?.approvals.map(({ email }) => email);
  assert.deepEqual(await counted(), [bob], "the page counts by the same rule");
  // The key goes to somebody else, and still she has asked for it.
  await changeKey(db, { id: keyId, ownerEmail: null });
  await sweep();
  assert.equal((await vote(asked.id, cfo)).json.error.code, "vote_refused");
  assert.equal((await vote(asked.id, cy)).json.outcome, null);
  assert.equal((await vote(asked.id, cfo)).json.outcome?.status, "APPROVED");
  await changeKey(db, { id: keyId, ownerEmail: bob });
  assert.deepEqual(await counted(), [bob, cy], "a later owner changes nothing about the past");
});

test("somebody whom a step will ask votes only for whom they may until then", async () => {
  const { key } = await workspaceWith();
  const outside = "outside@example.com";
  const escalate = [{ afterMinutes: 30, notify: ann }];
  const asked = await ask(key, { notify: outside, quorum: 2, escalate });
  assert.equal((await passOn(asked.id, outside, bob)).status, 200);
  assert.equal((await passOn(asked.id, bob, ann)).status, 409, "two are needed");
  const wide = await ask(key, {
    notify: outside,
    quorum: 1,
    escalate: [{ afterMinutes: 30, notify: "group:finance" }],
  });
  assert.equal((await passOn(wide.id, outside, ann)).status, 200);
  assert.equal((await vote(wide.id, ann)).json.outcome?.status, "APPROVED");
  const done = await read(key, wide.id);
  assert.equal(done.approvals.stages[0].votes[0].for, outside);
});

test("the agent's value again is the agent's text again, to the byte", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 2 });
  await vote(asked.id, ann, { edit: '{"amount":1}' });
  await vote(asked.id, bob, { edit: '{ "amount": 40000 }' });
  const { token } = await findReviewer(db, asked.id, { email: cy });
  assert.equal((await openReview(app, token)).change?.payload, '{"amount":40000}');
  assert.equal((await vote(asked.id, cy)).json.outcome?.status, "APPROVED");
  assert.equal((await read(key, asked.id)).modifiedPayload, null);
});

test("a workspace limits whom agents may ask", async () => {
  const { key, id: workspaceId } = await workspaceWith();
  await db.query("update workspaces set approver_limit = 'members' where id = $1", [workspaceId]);
  const stranger = { ...payment, notify: "eve@evil.example" };
  const refused = await service.call("POST", "/v1/requests", { key, body: stranger });
  assert.deepEqual([refused.status, refused.json.error.code], [403, "approver_not_allowed"]);
  const later = { ...payment, then: [{ notify: "eve@evil.example" }] };
  assert.match(
    (await service.call("POST", "/v1/requests", { key, body: later })).json.error.message,
    /^then\[0\]\.notify/,
  );
  await ask(key, { notify: ann });
  await db.query(
    "update workspaces set approver_limit = 'domains', approver_domains = '{example.com}' where id = $1",
    [workspaceId],
  );
  await ask(key);
  assert.equal((await service.call("POST", "/v1/requests", { key, body: stranger })).status, 403);
});

test("PostgreSQL itself refuses an approval by fewer people, whoever asks for it", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 2 });
  await vote(asked.id, ann);
  await assert.rejects(
    db.query(
      `update approvals set status = 'APPROVED', resolved_at = now_ms(), resolved_by_email = $2 where id = $1`,
      [asked.id, ann],
    ),
    /has not the votes for APPROVED/,
  );
});

test("a caller who waits and names the version they have is told of each vote", async () => {
  const { key } = await workspaceWith();
  const asked = await ask(key, { quorum: 2 });
  const path = `/v1/requests/${asked.id}`;
  const { headers } = await service.call("GET", path, { key });
  const waiting = service.call("GET", `${path}?wait=30`, {
    key,
    headers: { "if-none-match": headers.etag ?? "" },
  });
  await vote(asked.id, ann);
  const news = await waiting;
  assert.deepEqual(
    [news.status, news.json.status, news.json.approvals.stages[0].votes.length],
    [200, "PENDING", 1],
  );
});

test("others that wait are those on which the reader can still vote", async () => {
  const { key } = await workspaceWith();
  const first = await ask(key, { quorum: 2 });
  const second = await ask(key, { quorum: 1, then: [{ notify: ann }], notify: bob });
  const third = await ask(key, { quorum: 2 });
  const { token } = await findReviewer(db, first.id, { email: ann });
  assert.equal(
    (await openReview(app, token)).othersWaiting,
    1,
    "the stage of the second isn't open",
  );
  await vote(second.id, bob);
  assert.equal((await openReview(app, token)).othersWaiting, 2);
  await vote(third.id, ann);
  assert.equal((await openReview(app, token)).othersWaiting, 1, "a vote is given");
});

test("a deleted group cancels what nobody can decide, and nothing that another stage decides", async () => {
  const { key, groupId } = await workspaceWith();
  const alone = await ask(key, { quorum: 2 });
  const second = await ask(key, { quorum: 1, then: [{ notify: cfo }] });
  await vote(second.id, ann);
  const deleted = await deleteGroup(db, groupId);
  assert.ok(!isRefusal(deleted), JSON.stringify(deleted));
  await sweep();
  assert.equal((await read(key, alone.id)).status, "CANCELLED");
  assert.equal((await vote(second.id, cfo)).json.outcome?.status, "APPROVED");
});

test("who takes a vote over and is then away has a delegate for it, too", async () => {
  const { key, id: workspaceId } = await workspaceWith();
  const asked = await ask(key, { notify: "outside@example.com" });
  assert.equal((await passOn(asked.id, "outside@example.com", ann)).status, 200);
  await beAway(workspaceId, ann, bob);
  await sweep();
  assert.deepEqual(await mailsOf(asked.id, "request.reassigned"), [ann, bob]);
  assert.equal((await vote(asked.id, bob)).json.outcome?.status, "APPROVED");
});
