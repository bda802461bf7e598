// An approved action is handed out once, to any caller and however often they ask.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { inOneStatement } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { JsonText } from "../src/domain/shown/json-text.ts";
import { issueKey, revokeKey } from "../src/operations/workspaces/issue-key.ts";
import { resolveNow } from "./test-evidence.ts";
import {
  makeWorkspace,
  minimalBody,
  startNode,
  startService,
  type TestNode,
} from "./test-service.ts";

const service = await startService();
const otherNode = await startNode(service.database);
const { db } = service;
after(async () => {
  await otherNode.stop();
  await service.stop();
});

async function ask(body: string = JSON.stringify({ ...minimalBody, payload: { amount: 49 } })) {
  const { id: workspaceId, key, keyId } = await makeWorkspace(db);
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  return { workspaceId, key, keyId, id: json.id as string };
}

async function resolve(
  { workspaceId, id }: { workspaceId: string; id: string },
  resolution: Parameters<typeof resolveNow>[2],
) {
  await resolveNow(inOneStatement(db), { workspaceId, id }, resolution);
}

async function approved(options: { body?: string; edit?: string } = {}) {
  const asked = await ask(options.body);
  const edit = (options.edit ?? null) as JsonText | null;
  await resolve(asked, { status: "APPROVED", byEmail: "ann@example.com", note: "ok", edit });
  return asked;
}

const redeem = (id: string, key: string, idempotencyKey?: string, node: TestNode = service) =>
  node.call("POST", `/v1/requests/${id}/redeem`, {
    key,
    headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
  });

async function anotherKey(workspaceId: string, name: string) {
  const issued = await issueKey(db, { workspaceId, name });
  if (isRefusal(issued)) throw new Error(issued.message);
  return issued;
}

test("the first call gets the request as it is read, with when and by which key, and every later one 409", async () => {
  const { workspaceId, key, keyId, id } = await approved();
  const read = await service.call("GET", `/v1/requests/${id}`, { key });
  const first = await redeem(id, key);
  assert.equal(first.status, 200);
  const { redeemedAt, redeemedBy, receipt } = first.json;
  assert.equal(receipt, (await service.call("GET", `/v1/requests/${id}/receipt`, { key })).text);
  const redemption = JSON.stringify({ redeemedAt, redeemedBy, receipt }).slice(1);
  assert.equal(first.text, `${read.text.slice(0, -1)},${redemption}`);
  assert.deepEqual(redeemedBy, { id: keyId, name: "Test key" });
  const other = await anotherKey(workspaceId, "worker 2");
  for (const again of [await redeem(id, key), await redeem(id, other.key), await redeem(id, key)]) {
    assert.equal(again.status, 409);
    const { error } = again.json;
    assert.equal(error.code, "already_redeemed");
    assert.deepEqual([error.redeemedAt, error.redeemedBy], [redeemedAt, redeemedBy]);
    assert.match(error.message, new RegExp(`at ${redeemedAt} with the API key "Test key"`));
    assert.ok(!again.text.includes(key));
  }
});

test("reading a request tells the same bytes before and after it is redeemed", async () => {
  const { key, id } = await approved();
  const before = await service.call("GET", `/v1/requests/${id}`, { key });
  await redeem(id, key);
  const after = await service.call("GET", `/v1/requests/${id}`, { key });
  assert.deepEqual([after.text, after.headers.etag], [before.text, before.headers.etag]);
});

test("200 racing calls over HTTP, on two nodes and with two keys, give one 200", async () => {
  const urls = [
    await service.app.listen({ port: 0, host: "127.0.0.1" }),
    await otherNode.app.listen({ port: 0, host: "127.0.0.1" }),
  ];
  const { workspaceId, key, id } = await approved();
  const keys = [key, (await anotherKey(workspaceId, "worker 2")).key];
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const url = `${urls[n % 2]}/v1/requests/${id}/redeem`;
      const authorization = `Bearer ${keys[Math.floor(n / 2) % 2]}`;
      // Busy is no answer about the request: the caller asks again, as the one it was.
      const headers = { authorization, "idempotency-key": `racer-${n}` };
      for (;;) {
        const reply = await fetch(url, { method: "POST", headers });
        const text = await reply.text();
        const isReplayed = reply.headers.has("idempotent-replayed");
        if (reply.status !== 503) return { n, status: reply.status, text, isReplayed };
        await pause(Number(reply.headers.get("retry-after")) * 1_000);
      }
    }),
  );
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 199);
  const [{ n, text, isReplayed } = { n: 0, text: "", isReplayed: true }] = won;
  assert.equal(isReplayed, false);
  const { receipt } = JSON.parse(text);
  assert.equal(receipt, (await service.call("GET", `/v1/requests/${id}/receipt`, { key })).text);
  const winner = keys[Math.floor(n / 2) % 2] ?? "";
  const again = await redeem(id, winner, `racer-${n}`, otherNode);
  assert.deepEqual([again.status, again.text], [200, text], "the winner's lost answer");
  assert.equal(again.headers["idempotent-replayed"], "true");
});

