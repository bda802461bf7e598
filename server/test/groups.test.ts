import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
after(() => service.stop());

async function makeGroup(workspaceId: string, members: string[]) {
  const group = await createGroup(service.db, {
    workspaceId,
    key: "finance",
    name: "Finance",
    members,
  });
  if (isRefusal(group)) throw new Error(group.message);
  return group;
}

const ask = (key: string, notify = "group:finance") =>
  service.call("POST", "/v1/requests", { key, body: { ...minimalBody, notify } });

test("a group is echoed with key and name, and every member gets a link and a mail of their own", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "pro" });
  await makeGroup(id, ["ann@example.com", "bob@example.com", "cy@example.com"]);
  const { status, json } = await ask(key);
  assert.equal(status, 201);
  assert.equal(json.approverEmail, null);
  assert.deepEqual(json.approverGroup, { key: "finance", name: "Finance" });
  const { rows } = await service.db.query(
    `select r.email, d.state, count(*) over (partition by r.token_digest)::int as same_token
     from deliveries d join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
     where d.workspace_id = $1 order by r.email`,
    [id],
  );
  assert.deepEqual(rows, [
    { email: "ann@example.com", state: "due", same_token: 1 },
    { email: "bob@example.com", state: "due", same_token: 1 },
    { email: "cy@example.com", state: "due", same_token: 1 },
  ]);
});

test("the group is echoed as it was named at creation", async () => {
  const { id, key } = await makeWorkspace(service.db);
  await makeGroup(id, ["ann@example.com"]);
  const { json } = await ask(key);
  await service.db.query(
    "update groups set name = 'Treasury', key = 'treasury' where workspace_id = $1",
    [id],
  );
  const read = await service.call("GET", `/v1/requests/${json.id}`, { key });
  assert.deepEqual(read.json.approverGroup, { key: "finance", name: "Finance" });
});

test("a plan without groups is refused before the group is even looked for", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "hobby" });
  assert.deepEqual(
    [(await ask(key)).status, (await ask(key)).json.error.code],
    [403, "plan_required"],
  );
  await makeGroup(id, ["ann@example.com"]);
  assert.equal((await ask(key)).json.error.code, "plan_required");
});

test("an unknown group is 404, an empty one 400, each in its own words", async () => {
  const { id, key } = await makeWorkspace(service.db);
  const unknown = await ask(key);
  assert.deepEqual([unknown.status, unknown.json.error.code], [404, "unknown_group"]);
  await makeGroup(id, []);
  const empty = await ask(key);
  assert.deepEqual([empty.status, empty.json.error.code], [400, "empty_group"]);
});

test("another workspace's group is unknown", async () => {
  const [mine, theirs] = [await makeWorkspace(service.db), await makeWorkspace(service.db)];
  await makeGroup(theirs.id, ["ann@example.com"]);
  assert.equal((await ask(mine.key)).json.error.code, "unknown_group");
});

test("the checks come in the order of the contract: plan, group, members, then quota", async () => {
  const { id, key } = await makeWorkspace(service.db, { plan: "pro", cap: 0 });
  assert.equal((await ask(key)).json.error.code, "unknown_group");
  const group = await makeGroup(id, []);
  assert.equal((await ask(key)).json.error.code, "empty_group");
  await service.db.query(
    "insert into group_members (workspace_id, group_id, email) values ($1, $2, 'ann@example.com')",
    [id, group.id],
  );
  assert.equal((await ask(key)).json.error.code, "quota_exceeded");
  await service.db.query("update workspaces set plan = 'hobby' where id = $1", [id]);
  assert.equal((await ask(key)).json.error.code, "plan_required");
  assert.equal((await ask(key, "group:Not A Key")).json.error.code, "validation_error");
});
