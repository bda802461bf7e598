// Who has several places decides, or passes one on, where their page says, or is told that it would be elsewhere.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  addGroupMember,
  createGroup,
  removeGroupMember,
} from "../src/operations/people/manage-group.ts";
import { signIn } from "./test-dashboard.ts";
import { callInbox, openPlace } from "./test-inbox.ts";
import { decisionBody, findReviewer, handOverBody, openReview, postReview } from "./test-review.ts";
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
  assert.deepEqual(shown.voting?.you, { kind: "needed_later", stage: 2, for: null });
  await addGroupMember(db, two.id, cy);
  const body = decisionBody(shown, { verdict: "approve" });
  const { status, json } = await postReview(app, `${token}/decision`, body);
  assert.deepEqual([status, json.error?.code], [409, "stale_view"]);
  assert.match(json.error.message, /would now count in stage 1, which the page didn’t show/);
  assert.equal((await vote(id, ann)).json.voting?.stage, 2);
});

test("who is needed later still rejects by the page that says so", async () => {
  const { key } = await workspaceWith([ann, bob]);
  const { id } = await ask(key, { quorum: 1, then: [{ notify: ann }] });
  assert.equal((await vote(id, ann, { verdict: "reject" })).json.outcome?.status, "REJECTED");
});

/** Ann stands in for Bob and Cy, and reads that her vote counts for the first of them. */
async function askInTwoPlaces() {
  const { key, id: workspaceId } = await workspaceWith([bob, cy]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [ann, eve] });
  await beAway(workspaceId, bob, ann);
  await beAway(workspaceId, cy, ann);
  const { id } = await ask(key, { quorum: 1 });
  const { token } = await findReviewer(db, id, { email: ann });
  const shown = await openReview(app, token);
  assert.deepEqual(shown.voting?.you, { kind: "asked", for: bob });
  return { id, workspaceId, token, shown };
}

async function comeBack(workspaceId: string, email: string): Promise<void> {
  await db.query(
    "update absences set ends_at = now_ms() where workspace_id = $1 and email = $2 and ends_at > now_ms()",
    [workspaceId, email],
  );
  await sweep();
}

async function givenAway(id: string): Promise<string[]> {
  const { rows } = await db.query<{ person: string }>(
    "select person from seats where approval_id = $1 and given_to is not null",
    [id],
  );
  return rows.map(({ person }) => person);
}

test("a hand-over from a page that showed another place passes nothing on, by link and in the inbox", async () => {
  const { id, workspaceId, token, shown } = await askInTwoPlaces();
  const cookie = await signIn(service, ann);
  const { json: listed } = await callInbox(service, `GET /find/${id}`, { cookie });
  const inInbox = await openPlace(service, cookie, listed.id);
  await comeBack(workspaceId, bob);
  const answers = [
    await postReview(app, `${token}/hand-over`, handOverBody(shown, eve)),
    await callInbox(service, `POST /reviews/${listed.id}/hand-over`, {
      cookie,
      body: handOverBody(inInbox, eve),
    }),
  ];
  for (const { status, json } of answers) {
    assert.deepEqual([status, json.error?.code], [409, "stale_view"]);
    assert.match(json.error.message, /in stage 1 for cy@example.com, .* Nothing was handed over\./);
    assert.deepEqual(json.status.voting.you, { kind: "asked", for: cy });
  }
  assert.deepEqual(await givenAway(id), []);
  const now = { ...shown, ...answers[0]?.json.status };
  assert.equal((await postReview(app, `${token}/hand-over`, handOverBody(now, eve))).status, 200);
  assert.deepEqual(await givenAway(id), [cy]);
});

test("a page from before places were sent with a hand-over is told to load again", async () => {
  const { id, token, shown } = await askInTwoPlaces();
  const { ticket } = shown;
  const { status, json } = await postReview(app, `${token}/hand-over`, { ticket, to: eve });
  assert.deepEqual([status, json.error?.code], [409, "stale_view"]);
  assert.match(json.error.message, /Nothing was handed over\. Load the page again/);
  assert.deepEqual(await givenAway(id), []);
  assert.equal((await passOn(id, ann, eve)).status, 200);
});

test("who may only reject passes on what their page showed", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [eve] });
  const { id } = await ask(key, { quorum: 1, then: [{ notify: ann }] });
  const { token } = await findReviewer(db, id, { email: ann });
  const shown = await openReview(app, token);
  assert.deepEqual(shown.voting?.you, { kind: "needed_later", stage: 2, for: null });
  const pass = (body: string) => postReview(app, `${token}/hand-over`, body);
  assert.ok(shown.voting !== undefined);
  const asked = { ...shown.voting, you: { kind: "asked", for: null } } as const;
  const { status, json } = await pass(handOverBody({ ...shown, voting: asked }, eve));
  assert.deepEqual([status, json.error?.code], [409, "stale_view"]);
  assert.equal((await pass(handOverBody(shown, eve))).status, 200);
});

test("a page of a plain request passes the vote on, unless there are places by now", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [eve, cy] });
  const { id } = await ask(key);
  const [anns, bobs] = await Promise.all(
    [ann, bob].map(async (email) => {
      const { token } = await findReviewer(db, id, { email });
      const shown = await openReview(app, token);
      return (to: string) => postReview(app, `${token}/hand-over`, handOverBody(shown, to));
    }),
  );
  assert.ok(anns !== undefined && bobs !== undefined);
  const { token } = await findReviewer(db, id, { email: ann });
  const { ticket } = await openReview(app, token);
  const invented = { ticket, to: eve, place: "1" };
  assert.equal((await postReview(app, `${token}/hand-over`, invented)).status, 409);
  const { rows } = await db.query("select from seats where approval_id = $1", [id]);
  assert.equal(rows.length, 0, "it stays plain");
  assert.equal((await anns(eve)).status, 200);
  const late = await bobs(cy);
  assert.deepEqual([late.status, late.json.error?.code], [409, "stale_view"]);
  assert.equal((await passOn(id, bob, cy)).status, 200);
});
