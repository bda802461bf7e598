// A workspace with a limit of approvers, an owner of its key and somebody away: a plain request to anybody else is
// created, answered and told as in a bare workspace. Only requests that touch one of them are created with care.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { changeKey } from "../src/operations/workspaces/issue-key.ts";
import { findReviewer, getReview } from "./test-review.ts";
import { startService } from "./test-service.ts";
import { makeVoters, payment } from "./test-votes.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());
const { workspaceWith, ask, vote, read, mailsOf, beAway } = makeVoters(service);

const [ann, bob, cy, olga, dan] = ["ann", "bob", "cy", "olga", "dan"].map(
  (name) => `${name}@example.com`,
) as [string, string, string, string, string];

async function limit(workspaceId: string, rule: "members" | "domains", domains: string[] = []) {
  await db.query(
    `update workspaces set approver_limit = $2, approver_limit_chosen = true, approver_domains = $3
     where id = $1`,
    [workspaceId, rule, domains],
  );
}

/** Olga owns the key, and Dan is away. */
async function furnished(rule: "members" | "domains" = "members") {
  const workspace = await workspaceWith([ann, bob, cy, dan, olga]);
  await limit(workspace.id, rule, ["example.com"]);
  await changeKey(db, { id: workspace.keyId, ownerEmail: olga });
  await beAway(workspace.id, dan, bob);
  return workspace;
}

async function hasSeats(id: string): Promise<boolean> {
  const { rows } = await db.query<{ has_seats: boolean }>(
    "select has_seats from approvals where id = $1",
    [id],
  );
  return rows[0]?.has_seats ?? false;
}

/** What is left of a text when ids, times and tokens have names. */
function normalised(text: string): string {
  return text
    .replaceAll(/\b(req|rev|ws|evt)_[0-9a-f]+/g, "$1_…")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/"(ticket|digest)":"[^"]*"/g, '"$1":"…"');
}

async function lifeOf(key: string): Promise<unknown[]> {
  const created = await service.call("POST", "/v1/requests", {
    key,
    body: { ...payment, notify: ann },
  });
  const { id } = created.json;
  const { token } = await findReviewer(db, id, { email: ann });
  const page = await getReview(app, token);
  const decided = await vote(id, ann);
  const kinds = await db.query("select kind from events where approval_id = $1 order by id", [id]);
  return [
    ...[created.status, normalised(created.text), page.status, normalised(page.text)],
    ...[await mailsOf(id, "request.created"), decided.status, normalised(decided.text)],
    ...[normalised(JSON.stringify(await read(key, id))), kinds.rows, await hasSeats(id)],
  ];
}

test("a plain request to somebody else is the same as in a bare workspace", async () => {
  const bare = await lifeOf((await workspaceWith([ann, bob, cy, dan, olga])).key);
  assert.deepEqual(await lifeOf((await furnished()).key), bare);
  assert.deepEqual(await lifeOf((await furnished("domains")).key), bare);
});

test("a request that touches the limit, the owner or somebody away is created with care", async () => {
  const { key } = await furnished();
  const create = (notify: string) =>
    service.call("POST", "/v1/requests", { key, body: { ...payment, notify } });
  assert.equal((await create("eve@evil.example")).json.error.code, "approver_not_allowed");
  assert.equal((await create("OLGA+agent@example.com")).json.error.code, "approver_not_allowed");
  assert.equal((await create("Olga@example.com")).json.error.code, "quorum_unreachable");
  const away = await ask(key, { notify: dan });
  assert.deepEqual(
    [await hasSeats(away.id), await mailsOf(away.id, "request.created")],
    [true, [bob]],
  );
  const group = await ask(key);
  assert.deepEqual(await mailsOf(group.id, "request.created"), [ann, bob, cy]);
  const domains = await furnished("domains");
  const stranger = { ...payment, notify: "eve@evil.example" };
  const refused = await service.call("POST", "/v1/requests", { key: domains.key, body: stranger });
  assert.equal(refused.json.error.code, "approver_not_allowed");
});
