// `audience` and `requireSignature` of a create: kept, and answered where they were given. Approvers see the audience.
// Whether a request needs signatures is settled when it is created, by the strictest of caller, workspace and groups.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import * as approvals from "../src/storage/approvals/approvals.ts";
import { decisionBody, findReviewer, openReview, postReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, proofFields, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
const workspace = await makeWorkspace(db);
after(() => service.stop());

const post = (body: object, { key, headers = {} }: { key: string; headers?: object }) =>
  service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, ...body },
    headers: { ...headers },
  });

async function needsSignature(id: string): Promise<boolean> {
  const { rows } = await db.query("select needs_signature from approvals where id = $1", [id]);
  return rows[0]?.needs_signature;
}

/** A workspace whose group "signers" asks for signatures, and whose group "others" doesn't. */
async function makeSigners() {
  const { id: workspaceId, key } = await makeWorkspace(db);
  for (const [name, ...members] of [
    ["signers", "sue@example.com", "sam@example.com"],
    ["others", "oda@example.com", "ole@example.com"],
  ] as const) {
    const made = await createGroup(db, { workspaceId, key: name, name, members: [...members] });
    assert.ok(!isRefusal(made));
  }
  await db.query(
    "update groups set requires_signature = true where workspace_id = $1 and key = 'signers'",
    [workspaceId],
  );
  const created = async (body: object) => {
    const { status, json } = await post(body, { key });
    assert.equal(status, 201, JSON.stringify(json));
    return needsSignature(json.id);
  };
  return { workspaceId, key, created };
}

test("audience and requireSignature come back as they were given, in every answer, and only where they were given", async () => {
  const { id: workspaceId, key } = workspace;
  const headers = { "idempotency-key": "proof-1" };
  const { json, status } = await post(proofFields, { key, headers });
  assert.equal(status, 201);
  const given = ({ audience, requireSignature }: Record<string, unknown>) => ({
    audience,
    requireSignature,
  });
  assert.deepEqual(given(json), proofFields);
  assert.deepEqual((await post(proofFields, { key, headers })).json, json);
  const plain = await post({ audience: null, requireSignature: null }, { key });
  assert.deepEqual(["audience" in plain.json, "requireSignature" in plain.json], [false, false]);
  const read = await service.call("GET", `/v1/requests/${json.id}`, { key });
  assert.deepEqual(read.json, json);
  const { json: list } = await service.call("GET", "/v1/requests", { key });
  assert.deepEqual(
    list.data.map((each: object) => "audience" in each || "requireSignature" in each),
    [false, true],
  );
  const found = await approvals.find(db, workspaceId, json.id);
  assert.deepEqual(given({ ...found?.approval }), proofFields);
  const cancelled = await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  assert.deepEqual(given(cancelled.json), proofFields);
});

test("many creates at once keep each its own audience and signature", async () => {
  const given = [
    { audience: ["a"], requireSignature: false },
    { audience: null, requireSignature: true },
    { audience: ["b", "c"], requireSignature: null },
    { audience: null, requireSignature: null },
  ];
  const replies = await Promise.all(given.map((each) => post(each, workspace)));
  assert.deepEqual(
    replies.map(({ json: { audience = null, requireSignature = null } }) => ({
      audience,
      requireSignature,
    })),
    given,
  );
  assert.deepEqual(await Promise.all(replies.map(({ json }) => needsSignature(json.id))), [
    false,
    true,
    false,
    false,
  ]);
});

test("flawed audiences and signatures are refused with what is wrong, and nothing is created", async () => {
  const { key } = await makeWorkspace(db);
  for (const [body, message] of [
    [{ audience: "ledger" }, "audience: must be an array of strings, not a string."],
    [{ audience: [] }, "audience: must have 1 to 5 items, but has 0."],
    [{ audience: ["a", "a"] }, "audience[1]: stands there a second time."],
    [
      { audience: ["a b"] },
      "audience[0]: must not contain white space, control or invisible characters (found U+0020).",
    ],
    [{ requireSignature: "true" }, "requireSignature: must be true or false, not a string."],
    [{ requireSignature: 1 }, "requireSignature: must be true or false, not a number."],
  ] as const) {
    const { status, json } = await post(body, { key });
    assert.deepEqual([status, json.error.code], [400, "validation_error"]);
    assert.equal(json.error.message, message);
  }
  const { json } = await service.call("GET", "/v1/requests", { key });
  assert.deepEqual(json.data, []);
});

test("approvers see the audience that they sign, and what they saw is bound with it", async () => {
  const { json } = await post(proofFields, workspace);
  const { token } = await findReviewer(db, json.id);
  const { signing, ...review } = await openReview(service.app, token);
  assert.ok(signing?.needed);
  assert.deepEqual(review.audience, proofFields.audience);
  assert.deepEqual(signing.audience, review.audience);
  assert.doesNotMatch(JSON.stringify(review), /requireSignature/);
  const reject = (shown: typeof review) =>
    postReview(
      service.app,
      `${token}/decision`,
      decisionBody({ ...shown, signing }, { verdict: "reject" }),
    );
  const { audience, ...without } = review;
  for (const other of [without, { ...review, audience: ["ledger"] }]) {
    const { status, json } = await reject(other);
    assert.deepEqual([status, json.error.code], [409, "stale_view"]);
  }
  assert.equal((await reject(review)).status, 200);
});

test("a request without an audience shows none", async () => {
  const { json } = await post({}, workspace);
  const { token } = await findReviewer(db, json.id);
  const review = await openReview(service.app, token);
  assert.equal("audience" in review, false);
});

test("a workspace's demand for signatures holds for every request, and a caller's false doesn't lower it", async () => {
  const { workspaceId, created } = await makeSigners();
  assert.equal(await created({}), false);
  await db.query("update workspaces set requires_signature = true where id = $1", [workspaceId]);
  assert.equal(await created({}), true);
  assert.equal(await created({ requireSignature: false }), true);
  assert.equal(await created({ notify: "group:others", requireSignature: false }), true);
  assert.equal(await created({ requestedBy: "eve@example.com", requireSignature: false }), true);
  assert.equal(await created({ quorum: 1, requireSignature: null }), true);
});

test("a group's demand for signatures holds wherever the group is named: first, later or by escalation", async () => {
  const { created } = await makeSigners();
  const later = { notify: "group:others", quorum: 1 };
  assert.equal(await created({ notify: "group:signers" }), true);
  assert.equal(await created({ notify: "group:signers", requireSignature: false }), true);
  assert.equal(await created({ notify: "group:others" }), false);
  assert.equal(await created({ ...later, then: [{ notify: "ann@example.com" }] }), false);
  assert.equal(await created({ ...later, then: [{ notify: "group:signers" }] }), true);
  const third = [{ notify: "ann@example.com" }, { notify: "group:signers", quorum: 2 }];
  assert.equal(await created({ ...later, then: third, requireSignature: false }), true);
  const step = { afterMinutes: 10, notify: "group:signers" };
  assert.equal(await created({ ...later, escalate: [step] }), true);
  assert.equal(await created({ ...later, requireSignature: true }), true);
});

test("another workspace's group of the same key asks for nothing here", async () => {
  await makeSigners();
  const { id: workspaceId, key } = await makeWorkspace(db);
  const group = { workspaceId, key: "signers", name: "Signers", members: ["sue@example.com"] };
  assert.ok(!isRefusal(await createGroup(db, group)));
  const { json } = await post({ notify: "group:signers" }, { key });
  assert.equal(await needsSignature(json.id), false);
});