test("a caller that lost the answer gets it again with the same Idempotency-Key and API key, and nobody else does", async () => {
  const { workspaceId, key, id } = await approved();
  const first = await redeem(id, key, "run-7f3");
  const again = await redeem(id, key, "run-7f3", otherNode);
  assert.equal(again.status, 200);
  assert.equal(again.text, first.text);
  assert.equal(first.headers["idempotent-replayed"], undefined);
  assert.equal(again.headers["idempotent-replayed"], "true");
  const other = await anotherKey(workspaceId, "worker 2");
  for (const late of [
    await redeem(id, other.key, "run-7f3"),
    await redeem(id, key, "run-7f4"),
    await redeem(id, key),
  ]) {
    assert.deepEqual([late.status, late.json.error.code], [409, "already_redeemed"]);
  }
});

test("a repeated call gets its answer however late it comes, marked as a repeated one", async () => {
  const { workspaceId, key, id } = await approved();
  await service.db.query(
    `insert into redemptions (workspace_id, approval_id, api_key_id, idempotency_key, redeemed_at)
     select $1, $2, id, 'run-7f3', now() - interval '1 day' from api_keys where workspace_id = $1`,
    [workspaceId, id],
  );
  const { status, headers } = await redeem(id, key, "run-7f3");
  assert.deepEqual([status, headers["idempotent-replayed"]], [200, "true"]);
});

test("an Idempotency-Key names one redeeming of one request only", async () => {
  const { key, workspaceId, id } = await approved();
  const { json } = await service.call("POST", "/v1/requests", {
    key,
    body: minimalBody,
    headers: { "idempotency-key": "k" },
  });
  const second = { workspaceId, id: json.id as string };
  await resolve(second, { status: "APPROVED", byEmail: "ann@x.example", note: null, edit: null });
  assert.equal((await redeem(id, key, "k")).status, 200);
  const other = await redeem(second.id, key, "k");
  assert.deepEqual([other.status, other.json.id], [200, second.id]);
  assert.equal(other.headers["idempotent-replayed"], undefined);
});

test("what is not approved can't be redeemed, and the refusal says why", async () => {
  const pending = await ask();
  const rejected = await ask();
  await resolve(rejected, { status: "REJECTED", byEmail: "ann@example.com", note: null });
  const cancelled = await ask();
  await resolve(cancelled, { status: "CANCELLED" });
  const overdue = await ask();
  await db.query(
    "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
    [overdue.id],
  );
  const reasons: [typeof pending, RegExp][] = [
    [pending, /still PENDING/],
    [rejected, /was rejected by ann@example\.com/],
    [cancelled, /was cancelled at/],
    [overdue, /expired at/],
  ];
  for (const [{ id, key }, reason] of reasons) {
    const { status, json } = await redeem(id, key);
    assert.deepEqual([status, json.error.code], [409, "not_approved"]);
    assert.match(json.error.message, reason);
  }
  await resolve(pending, { status: "APPROVED", byEmail: "a@x.example", note: null, edit: null });
  assert.equal((await redeem(pending.id, pending.key)).status, 200);
});

test("another workspace's, an unknown and a malformed id are the same 404, and redeem nothing", async () => {
  const { key, id } = await approved();
  const stranger = await makeWorkspace(db);
  const texts = new Set<string>();
  for (const each of [id, `req_${"0".repeat(32)}`, "req_x"]) {
    const { status, text } = await redeem(each, stranger.key);
    assert.equal(status, 404);
    texts.add(text);
  }
  assert.equal(texts.size, 1);
  assert.equal((await redeem(id, key)).status, 200);
});

test("an unknown or revoked key, and a malformed Idempotency-Key, redeem nothing", async () => {
  const { workspaceId, key, id } = await approved();
  const revoked = await anotherKey(workspaceId, "worker 2");
  await revokeKey(db, revoked.id);
  assert.equal((await redeem(id, revoked.key)).status, 401);
  const malformed = await redeem(id, key, "é");
  assert.deepEqual([malformed.status, malformed.json.error.code], [400, "validation_error"]);
  assert.equal((await redeem(id, revoked.key, "é")).status, 401);
  assert.equal((await redeem(id, key)).status, 200);
});

test("a key that was revoked since is still told by name", async () => {
  const { workspaceId, key, id } = await approved();
  const worker = await anotherKey(workspaceId, "worker 2");
  assert.equal((await redeem(id, worker.key)).status, 200);
  await revokeKey(db, worker.id);
  const { json } = await redeem(id, key);
  assert.deepEqual(json.error.redeemedBy, { id: worker.id, name: "worker 2" });
});

test("an edit is handed out to the byte", async () => {
  const edit = '{"amount": 9007199254740993, "rate": 1.0,"z":1E400}';
  const body = `{"summary":"Pay","notify":"ann@example.com","payload":{"amount": 1.10}}`;
  const { key, id } = await approved({ body, edit });
  const { text } = await redeem(id, key);
  assert.ok(text.includes(`"payload":{"amount": 1.10}`));
  assert.ok(text.includes(`"effectivePayload":${edit}`));
});

test("the database itself refuses a second redeeming, one without approval, and a change", async () => {
  const { workspaceId, keyId, key, id } = await approved();
  const pending = await ask();
  const insert = (approval: string, workspace: string, apiKey: string) =>
    db.query(
      "insert into redemptions (workspace_id, approval_id, api_key_id) values ($1, $2, $3)",
      [workspace, approval, apiKey],
    );
  await assert.rejects(insert(pending.id, pending.workspaceId, pending.keyId), /not approved/);
  await redeem(id, key);
  await assert.rejects(insert(id, workspaceId, keyId), /duplicate key/);
  await assert.rejects(
    db.query("update redemptions set redeemed_at = now_ms() where approval_id = $1", [id]),
    /once and for all/,
  );
});
