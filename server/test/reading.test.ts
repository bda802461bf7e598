import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import type { JsonText } from "../src/domain/shown/json-text.ts";
import { resolveNow } from "./test-evidence.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
after(() => service.stop());

async function created(body: object = minimalBody) {
  const workspace = await makeWorkspace(service.db);
  const { json } = await service.call("POST", "/v1/requests", { key: workspace.key, body });
  return { workspaceId: workspace.id, key: workspace.key, id: json.id as string };
}

const read = (id: string, key: string, headers = {}) =>
  service.call("GET", `/v1/requests/${id}`, { key, headers });

test("an approved request shows who decided and when, and the edit is what to execute", async () => {
  const { workspaceId, key, id } = await created({ ...minimalBody, payload: { amount: 100 } });
  const edit = '{"amount": 90.0}' as JsonText;
  await resolveNow(
    inOneStatement(service.db),
    { workspaceId, id },
    { status: "APPROVED", byEmail: "ann@example.com", note: "Less.", edit },
  );
  const { json, text } = await read(id, key);
  assert.equal(json.status, "APPROVED");
  assert.equal(json.resolvedByEmail, "ann@example.com");
  assert.equal(json.resolutionNote, "Less.");
  assert.ok(Math.abs(Date.parse(json.resolvedAt) - Date.now()) < 60_000);
  assert.ok(
    text.includes(`"payload":{"amount":100},"modifiedPayload":${edit},"effectivePayload":${edit}`),
  );
});

test("an approval without an edit executes the original payload", async () => {
  const { workspaceId, key, id } = await created({ ...minimalBody, payload: [1, 2] });
  await resolveNow(
    inOneStatement(service.db),
    { workspaceId, id },
    { status: "APPROVED", byEmail: "a@b.co", note: null, edit: null },
  );
  const { json } = await read(id, key);
  assert.equal(json.modifiedPayload, null);
  assert.deepEqual(json.effectivePayload, [1, 2]);
});

test("edits to false, 0, an empty string, array or object win over the original", async () => {
  for (const edit of ["false", "0", '""', "[]", "{}"]) {
    const { workspaceId, key, id } = await created({ ...minimalBody, payload: { a: 1 } });
    await resolveNow(
      inOneStatement(service.db),
      { workspaceId, id },
      { status: "APPROVED", byEmail: "a@b.co", note: null, edit: edit as JsonText },
    );
    const { json } = await read(id, key);
    assert.equal(JSON.stringify(json.effectivePayload), edit);
    assert.equal(JSON.stringify(json.modifiedPayload), edit);
  }
});

test("a rejected request carries its note", async () => {
  const { workspaceId, key, id } = await created();
  await resolveNow(
    inOneStatement(service.db),
    { workspaceId, id },
    { status: "REJECTED", byEmail: "ann@example.com", note: "Not today" },
  );
  const { json } = await read(id, key);
  assert.deepEqual(
    [json.status, json.resolutionNote, json.resolvedByEmail],
    ["REJECTED", "Not today", "ann@example.com"],
  );
});

test("an ETag that still holds is answered 304, and no longer after the request was resolved", async () => {
  const { key, id } = await created();
  const first = await read(id, key);
  const tag = first.headers.etag ?? "";
  assert.match(tag, /^"[^"]+"$/);
  for (const match of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
    const reply = await read(id, key, { "if-none-match": match });
    assert.equal(reply.status, 304, match);
    assert.equal(reply.headers.etag, tag);
    assert.equal(reply.text, "");
  }
  assert.equal((await read(id, key, { "if-none-match": '"other"' })).status, 200);
  await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  const changed = await read(id, key, { "if-none-match": tag });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.etag, tag);
});

test("HEAD answers as GET does, without a body", async () => {
  const { key, id } = await created();
  const get = await read(id, key);
  const head = await service.call("HEAD", `/v1/requests/${id}`, { key });
  assert.equal(head.status, 200);
  assert.equal(head.headers.etag, get.headers.etag);
});

test("unknown paths are 404 and wrong methods 405, with what is allowed", async () => {
  const { key, id } = await created();
  assert.equal((await service.call("GET", "/v2/requests", { key })).json.error.code, "not_found");
  assert.equal((await service.call("GET", "/nothing", { key })).status, 404);
  for (const [method, path, allow] of [
    ["DELETE", "/v1/requests", "POST, GET, HEAD"],
    ["PUT", `/v1/requests/${id}`, "GET, HEAD"],
    ["GET", `/v1/requests/${id}/cancel`, "POST"],
    ["POST", "/healthz", "GET, HEAD"],
    ["OPTIONS", "/v1/requests", "POST, GET, HEAD"],
  ] as const) {
    const reply = await service.call(method, path, { key });
    assert.equal(reply.status, 405, `${method} ${path}`);
    assert.equal(reply.json.error.code, "method_not_allowed");
    assert.equal(reply.headers.allow, allow);
  }
});

test("no cache keeps an answer unseen, and no browser guesses its type", async () => {
  const { key, id } = await created();
  for (const [path, caching] of [
    [`/v1/requests/${id}`, "private, no-cache"],
    ["/v1/requests/req_0", "no-store"],
    ["/v1/requests/%", "no-store"],
    ["/healthz", "no-store"],
  ]) {
    const { headers } = await service.call("GET", path ?? "", { key });
    assert.equal(headers["cache-control"], caching, path);
    assert.equal(headers["x-content-type-options"], "nosniff");
  }
});

test("every answer names its call, and no two share the name", async () => {
  const names = new Set<string>();
  for (const path of ["/healthz", "/readyz", "/nowhere", "/v1/requests", "/v1/openapi.json"]) {
    names.add((await service.call("GET", path)).headers["x-request-id"] ?? "");
  }
  assert.equal(names.size, 5);
});
