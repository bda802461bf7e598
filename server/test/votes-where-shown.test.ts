// Who has several places decides, or passes one on, where their page says, or is told that it would be elsewhere.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { placeShown } from "../src/domain/shown/reviewer-place.ts";
import {
  addGroupMember,
  createGroup,
  removeGroupMember,
} from "../src/operations/people/manage-group.ts";
import { decisionBody, findReviewer, openReview, postReview } from "./test-review.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());
const { workspaceWith, ask, vote, read, sweep, passOn, beAway } = makeVoters(service);

const [ann, bob, cy, eve, xi, yul] = ["ann", "bob", "cy", "eve", "xi", "yul"].map(
  (name) => `${name}@example.com`,
) as [string, string, string, string, string, string];

/** Ann stands in for Bob and Cy. Bob is needed in the second stage, so her vote counts for Cy. */
async function askForTwo() {
  const { key, id: workspaceId } = await workspaceWith([bob, cy]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [ann, eve] });
  await beAway(workspaceId, bob, ann);
  await beAway(workspaceId, cy, ann);
  const { id } = await ask(key, { quorum: 1, then: [{ notify: bob }] });
  const { token } = await findReviewer(db, id, { email: ann });
  const shown = await openReview(app, token);
  assert.deepEqual(shown.voting?.you, { kind: "asked", for: cy });
  return { key, id, token, shown };
}

test("a rejection is recorded for whom the page shows", async () => {
  const { key, id, token, shown } = await askForTwo();
  const body = decisionBody(shown, { verdict: "reject" });
  const { status, json } = await postReview(app, `${token}/decision`, body);
  assert.deepEqual([status, json.outcome?.status], [200, "REJECTED"]);
  const { approvals } = await read(key, id);
  assert.deepEqual(
    approvals.stages[0].votes.map((each: { email: string; for: string | null }) => [
      each.email,
      each.for,
    ]),
    [[ann, cy]],
  );
});

test("the place that the page shows is the one that is passed on", async () => {
  const { id } = await askForTwo();
  assert.equal((await passOn(id, ann, eve)).status, 200);
  const { token } = await findReviewer(db, id, { email: eve });
  assert.deepEqual((await openReview(app, token)).voting?.you, { kind: "asked", for: cy });
  assert.equal((await vote(id, eve)).json.voting?.you.kind, "voted");
});

test("an edit that would count for somebody else than the page shows is refused, and the text stays", async () => {
  const { key, id: workspaceId, groupId } = await workspaceWith([bob, xi, yul]);
  await createGroup(db, { workspaceId, key: "two", name: "Two", members: [bob, cy] });
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [ann] });
  const { id } = await ask(key, { quorum: 2, then: [{ notify: "group:two" }] });
  await vote(id, xi);
  await vote(id, yul);
  await beAway(workspaceId, bob, ann);
  await beAway(workspaceId, cy, ann);
  await sweep();
  await removeGroupMember(db, groupId, yul);
  await sweep();
  const { token } = await findReviewer(db, id, { email: ann });
  const shown = await openReview(app, token);
  assert.deepEqual(shown.voting?.you, { kind: "asked", for: bob });
  const edited = decisionBody(shown, { verdict: "approve", edit: '{"amount":1}' });
  const { status, json } = await postReview(app, `${token}/decision`, edited);
  assert.deepEqual([status, json.error?.code], [409, "stale_view"]);
  assert.match(json.error.message, /^With your changes, .* in stage 2 for cy@example.com, /);
  const { approvals } = await read(key, id);
  assert.deepEqual([approvals.revision, approvals.stages[1].votes], [1, []]);
  const plain = decisionBody(shown, { verdict: "approve" });
  const approved = await postReview(app, `${token}/decision`, plain);
  assert.equal(approved.json.outcome?.status, "APPROVED");
});

test("who was shown that they are needed in another stage doesn't approve in this one by that page", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  const two = await createGroup(db, { workspaceId, key: "two", name: "Two", members: [ann] });
  assert.ok(!isRefusal(two));
  const { id } = await ask(key, { quorum: 1, then: [{ notify: "group:two" }] });
  const { token } = await findReviewer(db, id, { email: ann });
  const shown = await openReview(app, token);
  assert.deepEqual(shown.voting?.you, { kind: "needed_later", stage: 2 });
  await addGroupMember(db, two.id, cy);
  const body = decisionBody(shown, { verdict: "approve" });
  const { status, json } = await postReview(app, `${token}/decision`, body);
  assert.deepEqual([status, json.error?.code], [409, "stale_view"]);
  assert.match(json.error.message, /would now count in stage 1, which the page didn’t show/);
  assert.equal((await vote(id, ann)).json.voting?.stage, 2);
});

test("who is needed later still rejects and passes on by the page that says so", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [eve] });
  const body = { quorum: 1, then: [{ notify: ann }] };
  const { id } = await ask(key, body);
  assert.equal((await vote(id, ann, { verdict: "reject" })).json.outcome?.status, "REJECTED");
  const other = await ask(key, body);
  const { token } = await findReviewer(db, other.id, { email: ann });
  const { ticket, voting } = await openReview(app, token);
  const wish = { ticket, to: eve, place: placeShown(voting) };
  assert.equal((await postReview(app, `${token}/hand-over`, wish)).status, 200);
});

test("a place that the page didn’t show is not passed on", async () => {
  const { id, key, token, shown } = await askForTwo();
  const { workspaceId } = (
    await db.query('select workspace_id as "workspaceId" from approvals where id = $1', [id])
  ).rows[0];
  await db.query("update absences set ends_at = now_ms() where workspace_id = $1 and email = $2", [
    workspaceId,
    cy,
  ]);
  await sweep();
  const wish = { ticket: shown.ticket, to: eve, place: placeShown(shown.voting) };
  const { status, json } = await postReview(app, `${token}/hand-over`, wish);
  assert.deepEqual([status, json.error?.code], [409, "stale_view"]);
  assert.match(json.error.message, /in stage 1 for bob@example.com, which the page didn’t show/);
  assert.equal((await read(key, id)).status, "PENDING");
  assert.equal((await passOn(id, ann, eve)).status, 200);
});
