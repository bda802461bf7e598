import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { resolveNow } from "./test-evidence.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
after(() => service.stop());

async function created() {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const { json } = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, payload: 1 },
  });
  return { workspaceId, key, id: json.id as string };
}

test("a pending request is cancelled, and its event is written with it", async () => {
  const { workspaceId, key, id } = await created();
  const reply = await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  assert.equal(reply.status, 200);
  assert.equal(reply.json.status, "CANCELLED");
  assert.equal(reply.json.resolvedByEmail, null);
  assert.ok(reply.json.resolvedAt !== null);
  assert.deepEqual(reply.json.effectivePayload, 1);
  const { rows } = await service.db.query(
    "select kind from events where workspace_id = $1 and approval_id = $2 order by id",
    [workspaceId, id],
  );
  assert.deepEqual(rows.map(({ kind }) => kind).sort(), ["request.cancelled", "request.created"]);
});

test("a body on a cancel is ignored", async () => {
  const { key, id } = await created();
  assert.equal(
    (await service.call("POST", `/v1/requests/${id}/cancel`, { key, body: "{broken" })).status,
    200,
  );
});

test("a final request cannot be cancelled; the refusal says who decided what and when, and nothing changes", async () => {
  const { workspaceId, key, id } = await created();
  await resolveNow(
    inOneStatement(service.db),
    { workspaceId, id },
    { status: "REJECTED", byEmail: "ann@example.com", note: null },
  );
  const before = await service.call("GET", `/v1/requests/${id}`, { key });
  const reply = await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  assert.equal(reply.status, 409);
  assert.equal(reply.json.error.code, "already_resolved");
  assert.match(reply.json.error.message, /rejected by ann@example\.com at \d{4}-/);
  assert.equal((await service.call("GET", `/v1/requests/${id}`, { key })).text, before.text);
});

test("a second cancel is refused", async () => {
  const { key, id } = await created();
  await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  const again = await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  assert.deepEqual([again.status, again.json.error.code], [409, "already_resolved"]);
});
