// What people try who should no longer be part of a request, or never were: removed stand-ins, and strangers with a link.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { findReviewer, handOverBody, openReview, postReview } from "./test-review.ts";
import { makeWorkspace, startService } from "./test-service.ts";

let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { db, app } = service;
after(() => service.stop());

const ann = "ann@example.com";
const bob = "bob@example.com";
const cy = "cy@example.com";
const outside = "outside@example.com";

async function workspaceWith(members: readonly string[]) {
  const workspace = await makeWorkspace(db, { name: "Acme" });
  const groupId = await addGroup(workspace.id, "finance", members);
  return { ...workspace, groupId };
}

async function addGroup(workspaceId: string, key: string, members: readonly string[]) {
  const group = await createGroup(db, { workspaceId, key, name: key, members: [...members] });
  assert.ok(!isRefusal(group), JSON.stringify(group));
  return group.id;
}

async function ask(key: string, body: object) {
  const sent = { summary: "Pay 40,000", payload: { amount: 40000 }, ...body };
  const reply = await service.call("POST", "/v1/requests", { key, body: sent });
  assert.equal(reply.status, 201, reply.text);
  return reply.json;
}

async function passOn(id: string, from: string, to: string) {
  const { token } = await findReviewer(db, id, { email: from });
  const review = await openReview(app, token);
  return postReview(app, `${token}/hand-over`, handOverBody(review, to));
}

test("a colleague who took a vote over and was removed sees nothing more of the request", async () => {
  const { key, groupId } = await workspaceWith([bob, cy]);
  const asked = await ask(key, { notify: outside });
  assert.equal((await passOn(asked.id, outside, bob)).status, 200);
  const { token } = await findReviewer(db, asked.id, { email: bob });
  await openReview(app, token);
  await removeGroupMember(db, groupId, bob);
  await assert.rejects(openReview(app, token), "the payload is not theirs to read any more");
  const refused = await postReview(app, `${token}/status`, {});
  assert.equal(refused.status, 404);
});

test("a stranger with a link can't try out who works in the workspace", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await db.query("update workspaces set hand_over = 'group' where id = $1", [workspaceId]);
  const asked = await ask(key, { notify: outside });
  const words = async (to: string) =>
    (await passOn(asked.id, outside, to)).json.error.message.replaceAll(to, "X");
  assert.equal(await words(ann), await words("nobody@example.com"));
});
