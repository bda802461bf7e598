// Receipts: what they say, that the same request has the same one everywhere, and that others' libraries verify them.

import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  currentSigner,
  revokeSigningKey,
  rotateSigningKey,
} from "../src/operations/proof/signing-keys.ts";
import { changeKey } from "../src/operations/workspaces/issue-key.ts";
import { sequenceAll } from "./log-audit.ts";
import { decide, findReviewer } from "./test-review.ts";
import {
  insist,
  makeWorkspace,
  startNode,
  startService,
  type TestNode,
  testKeyring,
  testPublicUrl,
} from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const otherNode = await startNode(service.database);
const { db, app } = service;
after(async () => {
  await otherNode.stop();
  await service.stop();
});

const { workspaceWith, ask, vote, read, beAway, sweep } = makeVoters(service);
const [ann, bob, cy, cfo] = ["ann", "bob", "cy", "cfo"].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
  string,
];

test("a receipt says exactly what one person decided, and jose verifies it", async () => {
  const { workspaceId, key, id } = await decided('{"amount": 1.0}', { verdict: "approve" });
  const { resolvedAt } = await read(key, id);
  const reply = await receiptOf(key, id);
  assert.equal(reply.headers["content-type"], "application/jwt");
  const { payload: claims, protectedHeader } = await verified(reply.text, workspaceId);
  assert.deepEqual(Object.keys(protectedHeader), ["alg", "typ", "kid"]);
  const { alg, typ, kid } = protectedHeader;
  assert.deepEqual([alg, typ], ["Ed25519", "countersign-receipt+jwt"]);
  assert.equal(kid, (await currentSigner(db, testKeyring))?.id);
  const iat = Math.floor(Date.parse(resolvedAt) / 1000);
  const digested = { digest: digestOf('{"amount": 1.0}'), bytes: 15 };
  // The order of the members is part of the format.
  assert.equal(
    claimsTextOf(reply.text),
    JSON.stringify({
      iss: testPublicUrl,
      aud: [workspaceId],
      sub: id,
      jti: await eventOf(id, "request.approved"),
      iat,
      nbf: iat,
      exp: iat + 24 * 3_600,
      ws: workspaceId,
      decision: "approved",
      edited: false,
      by: [{ email: ann, at: resolvedAt, amr: await amrOf(id, 1, ann) }],
      policy: { required: 1, stages: [1] },
      shown: await shownOf(id, 1, ann),
      payload: digested,
      effective: digested,
      log: await logOf(workspaceId),
      level: "operator-signed",
    }),
  );
  assert.equal(claims.sub, id);
});

test("a rejection names who rejected, and nothing to execute", async () => {
  const { workspaceId, key, id } = await decided('{"a":1}', { verdict: "reject", note: "no" });
  const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
  assert.equal(claims.decision, "rejected");
  assert.equal(claims.jti, await eventOf(id, "request.rejected"));
  assert.equal(claims.effective, null);
  assert.deepEqual(claims.payload, { digest: digestOf('{"a":1}'), bytes: 7 });
  assert.deepEqual(
    (claims.by as { email: string }[]).map(({ email }) => email),
    [ann],
  );
  const payload = await service.call("GET", `/v1/requests/${id}/effective-payload`, { key });
  assert.equal(payload.status, 404);
  const embedded = await receiptOf(key, id, "?embed=payload");
  assert.equal(embedded.text, (await receiptOf(key, id)).text, "there is no text to embed");
});

