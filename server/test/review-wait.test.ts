// An open review page waits for changes: it is answered when a colleague has voted, and not before.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { until } from "./patience.ts";
import { findReviewer, postReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const other = await startNode(service.database);
const { db, app, resolutions } = service;
after(async () => {
  await other.stop();
  await service.stop();
});
const voters = makeVoters(service);
const elsewhere = makeVoters(other);

async function askGroup(quorum = 2) {
  const { id: workspaceId, key } = await voters.workspaceWith();
  const { id } = await voters.ask(key, quorum === 1 ? {} : { quorum });
  const { token } = await findReviewer(db, id, { email: "ann@example.com" });
  return { workspaceId, id, token };
}

async function tagOf(token: string): Promise<string> {
  const { status, json, text } = await postReview(app, `${token}/status`, { since: "" });
  assert.equal(status, 200, text);
  assert.match(json.tag ?? "", /^[\w-]{22}$/);
  return json.tag ?? "";
}

/** A page that waits; the promise must still be open once it does. */
async function wait(token: string, since: string) {
  const before = resolutions.waiting;
  const answer = postReview(app, `${token}/status`, { since });
  await until(() => resolutions.waiting === before + 1, "a page that waits");
  return { answer };
}

test("a page that doesn't say what it has is answered at once, with nothing more than before", async () => {
  const { token } = await askGroup();
  const { status, json } = await postReview(app, `${token}/status`, {});
  assert.equal(status, 200);
  assert.deepEqual(
    Object.keys(json).sort(),
    ["expiresAt", "now", "othersWaiting", "outcome", "ticket", "voting"].sort(),
  );
});

test("a colleague's vote on another node answers a page that waits, and so does the end of the request", async () => {
  const { id, token } = await askGroup();
  const first = await wait(token, await tagOf(token));
  await elsewhere.vote(id, "bob@example.com");
  const voted = (await first.answer).json;
  assert.equal(voted.voting?.stages[0]?.approvals[0]?.email, "bob@example.com");
  assert.equal(voted.outcome, null);
  const second = await wait(token, voted.tag ?? "");
  await elsewhere.vote(id, "cy@example.com");
  const { json } = await second.answer;
  assert.equal(json.outcome?.status, "APPROVED");
  const over = await postReview(app, `${token}/status`, { since: json.tag });
  assert.equal(over.json.outcome?.status, "APPROVED");
  assert.equal(resolutions.waiting, 0);
});

test("a page whose state is another one already is answered at once", async () => {
  const { token } = await askGroup(1);
  const tag = await tagOf(token);
  for (const since of ["", "x", `${tag}x`, "\u0000"]) {
    const { status, json } = await postReview(app, `${token}/status`, { since });
    assert.deepEqual([status, json.tag], [200, tag]);
  }
  for (const since of [1, {}, [], true]) {
    assert.equal((await postReview(app, `${token}/status`, { since })).status, 400);
  }
});

test("the end of its time answers a page that waits", async () => {
  const { key } = await makeWorkspace(db);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const { token } = await findReviewer(db, json.id);
  await db.query(
    "update approvals set expires_at = now_ms() + interval '1.5 seconds' where id = $1",
    [json.id],
  );
  const { answer } = await wait(token, await tagOf(token));
  assert.equal((await answer).json.outcome?.status, "EXPIRED");
});

test("who is removed from the group while they wait is told that the link is dead", async () => {
  const { workspaceId, id, token } = await askGroup();
  const { answer } = await wait(token, await tagOf(token));
  // Not while it still reads: it would see the request from before, and the people from after.
  await until(() => resolutions.asleepIn(workspaceId) === 1, "a page that sleeps");
  await db.query("delete from group_members where email = 'ann@example.com'");
  await elsewhere.vote(id, "bob@example.com");
  assert.equal((await answer).status, 404);
  assert.equal(resolutions.waiting, 0);
});

test("a node that stops answers pages that wait", async () => {
  const { workspaceId, token } = await askGroup();
  const tag = await tagOf(token);
  const node = await startNode(service.database);
  const answer = postReview(node.app, `${token}/status`, { since: tag });
  await until(() => node.resolutions.asleepIn(workspaceId) === 1, "a page that waits");
  await node.stop();
  assert.deepEqual([(await answer).status, (await answer).json.tag], [200, tag]);
});
