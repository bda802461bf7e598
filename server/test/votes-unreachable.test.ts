// Requests whose people become too few: nobody gets there by votes and hand-overs that each looked right, and whoever
// else takes people away, the owners of the workspace hear of it once and the page says so.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { findReviewer, openReview } from "./test-review.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { app, db } = service;
after(() => service.stop());

const { workspaceWith, ask, vote, read, sweep, mailsOf, passOn, beAway } = makeVoters(service);

const ann = "ann@example.com";
const bob = "bob@example.com";
const cy = "cy@example.com";
const dee = "dee@example.com";
const outside = "outside@example.com";

async function addGroup(workspaceId: string, key: string, members: readonly string[]) {
  const group = await createGroup(db, { workspaceId, key, name: key, members: [...members] });
  assert.ok(!isRefusal(group), JSON.stringify(group));
  return group.id;
}

test("a vote is not handed over to somebody whom a later stage needs, whoever may vote for them here", async () => {
  const { id: workspaceId, key } = await workspaceWith([ann, bob]);
  await addGroup(workspaceId, "helpers", [cy]);
  const { id } = await ask(key, { quorum: 1, then: [{ notify: ann }] });
  assert.equal((await passOn(id, ann, cy)).status, 200);
  const refused = await passOn(id, bob, ann);
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.json.error.message, /ann@example.com is needed in this request already/);
  assert.equal((await vote(id, cy)).json.error.code, "needed_later");
  assert.equal((await vote(id, bob)).status, 200);
  assert.equal((await vote(id, ann)).status, 200);
  assert.equal((await read(key, id)).status, "APPROVED");
});

test("a delegate whom a later stage needs doesn't vote for another, though somebody else may vote for them here", async () => {
  const { id: workspaceId, key } = await workspaceWith([ann, bob]);
  await addGroup(workspaceId, "helpers", [cy]);
  await beAway(workspaceId, bob, ann);
  const { id } = await ask(key, { quorum: 1, then: [{ notify: ann }] });
  assert.equal((await passOn(id, ann, cy)).status, 200);
  const refused = await vote(id, ann);
  assert.equal(refused.json.error?.code, "needed_later", refused.text);
  assert.equal((await vote(id, bob)).status, 200);
  assert.equal((await vote(id, ann)).status, 200);
  await sweep();
  assert.equal((await read(key, id)).status, "APPROVED");
});

/** How often the owners were told, and what a reviewer's page says. */
async function assertStuck(id: string, reader: string): Promise<void> {
  await sweep();
  await sweep();
  assert.equal(await stuckEvents(id), 1, "owners are told once");
  assert.equal(await isStuckFor(id, reader), true, "the page says so");
}

async function isStuckFor(id: string, reader: string): Promise<boolean | undefined> {
  const { token } = await findReviewer(db, id, { email: reader });
  return (await openReview(app, token)).voting?.isStuck;
}

async function stuckEvents(id: string): Promise<number> {
  const { rows } = await db.query(
    "select from events where approval_id = $1 and kind = 'request.stuck'",
    [id],
  );
  return rows.length;
}

test("owners hear of it when a colleague who took a vote over leaves their group", async () => {
  const { key, groupId } = await workspaceWith([bob, cy]);
  const { id } = await ask(key, { notify: outside, then: [{ notify: ann }] });
  assert.equal((await passOn(id, outside, bob)).status, 200);
  await removeGroupMember(db, groupId, bob);
  await assertStuck(id, outside);
});

test("owners hear of it when a colleague who took a vote over leaves the workspace", async () => {
  const { key, id: workspaceId } = await workspaceWith([bob, cy]);
  const { rows } = await db.query<{ id: string }>(
    `insert into members (workspace_id, email, role, joined_at) values ($1, $2, 'viewer', now_ms())
     returning id`,
    [workspaceId, ann],
  );
  const { id } = await ask(key, { quorum: 2 });
  assert.equal((await passOn(id, bob, ann)).status, 200);
  await db.query("delete from members where workspace_id = $1 and id = $2", [
    workspaceId,
    rows[0]?.id,
  ]);
  await assertStuck(id, cy);
  await db.query(
    "insert into members (workspace_id, email, role, joined_at) values ($1, $2, 'viewer', null)",
    [workspaceId, ann],
  );
  await assertStuck(id, cy);
  await db.query("update members set joined_at = now_ms() where workspace_id = $1", [workspaceId]);
  await sweep();
  assert.equal(await isStuckFor(id, cy), false, "they are back");
});

