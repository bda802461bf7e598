// Whom agents may ask, who owns a key, which key asked, and what a revoked key leaves behind, as owners and operators
// set and see it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cancelledAtOnceMax } from "../src/domain/shown/field-limits.ts";
import { listPendingOfKey } from "../src/storage/approvals/pending.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { rowsLookedAt } from "./rows-looked-at.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { environmentOn, runCommand } from "./test-program.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

let teams = 0;

/** A workspace, and an admin of it who calls. */
async function makeTeam() {
  const { id: workspaceId, key, keyId } = await makeWorkspace(db);
  teams += 1;
  const email = `admin-${teams}@example.com`;
  await makeMember(db, { workspaceId, email, role: "admin" });
  const cookie = await signIn(service, email);
  const call = (
    name: keyof DashboardApi,
    { params = {}, body }: { params?: Record<string, string>; body?: unknown } = {},
  ) => callDashboard(service, name, { cookie, params: { workspaceId, ...params }, body });
  return { workspaceId, key, keyId, email, call };
}

async function ask(key: string): Promise<string> {
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  return json.id;
}

/** So many requests of a key that wait. */
async function insertPending(workspaceId: string, keyId: string, count: number): Promise<void> {
  await db.query(
    `insert into approvals (id, workspace_id, key_id, summary, approver_email, expires_at)
     select new_id('req_'), $1, $2, 'Pay', 'ann@example.com', now_ms() + interval '1 hour' from generate_series(1, $3)`,
    [workspaceId, keyId, count],
  );
}

async function statusesOf(workspaceId: string, keyId: string): Promise<string[]> {
  const { rows } = await db.query<{ status: string }>(
    "select distinct status from approvals where workspace_id = $1 and key_id = $2",
    [workspaceId, keyId],
  );
  return rows.map(({ status }) => status);
}

async function activityOf(workspaceId: string, action: string) {
  const { rows } = await db.query<{ actor_email: string | null; detail: Record<string, string> }>(
    `select actor_email, detail from activity where workspace_id = $1 and action = $2
     order by age(xmin) desc`,
    [workspaceId, action],
  );
  return rows;
}

const settings = "POST /workspaces/:workspaceId/settings";
const change = "POST /workspaces/:workspaceId/keys/:keyId";
const revoke = "POST /workspaces/:workspaceId/keys/:keyId/revoke";
const revocation = "GET /workspaces/:workspaceId/keys/:keyId/revocation";

test("nobody has chosen a limit at first, and anybody is a choice that the activity tells", async () => {
  const { workspaceId, email, call } = await makeTeam();
  const at = { params: { workspaceId } };
  const { json: first } = await call("GET /workspaces/:workspaceId", at);
  assert.deepEqual(
    [first.approverLimit, first.approverDomains, first.handOver],
    [null, [], "workspace"],
  );
  await call(settings, { body: { name: "Renamed" } });
  const { json: renamed } = await call("GET /workspaces/:workspaceId", at);
  assert.equal(renamed.approverLimit, null, "another change chooses nothing");
  const { json: chosen } = await call(settings, { body: { approverLimit: "anybody" } });
  assert.equal(chosen.approverLimit, "anybody");
  const [, entry] = await activityOf(workspaceId, "settings.changed");
  assert.deepEqual(entry, {
    actor_email: email,
    detail: { approverLimit: "from anybody, by default to anybody" },
  });
});

