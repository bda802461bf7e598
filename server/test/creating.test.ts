import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { updateWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import { fullBody, makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
after(() => service.stop());

test("a request with every field is answered 201 with all of them, and read back the same", async () => {
  const { key } = await makeWorkspace(service.db);
  const body = fullBody;
  const created = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(created.status, 201);
  assert.equal(created.headers.location, `/v1/requests/${created.json.id}`);
  assert.equal(created.headers["idempotent-replayed"], undefined);
  const { ttlMinutes, notify, callbackUrl, ...echoed } = body;
  assert.deepEqual(created.json, {
    ...echoed,
    id: created.json.id,
    object: "approval_request",
    status: "PENDING",
    modifiedPayload: null,
    effectivePayload: body.payload,
    approverEmail: notify,
    approverGroup: null,
    resolvedAt: null,
    resolvedByEmail: null,
    resolutionNote: null,
    expiresAt: created.json.expiresAt,
    createdAt: created.json.createdAt,
  });
  const lifeMs = Date.parse(created.json.expiresAt) - Date.parse(created.json.createdAt);
  assert.equal(lifeMs, ttlMinutes * 60_000);
  assert.match(created.json.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const read = await service.call("GET", `/v1/requests/${created.json.id}`, { key });
  assert.equal(read.text, created.text);
});

test("the least that is needed is enough, and the rest has its defaults", async () => {
  const { key } = await makeWorkspace(service.db, { expiryMinutes: 77 });
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  assert.equal(json.payload, null);
  assert.equal(json.effectivePayload, null);
  assert.equal(json.agentName, null);
  assert.deepEqual(json.recentActions, []);
  assert.equal(Date.parse(json.expiresAt) - Date.parse(json.createdAt), 77 * 60_000);
});

test("an optional field given as null counts as not given, and unknown fields are ignored", async () => {
  const { key } = await makeWorkspace(service.db);
  const nulls = Object.fromEntries(Object.keys(fullBody).map((name) => [name, null]));
  const body = { ...nulls, summary: "s", notify: "a@b.co", colour: "red" };
  const { status, json } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201);
  const { json: least } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  assert.deepEqual(Object.keys(json), Object.keys(least));
  assert.deepEqual(json.recentActions, []);
  assert.equal(Date.parse(json.expiresAt) - Date.parse(json.createdAt), 1440 * 60_000);
  assert.equal("colour" in json, false);
});

test("the content type is not enforced, not even a malformed or a missing one", async () => {
  const { key } = await makeWorkspace(service.db);
  const body = JSON.stringify(minimalBody);
  for (const type of [
    "application/json",
    "text/plain",
    ";;;",
    "multipart/form-data; boundary=x",
    "",
  ]) {
    const headers = { "content-type": type };
    const reply = await service.call("POST", "/v1/requests", { key, body, headers });
    assert.equal(reply.status, 201, type);
  }
});

test("a created request commits its event, its reviewer and one delivery per destination with it", async () => {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  await service.db.query(
    `insert into endpoints (workspace_id, url, event_kinds, disabled_at, disabled_reason) values
       ($1, 'https://all.example', null, null, null),
       ($1, 'https://created.example', '{request.created}', null, null),
       ($1, 'https://off.example', null, now(), 'asleep'),
       ($1, 'https://approved.example', '{request.approved}', null, null)`,
    [workspaceId],
  );
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const { rows: events } = await service.db.query(
    "select kind, created_at from events where workspace_id = $1 and approval_id = $2",
    [workspaceId, json.id],
  );
  assert.deepEqual(events, [{ kind: "request.created", created_at: new Date(json.createdAt) }]);
  const { rows: deliveries } = await service.db.query(
    `select coalesce(e.url, r.email) as destination, d.state, d.attempts
     from deliveries d
     left join endpoints e on e.workspace_id = d.workspace_id and e.id = d.endpoint_id
     left join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
     where d.workspace_id = $1 order by destination`,
    [workspaceId],
  );
  assert.deepEqual(deliveries, [
    { destination: "ann@example.com", state: "due", attempts: 0 },
    { destination: "https://all.example", state: "due", attempts: 0 },
    { destination: "https://created.example", state: "due", attempts: 0 },
    { destination: "https://off.example", state: "skipped", attempts: 0 },
  ]);
});

test("whether a link asks for a code is settled when it is made, by the workspace of that moment", async () => {
  const plain = await makeWorkspace(service.db);
  const careful = await makeWorkspace(service.db, { reviewCode: true });
  const members = ["bob@example.com", "cid@example.com"];
  const group = { workspaceId: careful.id, key: "finance", name: "Finance", members };
  assert.ok(!isRefusal(await createGroup(service.db, group)));
  const create = async ({ key }: { key: string }, notify: string) => {
    const body = { ...minimalBody, notify };
    return (await service.call("POST", "/v1/requests", { key, body })).json.id as string;
  };
  // At once, so that both workspaces are in one statement.
  const [alone, several, without] = await Promise.all([
    create(careful, "ann@example.com"),
    create(careful, "group:finance"),
    create(plain, "ann@example.com"),
  ]);
  const changed = await updateWorkspace(service.db, careful.id, { reviewCode: false });
  assert.ok(!isRefusal(changed));
  const afterwards = await create(careful, "ann@example.com");
  const { rows } = await service.db.query(
    `select approval_id, count(*)::integer as reviewers, bool_and(needs_code) as all_do,
       bool_or(needs_code) as some_do, sum(code_tries)::integer as tries
     from reviewers where workspace_id = any($1) group by approval_id`,
    [[plain.id, careful.id]],
  );
  const found = new Map(rows.map(({ approval_id: id, ...rest }) => [id, rest]));
  const asks = { all_do: true, some_do: true, tries: 0 };
  const asksNot = { all_do: false, some_do: false, tries: 0 };
  assert.deepEqual(found.get(alone), { reviewers: 1, ...asks });
  assert.deepEqual(found.get(several), { reviewers: 2, ...asks });
  assert.deepEqual(found.get(without), { reviewers: 1, ...asksNot });
  assert.deepEqual(found.get(afterwards), { reviewers: 1, ...asksNot });
});

test("the token of a review link is stored nowhere, and derives from its nonce and the secret key", async () => {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const { rows } = await service.db.query(
    "select secret_key_id, token_nonce, token_digest from reviewers where workspace_id = $1",
    [workspaceId],
  );
  const { deriveReviewToken, digestOfReviewToken } = await import(
    "../src/domain/access/review-link.ts"
  );
  const [reviewer] = rows;
  assert.equal(reviewer.secret_key_id, service.keyring.current.id);
  const token = deriveReviewToken(service.keyring.current, reviewer.token_nonce);
  assert.equal(Buffer.from(token, "base64url").length, 32);
  assert.deepEqual(digestOfReviewToken(token), reviewer.token_digest);
});

test("many callers of many workspaces at once each get their own answer", async () => {
  const workspaces = await Promise.all(Array.from({ length: 5 }, () => makeWorkspace(service.db)));
  const replies = await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const workspace = workspaces[n % 5];
      const body = { ...minimalBody, summary: `number ${n}`, payload: { n } };
      return {
        n,
        workspace,
        reply: await service.call("POST", "/v1/requests", { key: workspace?.key ?? "", body }),
      };
    }),
  );
  for (const { n, reply } of replies) {
    assert.equal(reply.status, 201);
    assert.equal(reply.json.summary, `number ${n}`);
    assert.deepEqual(reply.json.payload, { n });
  }
  assert.equal(new Set(replies.map(({ reply }) => reply.json.id)).size, 300);
  const { rows } = await service.db.query(
    "select workspace_id, count(*)::int from approvals where workspace_id = any($1) group by 1",
    [workspaces.map(({ id }) => id)],
  );
  assert.deepEqual(
    rows.map(({ count }) => count),
    [60, 60, 60, 60, 60],
  );
});

test("ids begin with req_ and sort by the time of creation", async () => {
  const { key } = await makeWorkspace(service.db);
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    const millis = Number.parseInt(json.id.slice(4, 16), 16);
    assert.equal(new Date(millis).toISOString(), json.createdAt);
    ids.push(json.id);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.deepEqual([...ids].sort(), ids);
});

test("a create and a read are one statement each, and concurrent ones share theirs", async () => {
  const { key } = await makeWorkspace(service.db);
  let statements = 0;
  const count = () => {
    statements += 1;
  };
  service.servicePool.on("acquire", count);
  try {
    const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    assert.equal(statements, 1);
    await service.call("GET", `/v1/requests/${json.id}`, { key });
    assert.equal(statements, 2);
    const many = Array.from({ length: 60 }, () =>
      service.call("POST", "/v1/requests", { key, body: minimalBody }),
    );
    await Promise.all(many);
    assert.ok(statements - 2 < 20, `${statements - 2} statements for 60 creates`);
  } finally {
    service.servicePool.off("acquire", count);
  }
});