test("several stages with an edit in between: the votes on the last text, in their order", async () => {
  const { key, id: workspaceId } = await workspaceWith();
  const { id } = await ask(key, { quorum: 2, then: [{ notify: cfo }] });
  await vote(id, ann);
  await vote(id, bob);
  await vote(id, cfo, { edit: '{"amount": 3E4}' });
  await vote(id, cy);
  assert.equal((await receiptOf(key, id)).status, 404, "it is not decided yet");
  await vote(id, ann);
  const done = await read(key, id);
  const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
  assert.deepEqual(claims.policy, { required: 3, stages: [2, 1] });
  assert.equal(claims.edited, true);
  assert.deepEqual(claims.effective, { digest: digestOf('{"amount": 3E4}'), bytes: 15 });
  assert.deepEqual(claims.payload, { digest: digestOf('{"amount":40000}'), bytes: 16 });
  const told = done.approvals.stages.flatMap(({ votes }: { votes: object[] }) => votes);
  const current = told
    .filter(({ revision }: { revision: number }) => revision === 2)
    .sort((one: { at: string }, other: { at: string }) => (one.at < other.at ? -1 : 1));
  assert.deepEqual(
    (claims.by as { email: string; at: string }[]).map(({ email, at }) => ({ email, at })),
    current.map(({ email, at }: { email: string; at: string }) => ({ email, at })),
  );
  assert.deepEqual(
    (claims.by as { email: string }[]).map(({ email }) => email),
    [cfo, cy, ann],
  );
  assert.deepEqual(claims.shown, await shownOf(id, 2, ann));
});

test("a vote that no longer counts is neither in the receipt nor in the log's decision", async () => {
  const { key, keyId, id: workspaceId } = await workspaceWith();
  const { id } = await ask(key, { quorum: 2 });
  await vote(id, ann);
  await changeKey(db, { id: keyId, ownerEmail: ann });
  await sweep();
  await vote(id, bob);
  await vote(id, cy);
  const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
  assert.deepEqual(emailsOf(claims), [bob, cy]);
  await sequenceAll(db);
  const { rows } = await db.query<{ fact: string }>(
    'select fact from log_openings where approval_id = $1 and fact like \'{"kind":"request.approved"%\'',
    [id],
  );
  const { votes } = JSON.parse(rows[0]?.fact ?? "null");
  assert.deepEqual(emailsOf({ by: votes }), [bob, cy]);
});

test("one of a group is named, and a delegate with the colleague for whom they voted", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  const alone = await ask(key, {});
  await vote(alone.id, bob);
  const { payload: ofGroup } = await verified((await receiptOf(key, alone.id)).text, workspaceId);
  assert.deepEqual(emailsOf(ofGroup), [bob]);
  assert.deepEqual(ofGroup.policy, { required: 1, stages: [1] });

  await db.query(
    "insert into members (workspace_id, email, role, joined_at) values ($1, $2, 'viewer', now_ms())",
    [workspaceId, cy],
  );
  await beAway(workspaceId, ann, cy);
  const { id } = await ask(key, { quorum: 2 });
  await sweep();
  await vote(id, bob);
  const last = await vote(id, cy);
  assert.equal(last.status, 200, last.text);
  const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
  const by = claims.by as { email: string; for?: string }[];
  assert.deepEqual(
    by.map(({ email, for: absent = null }) => [email, absent]),
    [
      [bob, null],
      [cy, ann],
    ],
  );
});

test("digests are of the exact bytes: other numbers, other spellings and other texts differ", async () => {
  const texts = [
    "9007199254740993",
    "9007199254740992",
    "1.0",
    "1",
    '"é"',
    '"\\u00e9"',
    '{"a":1}',
    '{ "a": 1 }',
  ];
  const digests = await Promise.all(
    texts.map(async (text) => {
      const { key, id, workspaceId } = await decided(text, { verdict: "approve" });
      const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
      const bytes = Buffer.byteLength(text);
      assert.deepEqual(claims.effective, { digest: digestOf(text), bytes });
      const answer = await service.call("GET", `/v1/requests/${id}/effective-payload`, { key });
      assert.equal(answer.text, text);
      const base64 = hash("sha256", text, "base64");
      assert.equal(answer.headers["repr-digest"], `sha-256=:${base64}:`);
      return digestOf(text);
    }),
  );
  assert.equal(new Set(digests).size, texts.length);
});