test("owners hear of it when the group that a step would ask loses its people", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann]);
  const board = await addGroup(workspaceId, "board", [bob]);
  const escalate = [{ afterMinutes: 30, notify: "group:board" }];
  const { id } = await ask(key, { quorum: 2, escalate });
  await removeGroupMember(db, board, bob);
  await assertStuck(id, ann);
});

test("owners hear of it when somebody whom a step has asked leaves their group", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann]);
  const board = await addGroup(workspaceId, "board", [bob]);
  const escalate = [{ afterMinutes: 30, notify: "group:board" }];
  const { id } = await ask(key, { quorum: 2, escalate });
  await db.query("update steps set due_at = now_ms() where approval_id = $1", [id]);
  await sweep();
  assert.equal(await stuckEvents(id), 0);
  await removeGroupMember(db, board, bob);
  await assertStuck(id, ann);
});

/** Bob votes for somebody here, and is the only one left in the next stage. */
async function stuckOnBob() {
  const { key, groupId, id: workspaceId } = await workspaceWith([bob, cy]);
  await addGroup(workspaceId, "helpers", [dee]);
  const { id } = await ask(key, { notify: outside, then: [{ notify: "group:finance" }] });
  assert.equal((await passOn(id, outside, bob)).status, 200);
  await removeGroupMember(db, groupId, cy);
  await assertStuck(id, outside);
  return { id, workspaceId };
}

test("passing the vote on to somebody who is left makes a request possible again", async () => {
  const { id } = await stuckOnBob();
  assert.equal((await passOn(id, bob, dee)).status, 200);
  assert.equal(await isStuckFor(id, outside), false);
});

test("a delegate who is left makes a request possible again", async () => {
  const { id, workspaceId } = await stuckOnBob();
  await beAway(workspaceId, bob, dee);
  await sweep();
  assert.equal(await isStuckFor(id, outside), false);
});

async function takeSteps(id: string): Promise<void> {
  await db.query("update steps set due_at = now_ms() where approval_id = $1", [id]);
  await sweep();
}

test("a step that names somebody asks them, though their place in the group is gone", async () => {
  const { key, groupId } = await workspaceWith([ann, bob, cy]);
  const escalate = [{ afterMinutes: 30, notify: ann }];
  const { id } = await ask(key, { quorum: 2, escalate });
  await removeGroupMember(db, groupId, ann);
  await removeGroupMember(db, groupId, bob);
  await sweep();
  assert.equal(await stuckEvents(id), 0, "the step will ask one more");
  await takeSteps(id);
  assert.deepEqual(await mailsOf(id, "request.escalated"), [ann]);
  assert.equal((await vote(id, ann)).status, 200);
  assert.equal((await vote(id, cy)).json.outcome?.status, "APPROVED");
  assert.equal(await stuckEvents(id), 0);
});

test("a step asks somebody anew when nobody is left to whom their vote was passed", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  const helpers = await addGroup(workspaceId, "helpers", [dee]);
  const escalate = [{ afterMinutes: 30, notify: "group:finance" }];
  const { id } = await ask(key, { quorum: 2, escalate });
  assert.equal((await passOn(id, ann, dee)).status, 200);
  await removeGroupMember(db, helpers, dee);
  await takeSteps(id);
  assert.deepEqual(await mailsOf(id, "request.escalated"), [ann]);
  assert.equal((await vote(id, bob)).status, 200);
  assert.equal((await vote(id, ann)).json.outcome?.status, "APPROVED");
});

test("a step mails nobody who has voted for this text", async () => {
  const { key, groupId } = await workspaceWith([ann, bob, cy]);
  const escalate = [{ afterMinutes: 30, notify: ann }];
  const { id } = await ask(key, { quorum: 2, escalate });
  assert.equal((await vote(id, ann)).status, 200);
  await removeGroupMember(db, groupId, ann);
  await takeSteps(id);
  assert.deepEqual(await mailsOf(id, "request.escalated"), []);
  assert.equal((await vote(id, cy, { edit: '{"amount":1}' })).status, 200);
  assert.equal((await vote(id, ann)).json.outcome?.status, "APPROVED");
});

test("a step mails somebody who is away if their delegate has voted", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  const escalate = [{ afterMinutes: 30, notify: cy }];
  const { id } = await ask(key, { quorum: 2, escalate });
  await beAway(workspaceId, cy, ann);
  assert.equal((await vote(id, ann)).status, 200);
  await takeSteps(id);
  assert.deepEqual(await mailsOf(id, "request.escalated"), [cy]);
});
