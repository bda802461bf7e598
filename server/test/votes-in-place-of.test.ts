// Votes in somebody's place: to whom a workspace lets people pass theirs, and that nobody counts twice by it, neither as
// the one who votes nor as the one for whom somebody votes.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
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

async function workspaceWithHelper(members: readonly string[]) {
  const workspace = await workspaceWith(members);
  const helpers = { workspaceId: workspace.id, key: "helpers", name: "Helpers", members: [dee] };
  assert.ok(!isRefusal(await createGroup(db, helpers)));
  return workspace;
}

/** Bob is away with Ann as his delegate, and then Ann with Dee. */
async function askWhileTwoAreAway(members: readonly string[]) {
  const { key, id: workspaceId } = await workspaceWithHelper(members);
  const { id } = await ask(key, { quorum: 2 });
  await beAway(workspaceId, bob, ann);
  await sweep();
  await beAway(workspaceId, ann, dee);
  await sweep();
  return { id, key, workspaceId };
}

async function placeOn(id: string, email: string) {
  const { token } = await findReviewer(db, id, { email });
  return (await openReview(app, token)).voting?.you;
}

test("somebody whose delegate has voted for them doesn't vote for another: together they count once", async () => {
  const { id, key } = await askWhileTwoAreAway([ann, bob, cy]);
  assert.equal((await vote(id, dee)).status, 200);
  assert.deepEqual(await placeOn(id, ann), { kind: "seat_taken", by: dee });
  await service.call("POST", `/v1/requests/${id}/remind`, { key });
  const mailed = await mailsOf(id, "request.reminded");
  assert.ok(mailed.includes(cy) && !mailed.includes(ann), mailed.join(", "));
  const refused = await vote(id, ann);
  assert.equal(refused.json.error?.code, "vote_refused", refused.text);
  assert.equal((await read(key, id)).status, "PENDING");
  assert.equal((await vote(id, bob)).json.outcome?.status, "APPROVED");
});

test("nobody votes for somebody who has voted for another, and nobody passes a vote to them", async () => {
  const { key } = await workspaceWithHelper([ann, bob, cy]);
  const { id } = await ask(key, { quorum: 2 });
  assert.equal((await passOn(id, bob, ann)).status, 200);
  assert.equal((await passOn(id, ann, dee)).status, 200, "her own place");
  assert.equal((await vote(id, ann)).status, 200, "for Bob");
  assert.deepEqual(await placeOn(id, dee), { kind: "seat_taken", by: ann });
  assert.equal((await vote(id, dee)).json.error?.code, "vote_refused");
  const refused = await passOn(id, cy, bob);
  assert.match(refused.json.error?.message ?? "", /one person counts once/);
  assert.equal((await vote(id, cy)).json.outcome?.status, "APPROVED");
});

test("PostgreSQL itself refuses a vote of somebody for whom another has voted", async () => {
  const { id, workspaceId } = await askWhileTwoAreAway([ann, bob, cy]);
  assert.equal((await vote(id, dee)).status, 200);
  const insert = (person: string, voter: string) =>
    db.query(
      `insert into votes (workspace_id, approval_id, revision, stage, person, voter, voter_email, for_email, verdict, via,
         created_at)
       values ($1, $2, 1, 1, $3, $4, $4, nullif($3, $4), 'approve', 'link', now_ms())`,
      [workspaceId, id, person, voter],
    );
  await assert.rejects(insert(bob, ann), /counts once/);
});

test("a workspace that turned it off lets nobody hand over", async () => {
  const { key, id: workspaceId } = await workspaceWithHelper([ann, bob]);
  await db.query("update workspaces set hand_over = 'off' where id = $1", [workspaceId]);
  const { id } = await ask(key, { quorum: 1 });
  const refused = await passOn(id, ann, bob);
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.json.error.message, /doesn’t let people hand over/);
  assert.deepEqual(await mailsOf(id, "request.reassigned"), []);
  assert.deepEqual(await placeOn(id, ann), { kind: "asked", for: null });
});

test("a workspace can let people hand over within a group only", async () => {
  const { key, id: workspaceId } = await workspaceWithHelper([ann, bob]);
  await db.query("update workspaces set hand_over = 'group' where id = $1", [workspaceId]);
  const { id } = await ask(key, { quorum: 1 });
  const refused = await passOn(id, ann, dee);
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.json.error.message, /dee@example.com is in no group with you/);
  assert.equal((await passOn(id, ann, bob)).status, 200);
  assert.deepEqual(await placeOn(id, ann), { kind: "handed_over", to: bob });
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [bob]);
});