test("an edit's bytes are the effective ones, and embedding puts exactly them into the receipt", async () => {
  const edit = '{"amount": 9007199254740993, "rate": 1.0,"x":"\\u00e9\\ud83d\\ude00\\"}"}';
  const { key, id, workspaceId } = await decided('{"amount": 1}', { verdict: "approve", edit });
  const plain = await receiptOf(key, id);
  const embedded = await receiptOf(key, id, "?embed=payload");
  const { payload: claims } = await verified(embedded.text, workspaceId);
  assert.equal(claims.text, edit);
  assert.equal(claims.edited, true);
  assert.deepEqual(claims.effective, { digest: digestOf(edit), bytes: Buffer.byteLength(edit) });
  const { text: _, ...others } = claims;
  assert.equal(JSON.stringify(others), claimsTextOf(plain.text), "and nothing else differs");
  assert.equal((await receiptOf(key, id, "?embed=payload")).text, embedded.text);
  assert.equal((await receiptOf(key, id, "?embed=all")).status, 400);
  assert.equal((await receiptOf(key, id, "?embed=payload&embed=payload")).status, 400);
});

test("a request without a payload has a receipt, and no bytes", async () => {
  const { key, id, workspaceId } = await decided(null, { verdict: "approve" });
  const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
  const nothing = { digest: null, bytes: 0 };
  assert.deepEqual([claims.payload, claims.effective], [nothing, nothing]);
  const answer = await service.call("GET", `/v1/requests/${id}/effective-payload`, { key });
  assert.deepEqual([answer.status, answer.json.error.code], [404, "not_found"]);
  assert.match(answer.json.error.message, /without a payload/);
});

test("a passkey's signature is in the receipt, and only then it is person-signed", async () => {
  const { key, id, workspaceId } = await decided('{"a":1}', { verdict: "approve" });
  const [data, client, signature] = [randomBytes(37), Buffer.from("{}"), randomBytes(70)];
  await db.query("update workspaces set receipt_hours = 2 where id = $1", [workspaceId]);
  await db.query("delete from evidence where approval_id = $1", [id]);
  await db.query("alter table evidence disable trigger user");
  await db.query(
    `insert into evidence (workspace_id, approval_id, revision, voter, email, verdict, voted_at, shown_version,
       shown_digest, amr, credential_id, statement, authenticator_data, client_data, signature)
     select workspace_id, id, 1, person_of(resolved_by_email), resolved_by_email, 'approve', resolved_at, 2,
       sha256('shown'), array['mail', 'passkey'], 'cred-1', $2, $3, $4, $5
     from approvals where id = $1`,
    [id, '{"request":"é"}', data, client, signature],
  );
  await db.query("alter table evidence enable trigger user");
  const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
  assert.equal(claims.level, "person-signed");
  assert.deepEqual(claims.shown, { v: 2, digest: digestOf("shown") });
  assert.equal(Number(claims.exp) - Number(claims.iat), 2 * 3_600);
  const [vote] = claims.by as [Record<string, unknown>];
  assert.deepEqual([vote.amr, vote.cred], [["mail", "passkey"], "cred-1"]);
  assert.deepEqual(vote.assertion, {
    statement: '{"request":"é"}',
    authenticatorData: data.toString("base64url"),
    clientDataJSON: client.toString("base64url"),
    signature: signature.toString("base64url"),
  });
});

test("receipts name the audience that the request was created for", async () => {
  const { key, id, workspaceId } = await asked('{"a":1}');
  await db.query("update approvals set audience = $2 where id = $1", [id, ["bank", "ledger"]]);
  await approve(id);
  const { text } = await receiptOf(key, id);
  const { payload: claims } = await verified(text, "ledger");
  assert.deepEqual(claims.aud, ["bank", "ledger"]);
  await assert.rejects(verified(text, workspaceId), /"aud"/);
});

test("a receipt names the limit of approvers that held when it was asked", async () => {
  const { id: workspaceId, key } = await workspaceWith([ann, bob]);
  const setLimit = (limit: string) =>
    db.query("update workspaces set approver_limit = $2 where id = $1", [workspaceId, limit]);
  await setLimit("members");
  const plain = await ask(key);
  const seated = await ask(key, { quorum: 2 });
  await setLimit("anybody");
  for (const [id, voters] of [
    [plain.id, [ann]],
    [seated.id, [ann, bob]],
  ] as const) {
    for (const voter of voters) await vote(id, voter);
    const { payload: claims } = await verified((await receiptOf(key, id)).text, workspaceId);
    const stages = [voters.length];
    assert.deepEqual(claims.policy, { required: voters.length, stages, approvers: "members" });
  }
});

