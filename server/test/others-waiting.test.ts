// How many other requests wait for the same reviewer, as the review page is told with everything that it asks.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { othersWaitingMax } from "../src/domain/shown/field-limits.ts";
import {
  addGroupMember,
  createGroup,
  removeGroupMember,
} from "../src/operations/people/manage-group.ts";
import {
  decide,
  decisionBody,
  findReviewer,
  getReview,
  openReview,
  postReview,
  reviewDataOf,
} from "./test-review.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());

type Team = { id: string; key: string };

async function ask({ key }: Team, notify = "ann@example.com"): Promise<string> {
  const body = { ...minimalBody, notify };
  const { status, json } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201);
  return json.id;
}

async function tokenOf(id: string, email?: string): Promise<string> {
  const { token } = await findReviewer(db, id, email === undefined ? {} : { email });
  return token;
}

async function othersOf(id: string, email?: string): Promise<number> {
  return (await openReview(app, await tokenOf(id, email))).othersWaiting;
}

test("the page, its status, a decision and a refusal say how many others wait", async () => {
  const team = await makeWorkspace(db);
  const first = await ask(team);
  assert.equal(await othersOf(first), 0);
  const second = await ask(team, "ANN@Example.com");
  const third = await ask(team);
  const token = await tokenOf(first);
  const review = await openReview(app, token);
  assert.equal(review.othersWaiting, 2);
  const status = await postReview(app, `${token}/status`, {});
  assert.equal(status.json.othersWaiting, 2);
  assert.equal(await othersOf(second), 2);

  const decided = await decide(app, await tokenOf(third), { verdict: "reject" });
  assert.deepEqual([decided.status, decided.json.othersWaiting], [200, 2]);
  const late = await postReview(
    app,
    `${await tokenOf(third)}/decision`,
    decisionBody(await openReview(app, await tokenOf(third)), { verdict: "approve" }),
  );
  assert.deepEqual([late.status, late.json.status?.othersWaiting], [409, 2]);
  assert.equal(await othersOf(first), 1);
});

test("only requests that wait for this person in this workspace count, and none that is over", async () => {
  const team = await makeWorkspace(db);
  const other = await makeWorkspace(db);
  const mine = await ask(team);
  await ask(team, "bob@example.com");
  await ask(other);
  const expired = await ask(team);
  const cancelled = await ask(team);
  const waiting = await ask(team);
  assert.equal(await othersOf(mine), 3);
  await service.call("POST", `/v1/requests/${cancelled}/cancel`, { key: team.key });
  // Its time is over, and nobody has expired it yet.
  await db.query("update approvals set expires_at = now_ms() where id = $1", [expired]);
  assert.equal(await othersOf(mine), 1);
  assert.equal(await othersOf(waiting), 1);
});

test("a group's requests count for members who were asked and are still in it", async () => {
  const team = await makeWorkspace(db, { plan: "pro" });
  const [ann, bob, cid] = ["ann@example.com", "bob@example.com", "cid@example.com"];
  const group = await createGroup(db, {
    workspaceId: team.id,
    key: "finance",
    name: "Finance",
    members: [ann, bob],
  });
  assert.ok(!isRefusal(group));
  const own = await ask(team, ann);
  const asked = await ask(team, "group:finance");
  await ask(team, "group:finance");
  assert.equal(await othersOf(own), 2);
  assert.equal(await othersOf(asked, ann), 2);
  assert.equal(await othersOf(asked, bob), 1);
  assert.ok(!isRefusal(await addGroupMember(db, group.id, cid)));
  const ofCid = await ask(team, cid);
  assert.equal(await othersOf(ofCid), 0, "has no link to earlier requests");
  assert.ok(!isRefusal(await removeGroupMember(db, group.id, ann)));
  assert.equal(await othersOf(own), 0);
});

test("they are counted up to a limit", async () => {
  const team = await makeWorkspace(db);
  const id = await ask(team);
  const more = (count: number) =>
    db.query(
      `insert into approvals (workspace_id, id, summary, approver_email, expires_at)
       select $1, new_id('req_'), 'Refund', 'ann@example.com', now() + interval '1 day'
       from generate_series(1, $2)`,
      [team.id, count],
    );
  await more(othersWaitingMax - 1);
  assert.equal(await othersOf(id), othersWaitingMax - 1);
  await more(1);
  assert.equal(await othersOf(id), othersWaitingMax);
  await more(50);
  assert.equal(await othersOf(id), othersWaitingMax);
});

test("nothing of it is told before the code", async () => {
  const team = await makeWorkspace(db, { reviewCode: true });
  const id = await ask(team);
  await ask(team);
  const { token, code } = await findReviewer(db, id);
  const page = (await getReview(app, token)).text;
  assert.deepEqual(Object.keys(reviewDataOf(page)), ["kind", "workspaceName", "triesLeft"]);
  const refused = await postReview(app, `${token}/status`, { code: "BCDFGH" });
  assert.equal(refused.status, 403);
  for (const text of [page, refused.text]) assert.ok(!text.includes("othersWaiting"));
  const review = await openReview(app, token, code);
  assert.equal(review.othersWaiting, 1);
  const status = await postReview(app, `${token}/status`, { code });
  assert.equal(status.json.othersWaiting, 1);
});
