import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { apiKeyRandomBytes, formatApiKey } from "../src/domain/access/api-key.ts";
import { revokeKey } from "../src/operations/workspaces/issue-key.ts";
import { makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";

const service = await startService();
after(() => service.stop());

const unknownKey = () => formatApiKey(randomBytes(apiKeyRandomBytes));
const anyId = `req_${"0".repeat(32)}`;

const everyCall = [
  ["POST", "/v1/requests"],
  ["GET", "/v1/requests"],
  ["GET", `/v1/requests/${anyId}`],
  ["GET", `/v1/requests/${anyId}?wait=1`],
  ["POST", `/v1/requests/${anyId}/cancel`],
] as const;

test("a missing, malformed, mistyped, unknown or revoked key is 401 on every call", async () => {
  const revoked = await makeWorkspace(service.db);
  await revokeKey(service.db, revoked.keyId);
  const good = (await makeWorkspace(service.db)).key;
  const headers: Record<string, string>[] = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Bearer " },
    { authorization: good },
    { authorization: `Basic ${Buffer.from(`${good}:`).toString("base64")}` },
    { authorization: `Bearer ${good} extra` },
    { authorization: `Bearer ${good.slice(0, -1)}` },
    {
      authorization: `Bearer ${good.slice(0, 20)}${good[20] === "x" ? "y" : "x"}${good.slice(21)}`,
    },
    { authorization: `Bearer ${unknownKey()}` },
    { authorization: `Bearer ${revoked.key}` },
    { authorization: `Bearer ' or 1=1 --` },
  ];
  for (const [method, path] of everyCall) {
    for (const header of headers) {
      const body = method === "POST" ? { body: minimalBody } : {};
      const reply = await service.call(method, path, { headers: header, ...body });
      assert.equal(reply.status, 401, `${method} ${path} ${header.authorization}`);
      assert.equal(reply.json.error.code, "unauthorized");
      assert.equal(reply.headers["www-authenticate"], "Bearer");
    }
  }
});

test("the scheme may be written in any case", async () => {
  const { key } = await makeWorkspace(service.db);
  for (const scheme of ["bearer", "BEARER", "Bearer"]) {
    const headers = { authorization: `${scheme} ${key}` };
    assert.equal((await service.call("GET", "/v1/requests", { headers })).status, 200);
  }
});

test("a caller without a valid key learns only that, whatever else is wrong with the call", async () => {
  for (const key of [unknownKey(), "nonsense"]) {
    for (const body of [
      "{",
      "",
      { summary: 1 },
      Buffer.from([0xff]),
      { ...minimalBody, notify: "group:none" },
    ]) {
      assert.equal((await service.call("POST", "/v1/requests", { key, body })).status, 401);
    }
    const headers = { "idempotency-key": "x".repeat(300) };
    assert.equal(
      (await service.call("POST", "/v1/requests", { key, body: minimalBody, headers })).status,
      401,
    );
    assert.equal((await service.call("GET", "/v1/requests?status=NOPE", { key })).status, 401);
    assert.equal((await service.call("GET", `/v1/requests/${anyId}?wait=x`, { key })).status, 401);
    assert.equal((await service.call("GET", "/v1/requests/not-an-id", { key })).status, 401);
  }
});

test("a revoked key is refused by the very next call, on every node", async () => {
  const other = await startNode(service.database);
  try {
    const { key, keyId } = await makeWorkspace(service.db);
    for (const node of [service, other]) {
      assert.equal(
        (await node.call("POST", "/v1/requests", { key, body: minimalBody })).status,
        201,
      );
    }
    await revokeKey(service.db, keyId);
    for (const node of [service, other]) {
      assert.equal(
        (await node.call("POST", "/v1/requests", { key, body: minimalBody })).status,
        401,
      );
      assert.equal((await node.call("GET", "/v1/requests", { key })).status, 401);
    }
  } finally {
    await other.stop();
  }
});

test("a key revoked while its caller waits ends the wait with 401", async () => {
  const { key, keyId } = await makeWorkspace(service.db);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const waiting = service.call("GET", `/v1/requests/${json.id}?wait=1`, { key });
  await revokeKey(service.db, keyId);
  assert.equal((await waiting).status, 401);
});

test("nothing of one workspace can be read or changed from another", async () => {
  const [mine, theirs] = [await makeWorkspace(service.db), await makeWorkspace(service.db)];
  const { json } = await service.call("POST", "/v1/requests", {
    key: theirs.key,
    body: minimalBody,
  });
  const missing = await service.call("GET", `/v1/requests/${anyId}`, { key: mine.key });
  const ids = ["req_", "x", "'%20or%201=1%20--", "%00", "..%2f", "%C3%A9", "a".repeat(5000)];
  for (const path of [json.id, ...ids, "%zz", "%", "%ff"]) {
    const url = `/v1/requests/${path}`;
    assert.equal((await service.call("GET", url)).status, 401);
    const reply = await service.call("GET", url, { key: mine.key });
    assert.equal(reply.status, 404, path);
    assert.equal(reply.text, missing.text, "unknown, malformed and foreign ids look alike");
  }
  assert.equal(
    (await service.call("POST", `/v1/requests/${json.id}/cancel`, { key: mine.key })).status,
    404,
  );
  assert.deepEqual((await service.call("GET", "/v1/requests", { key: mine.key })).json.data, []);
  assert.equal(
    (await service.call("GET", `/v1/requests/${json.id}`, { key: theirs.key })).json.status,
    "PENDING",
  );
});