test("racing readers on two nodes get the same bytes, and one row is kept", async () => {
  const { key, id } = await decided('{"a":1}', { verdict: "approve" });
  const replies = await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      insist(n % 2 === 0 ? service : otherNode, "GET", `/v1/requests/${id}/receipt`, { key }),
    ),
  );
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
  // A setting that changes afterwards doesn't change what is kept.
  await db.query("update workspaces set receipt_hours = 5");
  assert.equal((await receiptOf(key, id, "", otherNode)).text, replies[0]?.text);
  await db.query("update workspaces set receipt_hours = 24");
  const { rows } = await db.query("select jws from receipts where approval_id = $1", [id]);
  assert.deepEqual(rows, [{ jws: replies[0]?.text }]);
});

test("receipts asked for while the key is rotated again and again are each signed once", async () => {
  const requests = await Promise.all(
    Array.from({ length: 12 }, () => decided('{"a":1}', { verdict: "approve" })),
  );
  const rotating = (async () => {
    for (let n = 0; n < 6; n += 1) await rotateSigningKey(db, testKeyring);
  })();
  const texts = await Promise.all(
    requests.flatMap(({ key, id }) =>
      [service, otherNode].map(async (node) => {
        const reply = await insist(node, "GET", `/v1/requests/${id}/receipt`, { key });
        return reply.text;
      }),
    ),
  );
  await rotating;
  assert.equal(new Set(texts).size, requests.length);
  const { rows } = await db.query(
    `select r.approval_id from receipts r join signing_keys k on k.id = r.signing_key_id
     where r.approval_id = any($1) and (k.retired_at is null or r.created_at <= k.retired_at)`,
    [requests.map(({ id }) => id)],
  );
  assert.equal(rows.length, requests.length, "one each, none after its key's end");
});

test("after a rotation old receipts still verify, and new ones have the new key", async () => {
  const old = await decided('{"a":1}', { verdict: "approve" });
  const before = await receiptOf(old.key, old.id);
  const { current } = await rotateSigningKey(db, testKeyring);
  assert.equal((await receiptOf(old.key, old.id)).text, before.text);
  await verified(before.text, old.workspaceId);
  const next = await decided('{"a":1}', { verdict: "approve" });
  const later = await receiptOf(next.key, next.id);
  assert.equal(decodeProtectedHeader(later.text).kid, current.id);
  assert.notEqual(decodeProtectedHeader(before.text).kid, current.id);
  await verified(later.text, next.workspaceId);
});

test("a revoked key leaves the set and is named in it, and its receipts are signed anew", async () => {
  const { key, id, workspaceId } = await decided('{"a":1}', { verdict: "approve" });
  const before = await receiptOf(key, id);
  const kid = String(decodeProtectedHeader(before.text).kid);
  const done = await revokeSigningKey(db, testKeyring, kid);
  assert.ok(!isRefusal(done));
  const { json: set } = await service.call("GET", "/.well-known/jwks.json");
  assert.ok(!set.keys.some((each: { kid: string }) => each.kid === kid));
  assert.ok(set.revoked.some((each: { kid: string }) => each.kid === kid));
  await assert.rejects(verified(before.text, workspaceId), /no applicable key/);
  const anew = await receiptOf(key, id);
  await verified(anew.text, workspaceId);
  assert.equal(claimsTextOf(anew.text), claimsTextOf(before.text), "it says the same");
  assert.equal((await receiptOf(key, id, "", otherNode)).text, anew.text);
  assert.notEqual(anew.headers.etag, before.headers.etag);
});