test("domains are kept in one spelling and one by one, and each wrong setting is named", async () => {
  const { workspaceId, call } = await makeTeam();
  const body = { approverLimit: "domains", approverDomains: ["Example.ORG", "example.com"] };
  const { json: changed } = await call(settings, { body });
  assert.deepEqual(changed.approverDomains, ["example.com", "example.org"]);
  const { json: handed } = await call(settings, { body: { handOver: "off" } });
  assert.deepEqual([handed.handOver, handed.approverLimit], ["off", "domains"]);
  for (const [wrong, field] of [
    [{ approverLimit: "everybody" }, "approverLimit"],
    [{ approverLimit: null }, "approverLimit"],
    [{ approverDomains: [] }, "approverDomains"],
    [{ approverDomains: ["ann@example.com"] }, "approverDomains"],
    [{ approverDomains: "example.com" }, "approverDomains"],
    [{ approverDomains: Array.from({ length: 51 }, (_, n) => `d${n}.example`) }, "approverDomains"],
    [{ handOver: "anybody" }, "handOver"],
  ] as const) {
    const { status, json } = await call(settings, { body: wrong });
    assert.deepEqual([status, json.error.field], [400, field], JSON.stringify(wrong));
  }
  const entries = await activityOf(workspaceId, "settings.changed");
  assert.deepEqual(
    entries.map(({ detail }) => detail),
    [
      {
        approverLimit: "from anybody, by default to domains",
        approverDomains: "from none to example.com, example.org",
      },
      { handOver: "from workspace to off" },
    ],
  );
});

test("the command line sets the limit, its domains and the hand-over", async () => {
  const run = (...words: string[]) => runCommand(environmentOn(service.database.url), words);
  const { id } = await makeWorkspace(db);
  const flags = ["--approver-limit", "domains", "--approver-domain", "Example.com"];
  const update = ["workspace", "update", id, "--json"];
  const { stdout } = await run(...update, ...flags, "--hand-over", "group");
  const { approverLimit, approverDomains, handOver } = JSON.parse(stdout);
  assert.deepEqual(
    [approverLimit, approverDomains, handOver],
    ["domains", ["example.com"], "group"],
  );
  const wrong = await run(...update, "--approver-limit", "nobody");
  assert.deepEqual(
    [wrong.code, wrong.stderr],
    [1, "countersign: nobody is none of anybody, members, domains\n"],
  );
});

test("an owner of a key is set, changed and removed, shown in the list, and each step is noted", async () => {
  const { workspaceId, keyId, key, call } = await makeTeam();
  const { json: issued } = await call("POST /workspaces/:workspaceId/keys", {
    body: { name: "New", owner: "olga@example.com" },
  });
  assert.equal(issued.owner, "olga@example.com");
  const at = { params: { keyId } };
  for (const owner of ["rita@example.com", "rita@example.com", null]) {
    const { json } = await call(change, { ...at, body: { owner } });
    assert.equal(json.owner, owner);
  }
  const wrong = await call(change, { ...at, body: { owner: "Rita <rita@example.com>" } });
  assert.deepEqual([wrong.status, wrong.json.error.field], [400, "owner"]);
  const { json: other } = await call(change, {
    ...at,
    body: { defaultApprover: "ann@example.com" },
  });
  assert.deepEqual([other.owner, other.defaultApprover], [null, "ann@example.com"]);
  const { json: listed } = await call("GET /workspaces/:workspaceId/keys");
  assert.deepEqual(
    listed.keys.map(({ owner }: { owner: string | null }) => owner),
    [null, "olga@example.com"],
  );
  const lastFour = key.slice(-4);
  const entries = await activityOf(workspaceId, "key.changed");
  assert.deepEqual(
    entries.map(({ detail }) => detail),
    [
      { lastFour, owner: "from nobody to rita@example.com" },
      { lastFour, owner: "from rita@example.com to nobody" },
      { lastFour, defaultApprover: "from as workspace to ann@example.com" },
    ],
  );
  const [, created] = await activityOf(workspaceId, "key.issued");
  assert.equal(created?.detail.owner, "olga@example.com");
});

test("a request's page tells which key asked, whose it is, and that it was revoked since", async () => {
  const { key, keyId, call } = await makeTeam();
  const requestId = await ask(key);
  await call(change, { params: { keyId }, body: { owner: "rita@example.com" } });
  await call(revoke, { params: { keyId } });
  const show = "GET /workspaces/:workspaceId/requests/:requestId";
  const { json: told } = await call(`${show}/key`, { params: { requestId } });
  assert.deepEqual(told.apiKey, {
    id: keyId,
    name: "Test key",
    lastFour: key.slice(-4),
    isRevoked: true,
    owner: "rita@example.com",
  });
  const { json: request } = await call(show, { params: { requestId } });
  assert.equal(request.status, "PENDING", "without being told so, revoking cancels nothing");
  await db.query("update approvals set key_id = null where id = $1", [requestId]);
  const { json: older } = await call(`${show}/key`, { params: { requestId } });
  assert.deepEqual(older, { apiKey: null }, "requests from before have none");
});

