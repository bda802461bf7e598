// Every fact of a workspace is in its log, the log says nothing to a stranger, and whoever holds a fact can check it.

import assert from "node:assert/strict";
import { createHmac, hash } from "node:crypto";
import { after, test } from "node:test";
import { logLabel } from "../src/domain/proof/log-entry.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { addMember, removeMemberByEmail } from "../src/operations/people/add-member.ts";
import { addGroupMember, renameGroup } from "../src/operations/people/manage-group.ts";
import {
  addPasskey,
  beginPasskey,
  removePasskey,
} from "../src/operations/people/manage-passkeys.ts";
import { currentSigner, rotateSigningKey } from "../src/operations/proof/signing-keys.ts";
import { revokeKey } from "../src/operations/workspaces/issue-key.ts";
import { updateWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import { auditLogs, sequenceAll } from "./log-audit.ts";
import { makeAuthenticator } from "./test-passkey.ts";
import { findReviewer, postReview } from "./test-review.ts";
import { fullBody, startService, testKeyring, testPublicUrl } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { makeEndpoint } from "./test-worker.ts";

let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { db } = service;
after(() => service.stop());
const { workspaceWith, ask, vote, read, passOn } = makeVoters(service);

const cfo = "cfo@example.com";
const sealed = <Value>(value: Value) => {
  assert.ok(!isRefusal(value), JSON.stringify(value));
  return value as Exclude<Value, { refusal: string }>;
};

/** Lives a whole life: everything that a workspace can do at least once. */
async function live() {
  const workspace = await workspaceWith();
  const { id: workspaceId, key, keyId, groupId } = workspace;
  sealed(await updateWorkspace(db, workspaceId, { expiryMinutes: 120 }));
  sealed(await renameGroup(db, { id: groupId, name: "Payers" }));
  sealed(await addGroupMember(db, groupId, "dora@example.com"));
  sealed(await addMember(db, { workspaceId, email: "olga@example.com", role: "owner" }));
  sealed(await addMember(db, { workspaceId, email: "vera@example.com", role: "viewer" }));
  sealed(await removeMemberByEmail(db, { workspaceId, email: "vera@example.com" }));
  await makeEndpoint(db, workspaceId, "https://receiver.example/hook");
  const alone = await service.call("POST", "/v1/requests", { key, body: fullBody });
  const { token } = await findReviewer(db, alone.json.id);
  assert.equal((await postReview(service.app, `${token}/status`, "{}")).status, 200);
  const edit = '{"amount":9007199254740993,"to":"ACME"}';
  assert.equal((await vote(alone.json.id, "ann@example.com", { edit, note: "less" })).status, 200);
  const redeem = await service.call("POST", `/v1/requests/${alone.json.id}/redeem`, { key });
  assert.equal(redeem.status, 200);
  const refused = await service.call("POST", "/v1/requests", { key, body: fullBody });
  await vote(refused.json.id, "ann@example.com", { verdict: "reject", note: "never" });
  const several = await ask(key, { quorum: 2, then: [{ notify: cfo }] });
  await vote(several.id, "ann@example.com");
  await vote(several.id, "bob@example.com", { edit: '{"amount":3}' });
  await passOn(several.id, "cy@example.com", "dora@example.com");
  await vote(several.id, "ann@example.com");
  await vote(several.id, cfo);
  assert.equal((await read(key, several.id)).status, "APPROVED");
  const cancelled = await ask(key, { notify: "ann@example.com" });
  await service.call("POST", `/v1/requests/${cancelled.id}/cancel`, { key });
  const late = await ask(key, { notify: "ann@example.com" });
  await db.query("update approvals set expires_at = now_ms() where id = $1", [late.id]);
  assert.equal((await read(key, late.id)).status, "EXPIRED");
  await changePasskeys();
  await currentSigner(db, testKeyring);
  await rotateSigningKey(db, testKeyring);
  sealed(await revokeKey(db, keyId));
  return { workspaceId, aloneId: alone.json.id as string, edit };
}

async function changePasskeys() {
  const { rows } = await db.query<{ id: string; email: string }>(
    "insert into people (email) values ('olga@example.com') on conflict do nothing returning id, email",
  );
  const owner = rows[0] ?? (await findPerson());
  const publicUrl = testPublicUrl;
  const question = sealed(await beginPasskey(db, { owner, publicUrl }));
  const response = makeAuthenticator(new URL(publicUrl).origin).create(question.options);
  const { challengeId } = question;
  const input = { owner, publicUrl, challengeId, response, name: "Key" };
  const { id } = sealed(await addPasskey(db, input));
  assert.ok(await removePasskey(db, { id, owner }));
}

async function findPerson() {
  const { rows } = await db.query<{ id: string; email: string }>(
    "select id, email from people where email = 'olga@example.com'",
  );
  return rows[0] ?? assert.fail("she has signed in");
}

const lived = await live();
const { rows: told } = await db.query<{ workspace_id: string; detail: { kind: string } }>(
  "select workspace_id, detail from log_pending where source = 'd'",
);
await sequenceAll(db);
const trees = await auditLogs(db);
const tree = trees.find((each) => each.workspaceId === lived.workspaceId) ?? assert.fail();

test("every fact has one entry", async () => {
  const { rows } = await db.query<{ subject: string }>(
    `select id as subject from events
     where workspace_id = $1 and approval_id is not null
       and kind not in ('mail.failed', 'callback.failed', 'request.expiring', 'request.reminded')
     union all select id from activity where workspace_id = $1
     union all select approval_id from redemptions where workspace_id = $1
     union all select id from reviewers where workspace_id = $1 and opened_at is not null`,
    [lived.workspaceId],
  );
  const expected = rows.map(({ subject }) => subject);
  const ofRows = tree.entries.filter(({ subject }) => expected.includes(subject ?? ""));
  assert.deepEqual(ofRows.map(({ subject }) => subject).sort(), expected.sort());
  const ofDetails = told.filter((each) => each.workspace_id === lived.workspaceId);
  const others = tree.entries.filter((each) => !ofRows.includes(each));
  assert.deepEqual(
    others.map(({ entry }) => entry.kind).sort(),
    ["log.opened", ...ofDetails.map(({ detail }) => detail.kind)].sort(),
  );
  const kinds = new Set(tree.entries.map(({ entry }) => entry.kind));
  for (const kind of [
    "request.created",
    "request.opened",
    "request.vote_recorded",
    "request.approved",
    "request.rejected",
    "request.cancelled",
    "request.expired",
    "request.redeemed",
    "request.changed",
    "request.stage_entered",
    "request.reassigned",
    "activity.workspace.created",
    "activity.key.issued",
    "activity.key.revoked",
    "activity.endpoint.added",
    "activity.member.added",
    "activity.member.removed",
    "activity.group.created",
    "activity.group.member_added",
    "activity.settings.changed",
    "passkey.added",
    "passkey.removed",
    "signing_key.rotated",
    "log.opened",
  ]) {
    assert.ok(kinds.has(kind), `no entry of ${kind}`);
  }
});

test("an entry holds no address, no text and no plain digest of anything", async () => {
  const entries = trees.flatMap((each) => each.entries.map(({ text }) => text)).join("\n");
  const { rows: people } = await db.query<{ id: string }>("select id from people");
  const { rows: texts } = await db.query<{ text: string }>(
    `select unnest(array[payload, edit, metadata, agent_state, reasoning, summary, recent_actions]) as text
     from approvals union select payload from revisions`,
  );
  const { rows: shown } = await db.query<{ digest: Buffer }>(
    "select shown_digest as digest from evidence",
  );
  assert.ok(shown.length > 3);
  const digests = [
    ...texts.filter(({ text }) => text !== null).map(({ text }) => hash("sha256", text, "buffer")),
    ...shown.map(({ digest }) => digest),
    ...people.map(({ id }) => hash("sha256", id, "buffer")),
  ];
  for (const digest of digests) {
    for (const form of ["hex", "base64", "base64url"] as const) {
      assert.ok(!entries.includes(digest.toString(form)));
    }
  }
  assert.doesNotMatch(entries, /@|ACME|Refund|Pay|never|less|127\.0\.0\.1|amount/);
  for (const { id } of people) assert.ok(!entries.includes(id));
});

test("payload and effective payload can be checked by whoever has them and the request's salt", async () => {
  const ofAlone = tree.entries.filter(({ entry }) => entry.request === lived.aloneId);
  const [{ salt } = assert.fail()] = ofAlone;
  assert.ok(
    ofAlone.every((each) => each.salt?.equals(salt ?? Buffer.alloc(0))),
    "one salt for each request",
  );
  const salted = (field: string, text: string) =>
    createHmac("sha256", salt ?? "")
      .update(`${field}\0${text}`)
      .digest("base64url");
  const created = ofAlone.find(({ entry }) => entry.kind === "request.created");
  const payload = JSON.stringify(fullBody.payload);
  assert.equal(created?.entry.salted.payload, salted("payload", payload));
  assert.deepEqual(created?.fact.payload, {
    digest: hash("sha256", payload, "base64url"),
    bytes: Buffer.byteLength(payload),
  });
  const approved = ofAlone.find(({ entry }) => entry.kind === "request.approved");
  assert.equal(approved?.entry.salted.effective, salted("effective", lived.edit));
  assert.equal(approved?.fact.effective.digest, hash("sha256", lived.edit, "base64url"));
  assert.equal(approved?.fact.by, "ann@example.com");
  assert.equal(approved?.fact.votes[0].evidence.amr[0], "mail");
  const salts = new Set(tree.entries.map((each) => each.salt?.toString("hex")));
  const requests = new Set(tree.entries.map(({ entry }) => entry.request).filter(Boolean));
  const others = tree.entries.filter(({ entry }) => entry.request === undefined).length;
  assert.equal(salts.size, requests.size + others);
});

test("votes are told with who stood in, their revision, and what counts at the end", () => {
  const votes = tree.entries.filter(({ entry }) => entry.kind === "request.vote_recorded");
  assert.ok(votes.length >= 4);
  for (const { fact } of votes) assert.equal(fact.votes.length, 1, fact.text);
  const approved = tree.entries.filter(({ entry }) => entry.kind === "request.approved");
  const ended = approved.find(({ fact }) => fact.policy.required === 3)?.fact;
  assert.deepEqual(ended?.policy, { required: 3, stages: [2, 1] });
  assert.deepEqual(
    ended?.votes.map((each: { email: string; revision: number }) => [each.email, each.revision]),
    [
      ["bob@example.com", 2],
      ["ann@example.com", 2],
      [cfo, 2],
    ],
  );
  const changed = tree.entries.find(({ entry }) => entry.kind === "request.changed");
  assert.equal(changed?.fact.effective.digest, hash("sha256", '{"amount":3}', "base64url"));
  assert.equal(typeof changed?.entry.salted.effective, "string");
});

test("entries are in the order in which things happened", () => {
  const times = tree.entries.slice(1).map(({ entry }) => entry.at as string);
  assert.deepEqual(times, times.toSorted());
  for (const { entry } of tree.entries.filter((each) => each.entry.request !== undefined)) {
    const first = tree.entries.find((each) => each.entry.request === entry.request);
    assert.equal(first?.entry.kind, "request.created");
  }
});

test("deleting what an entry stands for leaves the tree as it was", async () => {
  const before = tree.size;
  await db.query("delete from log_openings where approval_id = $1", [lived.aloneId]);
  const again = (await auditLogs(db)).find(({ id }) => id === tree.id);
  assert.equal(again?.size, before);
});

test("the installation's log names each checkpoint of each workspace", () => {
  const whole = trees.find(({ workspaceId }) => workspaceId === null) ?? assert.fail();
  assert.equal(whole.entries[0]?.entry.kind, "log.opened");
  const named = whole.entries.slice(1).map(({ entry, fact }) => {
    const [origin, size] = fact.body.split("\n");
    assert.equal(fact.origin, origin);
    return `${entry.id} ${size}`;
  });
  const signed = trees
    .filter(({ workspaceId }) => workspaceId !== null)
    .flatMap(({ origin, signed: sizes }) => sizes.map((size) => `${logLabel(origin)} ${size}`));
  assert.deepEqual(named.sort(), signed.sort());
});