test("the key set is for anybody, under the base path too, and keeps no secret", async () => {
  await currentSigner(db, testKeyring);
  const reply = await service.call("GET", "/.well-known/jwks.json");
  assert.equal(reply.headers["cache-control"], "public, max-age=3600");
  for (const key of reply.json.keys) assert.ok(!("d" in key) && !("alg" in key));
  const below = await app.inject({ url: "/countersign/.well-known/jwks.json" });
  assert.equal(below.body, reply.text);
  const head = await service.call("HEAD", "/.well-known/jwks.json");
  assert.equal(head.headers["content-length"], String(reply.text.length));
});

test("jose finds the key by itself over HTTP", async () => {
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const { key, id, workspaceId } = await decided('{"a":1}', { verdict: "approve" });
  const { text } = await receiptOf(key, id);
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(text, keys, {
    ...{ issuer: testPublicUrl, audience: workspaceId },
    ...{ typ: "countersign-receipt+jwt", algorithms: ["Ed25519"] },
  });
  assert.equal(payload.sub, id);
});

test("before the decision, after other ends and for other workspaces there is no receipt", async () => {
  const pending = await asked('{"a":1}');
  const cancelled = await asked('{"a":1}');
  await service.call("POST", `/v1/requests/${cancelled.id}/cancel`, { key: cancelled.key });
  const overdue = await asked('{"a":1}');
  await db.query(
    "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
    [overdue.id],
  );
  const done = await decided('{"a":1}', { verdict: "approve" });
  const stranger = await makeWorkspace(db);
  const unknown = `req_${"0".repeat(32)}`;
  for (const [id, key] of [
    [pending.id, pending.key],
    [cancelled.id, cancelled.key],
    [overdue.id, overdue.key],
    [done.id, stranger.key],
    [unknown, stranger.key],
    ["req_x", stranger.key],
  ] as const) {
    for (const what of ["receipt", "receipt?embed=payload", "effective-payload"]) {
      const { status, json } = await service.call("GET", `/v1/requests/${id}/${what}`, { key });
      assert.deepEqual([status, json.error.code], [404, "not_found"], `${id} ${what}`);
    }
  }
  const foreign = await receiptOf(stranger.key, done.id);
  assert.equal(foreign.text, (await receiptOf(stranger.key, unknown)).text, "one 404 for both");
  for (const what of ["receipt", "receipt?embed=x", "effective-payload"]) {
    const path = `/v1/requests/${done.id}/${what}`;
    assert.equal((await service.call("GET", path)).status, 401);
    assert.equal((await service.call("GET", path, { key: `cs_${"x".repeat(40)}` })).status, 401);
  }
  const { rows } = await db.query("select from receipts where approval_id = $1", [pending.id]);
  assert.equal(rows.length, 0);
});

test("HEAD tells the same headers, and a caller who has the bytes gets 304", async () => {
  const { key, id } = await decided('{"a": 1.10}', { verdict: "approve" });
  for (const what of ["receipt", "receipt?embed=payload", "effective-payload"]) {
    const path = `/v1/requests/${id}/${what}`;
    const got = await service.call("GET", path, { key });
    const head = await service.call("HEAD", path, { key });
    for (const name of ["etag", "cache-control", "content-length", "content-type", "repr-digest"]) {
      assert.equal(head.headers[name], got.headers[name], `${what}: ${name}`);
    }
    assert.equal(got.headers["cache-control"], "private, no-cache, no-transform");
    const headers = { "if-none-match": got.headers.etag ?? "" };
    const again = await service.call("GET", path, { key, headers });
    assert.deepEqual([again.status, again.text], [304, ""]);
  }
});

test("a payload of a megabyte is answered and embedded to the byte", async () => {
  const text = JSON.stringify({ list: "x".repeat(1_000_000), n: 1 }).replace(":1}", ": 1.0}");
  const { key, id, workspaceId } = await decided(text, { verdict: "approve" });
  const answer = await service.call("GET", `/v1/requests/${id}/effective-payload`, { key });
  assert.equal(answer.text, text);
  const { payload: claims } = await verified(
    (await receiptOf(key, id, "?embed=payload")).text,
    workspaceId,
  );
  assert.equal(claims.text, text);
  assert.deepEqual(claims.effective, { digest: digestOf(text), bytes: text.length });
});

