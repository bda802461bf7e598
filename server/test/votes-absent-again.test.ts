// Absences beside each other and one after the other: chains of delegates of whom one comes back, a second absence with the
// same delegate, a limit that came later, and other spellings of an address.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { remind } from "../src/operations/votings/remind.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { db } = service;
after(() => service.stop());
const { workspaceWith, ask, vote, sweep, mailsOf, passOn, beAway } = makeVoters(service);

const [ann, bob, cy, dee, eve] = ["ann", "bob", "cy", "dee", "eve"].map(
  (name) => `${name}@example.com`,
) as [string, string, string, string, string];

async function workspaceOf(members: string[], helpers: string[]) {
  const workspace = await workspaceWith(members);
  const { id: workspaceId } = workspace;
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: helpers });
  return { ...workspace, workspaceId };
}

async function comeBack(workspaceId: string, email: string): Promise<void> {
  await db.query(
    "update absences set ends_at = now_ms() where workspace_id = $1 and email = $2 and ends_at > now_ms()",
    [workspaceId, email],
  );
  await sweep();
}

test("who stands in through another absence does so only while that one runs, too", async () => {
  const { key, workspaceId } = await workspaceOf([ann], [bob, dee]);
  await beAway(workspaceId, ann, bob);
  await beAway(workspaceId, bob, dee);
  await sweep();
  const { id } = await ask(key, { quorum: 1 });
  assert.deepEqual(await mailsOf(id, "request.created"), [dee]);
  await comeBack(workspaceId, bob);
  const refused = await vote(id, dee);
  assert.deepEqual([refused.status, refused.json.error?.code], [409, "vote_refused"]);
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [bob], "who is back is asked");
  await remind(db, { workspaceId, approvalId: id });
  assert.deepEqual(await mailsOf(id, "request.reminded"), [bob]);
  assert.equal((await vote(id, bob)).json.outcome?.status, "APPROVED");
});

test("in a chain of three, the one who is back is asked in the place of the first", async () => {
  const { key, workspaceId } = await workspaceOf([ann], [bob, cy, dee]);
  await beAway(workspaceId, ann, bob);
  await beAway(workspaceId, bob, cy);
  await beAway(workspaceId, cy, dee);
  await sweep();
  const { id } = await ask(key, { quorum: 1 });
  const other = await workspaceOf([ann], [bob]);
  await beAway(other.workspaceId, ann, bob);
  await sweep();
  await comeBack(workspaceId, cy);
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [cy]);
  const { rows } = await db.query(
    "select from absences where workspace_id = any ($1) and begun_at is null",
    [[workspaceId, other.workspaceId]],
  );
  assert.equal(rows.length, 0, "all have begun");
  await comeBack(workspaceId, bob);
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [bob, cy]);
  assert.equal((await vote(id, cy)).status, 409);
  assert.equal((await vote(id, bob)).json.outcome?.status, "APPROVED");
});

test("away once more, the same delegate is asked also if they passed the first time on", async () => {
  const { key, workspaceId } = await workspaceOf([ann], [dee, eve]);
  await beAway(workspaceId, ann, dee);
  const { id } = await ask(key, { quorum: 1 });
  assert.equal((await passOn(id, dee, eve)).status, 200);
  await comeBack(workspaceId, ann);
  await beAway(workspaceId, ann, dee);
  await sweep();
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [dee, eve]);
  await remind(db, { workspaceId, approvalId: id });
  assert.deepEqual(await mailsOf(id, "request.reminded"), [dee]);
  assert.equal((await vote(id, eve)).status, 409, "it was for the first absence");
  assert.equal((await vote(id, dee)).json.outcome?.status, "APPROVED");
});

test("a delegate from before a limit of domains isn't asked where it doesn't let them", async () => {
  const stranger = "x@other.test";
  const { key, workspaceId } = await workspaceOf([ann], [stranger]);
  const before = await ask(key, { quorum: 1 });
  await beAway(workspaceId, ann, stranger);
  await db.query(
    "update workspaces set approver_limit = 'domains', approver_domains = '{example.com}' where id = $1",
    [workspaceId],
  );
  await sweep();
  assert.deepEqual(await mailsOf(before.id, "request.reassigned"), []);
  for (const body of [{ notify: ann }, { quorum: 1 }]) {
    const { id } = await ask(key, body);
    assert.deepEqual(await mailsOf(id, "request.created"), [ann]);
  }
});

test("who owns the key passes nothing on by an absence, also not what was handed over to them", async () => {
  const { key, id: workspaceId } = await workspaceOf([ann, bob], [dee, eve]);
  const { id } = await ask(key, { quorum: 1 });
  assert.equal((await passOn(id, ann, eve)).status, 200);
  await db.query("update api_keys set owner_email = $2 where workspace_id = $1", [
    workspaceId,
    eve,
  ]);
  await beAway(workspaceId, eve, dee);
  await sweep();
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [eve], "nobody was asked for eve");
  await assert.rejects(vote(id, dee), /was asked about/);
  assert.equal((await vote(id, bob)).json.outcome?.status, "APPROVED");
});

test("an absence begins for what asks the person by another spelling, too", async () => {
  const tagged = ["Ann+pay@Example.com", "ann+fin@example.com"];
  const { key, workspaceId } = await workspaceOf([tagged[1] ?? ""], [dee]);
  const plain = await ask(key, { notify: tagged[0] });
  const ofGroup = await ask(key);
  const others = await ask(key, { notify: "anna@example.com" });
  await beAway(workspaceId, ann, dee);
  await sweep();
  assert.deepEqual(await mailsOf(plain.id, "request.reassigned"), [dee]);
  assert.deepEqual(await mailsOf(ofGroup.id, "request.reassigned"), [dee]);
  assert.deepEqual(await mailsOf(others.id, "request.reassigned"), []);
});