test("revoking a key cancels what it has pending if that is wanted, and nothing of another key", async () => {
  const { workspaceId, keyId, call } = await makeTeam();
  const { json: other } = await call("POST /workspaces/:workspaceId/keys", {
    body: { name: "Other" },
  });
  // More than one batch, with the others' among them.
  const count = cancelledAtOnceMax + 20;
  await insertPending(workspaceId, keyId, 10);
  await insertPending(workspaceId, other.id, 5);
  await insertPending(workspaceId, keyId, count - 10);
  const at = { params: { keyId } };
  const { json: foreseen } = await call(revocation, at);
  assert.deepEqual(foreseen, { pending: { count, isMore: false } });
  const { json: revoked } = await call(revoke, { ...at, body: { cancelPending: true } });
  assert.equal(revoked.cancelled, count);
  assert.notEqual(revoked.revokedAt, null);
  assert.deepEqual(await statusesOf(workspaceId, keyId), ["CANCELLED"]);
  assert.deepEqual(await statusesOf(workspaceId, other.id), ["PENDING"]);
  const entries = await activityOf(workspaceId, "requests.cancelled");
  assert.deepEqual(
    entries.map(({ detail }) => detail.key),
    ["Test key", "Test key"],
  );
  const events = await db.query<{ count: number }>(
    "select count(*)::int as count from events where workspace_id = $1 and kind = 'request.cancelled'",
    [workspaceId],
  );
  assert.equal(events.rows[0]?.count, count);
});

test("a key that goes on asking while it is revoked leaves nothing pending", async () => {
  const { workspaceId, key, keyId, call } = await makeTeam();
  const asking = Array.from({ length: 40 }, () =>
    service.call("POST", "/v1/requests", { key, body: minimalBody }),
  );
  await Promise.race(asking);
  const revoking = call(revoke, { params: { keyId }, body: { cancelPending: true } });
  const statuses = new Set((await Promise.all(asking)).map(({ status }) => status));
  assert.ok([...statuses].every((status) => status === 201 || status === 401));
  assert.equal((await revoking).status, 200);
  assert.deepEqual(await statusesOf(workspaceId, keyId), ["CANCELLED"]);
});

test("looking for the requests of a key looks at no more than are cancelled at once", async () => {
  const { workspaceId, keyId } = await makeTeam();
  await insertPending(workspaceId, "key_other", 3 * cancelledAtOnceMax);
  await db.query("analyze approvals");
  const client = await db.connect();
  try {
    const of = { workspaceId, keyId, after: "" };
    const { counts } = await rowsLookedAt(client, () => listPendingOfKey(client, of));
    assert.equal(counts.approvals, cancelledAtOnceMax);
  } finally {
    client.release();
  }
});

test("the command line names owners, and cancels what a key that was revoked before left pending", async () => {
  const run = async (...words: string[]) => {
    const outcome = await runCommand(environmentOn(service.database.url), words);
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };
  const { id: workspaceId } = await makeWorkspace(db);
  const create = ["key", "create", "--workspace", workspaceId, "--name", "Agent", "--json"];
  const { id, owner } = JSON.parse(await run(...create, "--owner", "rita@example.com"));
  assert.equal(owner, "rita@example.com");
  assert.match(await run("key", "list", "--workspace", workspaceId), /rita@example\.com /);
  assert.match(await run("key", "set-owner", id, "none"), /has no owner/);
  await insertPending(workspaceId, id, 3);
  await run("key", "revoke", id);
  assert.deepEqual(await statusesOf(workspaceId, id), ["PENDING"]);
  assert.match(await run("key", "revoke", id, "--cancel-pending"), /3 pending request\(s\) were/);
  assert.deepEqual(await statusesOf(workspaceId, id), ["CANCELLED"]);
});
