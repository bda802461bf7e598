// What holds only for a time, and what holds for good: who stood in while somebody was away, who owned the key once, and
// reminders that reach nobody.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { remind } from "../src/operations/votings/remind.ts";
import { changeKey } from "../src/operations/workspaces/issue-key.ts";
import { decisionBody, findReviewer, openReview, postReview } from "./test-review.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

let nowMs = 0;
const service = await startService({
  clock: () => {
    nowMs += 1_000;
    return nowMs;
  },
});
const { db, app } = service;
after(() => service.stop());
const { workspaceWith, ask, vote, read, sweep, mailsOf, passOn, beAway } = makeVoters(service);

const [ann, bob, cy, dee, eve] = ["ann", "bob", "cy", "dee", "eve"].map(
  (name) => `${name}@example.com`,
) as [string, string, string, string, string];

async function helpers(workspaceId: string, members: string[]): Promise<void> {
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members });
}

async function comeBack(workspaceId: string, email: string): Promise<void> {
  await db.query(
    "update absences set ends_at = now_ms() where workspace_id = $1 and email = $2 and ends_at > now_ms()",
    [workspaceId, email],
  );
}

test("whoever owned the key since a request was created never decides about it", async () => {
  const { key, keyId } = await workspaceWith([ann, bob]);
  const plain = await ask(key, { notify: ann });
  const several = await ask(key, { quorum: 1, notify: ann });
  for (const ownerEmail of ["Ann+agent@example.com", null, bob]) {
    await changeKey(db, { id: keyId, ownerEmail });
    for (const { id } of [plain, several]) {
      const refused = await vote(id, ann);
      assert.deepEqual([refused.status, refused.json.error.code], [409, "vote_refused"]);
    }
  }
  assert.equal((await passOn(plain.id, ann, bob)).status, 409, "nor somebody for them");
  assert.equal((await read(key, plain.id)).status, "PENDING");
  await changeKey(db, { id: keyId, ownerEmail: null });
  const later = await ask(key, { notify: ann });
  assert.equal(
    (await vote(later.id, ann)).json.outcome?.status,
    "APPROVED",
    "it was theirs before",
  );
});

test("a delegate stands in only while the absence runs, and who is back is asked again", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await helpers(workspaceId, [dee, eve]);
  await beAway(workspaceId, ann, dee);
  await beAway(workspaceId, bob, eve);
  const { id } = await ask(key, { quorum: 2 });
  assert.deepEqual(await mailsOf(id, "request.created"), [dee, eve]);
  assert.equal((await vote(id, eve)).json.voting?.you.kind, "voted");
  await comeBack(workspaceId, ann);
  await comeBack(workspaceId, bob);
  const refused = await vote(id, dee);
  assert.deepEqual([refused.status, refused.json.error.code], [409, "vote_refused"]);
  await remind(db, { workspaceId, approvalId: id });
  assert.deepEqual(await mailsOf(id, "request.reminded"), [ann]);
  assert.equal((await vote(id, ann)).json.outcome?.status, "APPROVED");
  const { votes } = (await read(key, id)).approvals.stages[0];
  assert.deepEqual(
    votes.map((each: { email: string; for: string | null }) => [each.email, each.for]),
    [
      [eve, bob],
      [ann, null],
    ],
    "a vote that was given stays",
  );
});

test("away once more with another delegate, the first one doesn't come back", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann]);
  await helpers(workspaceId, [dee, eve]);
  const { id } = await ask(key, { quorum: 1 });
  await beAway(workspaceId, ann, dee);
  await sweep();
  await comeBack(workspaceId, ann);
  await beAway(workspaceId, ann, eve);
  await sweep();
  await remind(db, { workspaceId, approvalId: id });
  assert.deepEqual(await mailsOf(id, "request.reminded"), [eve]);
  await comeBack(workspaceId, ann);
  await beAway(workspaceId, ann, dee);
  await sweep();
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [dee, dee, eve]);
  assert.equal((await vote(id, dee)).json.outcome?.status, "APPROVED");
});

test("the reminder before the end goes to the delegate alone, as the first mail did", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await helpers(workspaceId, [dee, eve]);
  await beAway(workspaceId, ann, dee);
  const { id } = await ask(key, { quorum: 1, then: [{ notify: bob }] });
  assert.deepEqual(await mailsOf(id, "request.created"), [bob, dee]);
  await db.query("update approvals set remind_at = now_ms() where id = $1", [id]);
  await sweep();
  assert.deepEqual(await mailsOf(id, "request.expiring"), [bob, dee]);
  await comeBack(workspaceId, ann);
  await db.query("delete from deliveries where workspace_id = $1", [workspaceId]);
  await db.query("delete from events where approval_id = $1 and kind = 'request.expiring'", [id]);
  await db.query("update approvals set remind_at = now_ms() where id = $1", [id]);
  await sweep();
  assert.deepEqual(await mailsOf(id, "request.expiring"), [ann, bob]);
});

test("a reminder that reaches nobody is no reminder, and keeps nobody back", async () => {
  const { key, groupId } = await workspaceWith([ann, bob]);
  const { id } = await ask(key, { quorum: 2 });
  await vote(id, ann);
  await removeGroupMember(db, groupId, bob);
  const path = `/v1/requests/${id}/remind`;
  for (const _ of [1, 2]) {
    const { status, json } = await service.call("POST", path, { key });
    assert.deepEqual([status, json.error.code], [409, "nobody_to_remind"]);
  }
  const { rows } = await db.query("select from events where approval_id = $1 and kind = $2", [
    ...[id, "request.reminded"],
  ]);
  assert.equal(rows.length, 0);
});

test("a vote that would count in another stage than the page showed is refused, and nothing is recorded", async () => {
  const { key } = await workspaceWith([ann, bob, cy]);
  const { id } = await ask(key, { quorum: 1, then: [{ notify: "group:finance" }] });
  const { token } = await findReviewer(db, id, { email: ann });
  const shown = await openReview(app, token);
  await vote(id, bob);
  const approval = decisionBody(shown, { verdict: "approve", note: "kept" });
  const stale = await postReview(app, `${token}/decision`, approval);
  assert.deepEqual([stale.status, stale.json.error.code], [409, "stale_view"]);
  assert.match(stale.json.error.message, /would now count in stage 2, /);
  const { status, approvals } = await read(key, id);
  assert.deepEqual([status, approvals.stages[1].votes], ["PENDING", []]);
  assert.equal((await vote(id, ann)).json.outcome?.status, "APPROVED");
});

test("a vote that would count for somebody else than the page showed is refused", async () => {
  const { key, id: workspaceId } = await workspaceWith([bob, cy, dee]);
  await helpers(workspaceId, [ann]);
  const { id } = await ask(key, { quorum: 3 });
  await beAway(workspaceId, bob, ann);
  await beAway(workspaceId, cy, ann);
  await sweep();
  const { token } = await findReviewer(db, id, { email: ann });
  const shown = await openReview(app, token);
  assert.deepEqual(shown.voting?.you, { kind: "asked", for: bob });
  await vote(id, bob);
  for (const verdict of ["approve", "reject"] as const) {
    const stale = await postReview(app, `${token}/decision`, decisionBody(shown, { verdict }));
    assert.equal(stale.json.error.code, "stale_view");
    assert.match(stale.json.error.message, /for cy@example.com, /);
  }
  assert.equal((await vote(id, ann)).json.voting?.you.kind, "voted");
});