test("while SECRET_KEY lacks the key nothing new is signed, kept receipts are answered, and redeeming works", async () => {
  const other = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  const kept = await decided('{"a":1}', { verdict: "approve" });
  const { text } = await receiptOf(kept.key, kept.id);
  const node = await startNode(service.database, { keyring: other });
  try {
    assert.equal((await receiptOf(kept.key, kept.id, "", node)).text, text);
    const fresh = await decided('{"a":1}', { verdict: "approve" });
    const reply = await receiptOf(fresh.key, fresh.id, "", node);
    assert.deepEqual([reply.status, reply.json.error.code], [503, "unavailable"]);
    assert.match(reply.json.error.message, /decision stands/);
    const embedded = await receiptOf(kept.key, kept.id, "?embed=payload", node);
    assert.equal(embedded.status, 503);
    const path = `/v1/requests/${fresh.id}/redeem`;
    const redeemed = await node.call("POST", path, { key: fresh.key });
    assert.deepEqual([redeemed.status, redeemed.json.receipt], [200, null]);
    const { rows } = await db.query("select id from signing_keys where retired_at is null");
    assert.equal(rows[0].id, (await currentSigner(db, testKeyring))?.id);
  } finally {
    await node.stop();
  }
});

type Claims = Awaited<ReturnType<typeof verified>>["payload"];

function emailsOf(claims: Claims): string[] {
  return (claims.by as { email: string }[]).map(({ email }) => email);
}

async function asked(payload: string | null) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const fields = JSON.stringify({ summary: "Pay", notify: ann }).slice(0, -1);
  const body = payload === null ? `${fields}}` : `${fields},"payload":${payload}}`;
  const { json } = await insist(service, "POST", "/v1/requests", { key, body });
  return { workspaceId, key, id: json.id as string };
}

async function decided(payload: string | null, choice: Parameters<typeof decide>[2]) {
  const request = await asked(payload);
  await decideBy(request.id, choice);
  return request;
}

async function decideBy(id: string, choice: Parameters<typeof decide>[2]): Promise<void> {
  const { token } = await findReviewer(db, id);
  const reply = await decide(app, token, choice);
  assert.equal(reply.status, 200, reply.text);
}

function approve(id: string): Promise<void> {
  return decideBy(id, { verdict: "approve" });
}

function receiptOf(key: string, id: string, query = "", node: TestNode = service) {
  return node.call("GET", `/v1/requests/${id}/receipt${query}`, { key });
}

/** By the key set of this moment. */
async function verified(receipt: string, audience: string) {
  const { json: set } = await service.call("GET", "/.well-known/jwks.json");
  return jwtVerify(receipt, createLocalJWKSet(set), {
    ...{ issuer: testPublicUrl, audience },
    ...{ typ: "countersign-receipt+jwt", algorithms: ["Ed25519"] },
  });
}

function claimsTextOf(receipt: string): string {
  return Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString();
}

function digestOf(text: string): string {
  return hash("sha256", text, "base64url");
}

async function eventOf(id: string, kind: string): Promise<string> {
  const { rows } = await db.query("select id from events where approval_id = $1 and kind = $2", [
    id,
    kind,
  ]);
  assert.equal(rows.length, 1);
  return rows[0].id;
}

async function evidenceOf(id: string, revision: number, voter: string) {
  const { rows } = await db.query(
    `select amr, shown_version as version, shown_digest as digest from evidence
     where approval_id = $1 and revision = $2 and voter = $3`,
    [id, revision, voter],
  );
  return rows[0] ?? null;
}

async function amrOf(id: string, revision: number, voter: string): Promise<string[]> {
  return (await evidenceOf(id, revision, voter))?.amr ?? [];
}

async function shownOf(id: string, revision: number, voter: string) {
  const found = await evidenceOf(id, revision, voter);
  if (found === null) return null;
  return { v: found.version, digest: found.digest.toString("base64url") };
}

async function logOf(workspaceId: string): Promise<{ origin: string } | null> {
  const { rows } = await db.query(
    "select origin from log_trees where workspace_id = $1 and closed_at is null",
    [workspaceId],
  );
  return rows[0] ?? null;
}
