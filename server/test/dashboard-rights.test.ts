import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { DashboardApi } from "../../sdk/src/dashboard-contract.ts";
import { isAtLeast, type Role, roles } from "../src/domain/role.ts";
import { dashboardTable } from "../src/http/dashboard/table.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint } from "./test-worker.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const names = Object.keys(dashboardTable) as (keyof DashboardApi)[];
const ofWorkspace = names.filter((name) => name.includes(" /workspaces/:workspaceId"));

/** A workspace with one of everything that a path can name. */
async function makeFurnished() {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { json: request } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const endpoint = await makeEndpoint(db, workspaceId, "https://hooks.example/one");
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const memberId = await makeMember(db, {
    workspaceId,
    email: `member@${workspaceId}.example`.replaceAll("_", "-"),
    role: "viewer",
  });
  const {
    rows: [made],
  } = await db.query(
    `with grouped as (
       insert into groups (workspace_id, key, name) values ($1, 'payers', 'Payers') returning id
     ), member as (
       insert into group_members (workspace_id, group_id, email)
       select $1, id, 'ann@example.com' from grouped
     )
     select grouped.id as "groupId",
       (select id from api_keys where workspace_id = $1 limit 1) as "keyId",
       (select id from deliveries where workspace_id = $1 and endpoint_id is not null limit 1) as "deliveryId"
     from grouped`,
    [workspaceId],
  );
  const ids = { requestId: request.id, endpointId: endpoint.id, memberId, ...made };
  return { workspaceId, key, ids: ids as Record<string, string> };
}

async function makeCookie(workspaceId: string, role: Role, hasJoined = true): Promise<string> {
  const email = `${role}-${hasJoined}@${workspaceId}.example`.replaceAll("_", "-");
  await makeMember(db, { workspaceId, email, role, hasJoined });
  return signIn(service, email);
}

/** A body that is right for its call, as far as one can be that changes little. */
const bodies: Partial<Record<keyof DashboardApi, object>> = {
  "POST /workspaces/:workspaceId/settings": { expiryMinutes: 60 },
  "POST /workspaces/:workspaceId/endpoints": { url: "https://93.184.215.14/x", eventKinds: null },
  "POST /workspaces/:workspaceId/endpoints/:endpointId": { eventKinds: ["request.approved"] },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/disable": { reason: "not wanted" },
  "POST /workspaces/:workspaceId/endpoints/:endpointId/resend-failed": {
    since: "2026-01-01T00:00:00.000Z",
  },
  "POST /workspaces/:workspaceId/keys": { name: "New" },
  "POST /workspaces/:workspaceId/groups": { key: "new", name: "New", members: [] },
  "POST /workspaces/:workspaceId/groups/:groupId": { name: "Renamed" },
  "POST /workspaces/:workspaceId/groups/:groupId/members": { email: "ben@example.com" },
  "POST /workspaces/:workspaceId/groups/:groupId/members/remove": { email: "ann@example.com" },
  "POST /workspaces/:workspaceId/members": { email: "cy@example.com", role: "viewer" },
  "POST /workspaces/:workspaceId/members/:memberId/role": { role: "admin" },
};

/** Everything of a workspace, to see whether anything of it has changed. What only looking changes is left out. */
async function contentsOf(workspaceId: string): Promise<string> {
  const tables = ["workspaces", "members", "api_keys", "groups", "group_members", "endpoints"];
  const more = ["endpoint_secrets", "approvals", "events", "deliveries", "activity"];
  const found: unknown[] = [];
  for (const table of [...tables, ...more]) {
    const column = table === "workspaces" ? "id" : "workspace_id";
    const { rows } = await db.query(
      `select to_jsonb(t) - 'last_used_at' as row from ${table} t where ${column} = $1 order by 1`,
      [workspaceId],
    );
    found.push(table, rows);
  }
  return JSON.stringify(found);
}

test("every call of the contract is in the table, and every row asks for somebody", () => {
  assert.ok(names.length >= 50);
  for (const name of ofWorkspace) {
    assert.ok((roles as readonly string[]).includes(dashboardTable[name].who), name);
  }
  // Whoever may only look must not be able to change anything.
  for (const name of ofWorkspace.filter((each) => each.startsWith("POST "))) {
    assert.notEqual(dashboardTable[name].who, "viewer", name);
  }
});

test("who is not signed in gets nothing", async () => {
  const { workspaceId, ids } = await makeFurnished();
  const params = { workspaceId, sessionId: "ses_x", passkeyId: "psk_x", ...ids };
  const before = await contentsOf(workspaceId);
  for (const name of names.filter((each) => dashboardTable[each].who !== "anyone")) {
    for (const cookie of [null, "__Host-countersign=made-up", "countersign=made-up"]) {
      const reply = await callDashboard(service, name, { cookie, params, body: bodies[name] });
      assert.deepEqual([reply.status, reply.json.error.code], [401, "signed_out"], name);
    }
  }
  assert.equal(await contentsOf(workspaceId), before);
});

test("each role may make exactly the calls that the table grants it", async () => {
  for (const role of roles) {
    const { workspaceId, ids } = await makeFurnished();
    const cookie = await makeCookie(workspaceId, role);
    for (const name of ofWorkspace) {
      const needed = dashboardTable[name].who as Role;
      const before = await contentsOf(workspaceId);
      const reply = await callDashboard(service, name, {
        cookie,
        params: { workspaceId, ...ids },
        body: bodies[name],
      });
      const told = `${role} ${name}: ${reply.status} ${JSON.stringify(reply.json)?.slice(0, 300)}`;
      if (isAtLeast(role, needed)) {
        assert.ok(![401, 403, 500].includes(reply.status), told);
      } else {
        assert.deepEqual([reply.status, reply.json.error.code], [403, "forbidden"], told);
        assert.equal(await contentsOf(workspaceId), before, told);
      }
    }
  }
});

test("a workspace that somebody does not belong to, or has not joined, looks as if it were not there", async () => {
  const { workspaceId, ids } = await makeFurnished();
  const other = await makeFurnished();
  const cookies = [
    await makeCookie(other.workspaceId, "owner"),
    await makeCookie(workspaceId, "owner", false),
  ];
  const before = await contentsOf(workspaceId);
  for (const cookie of cookies) {
    for (const name of ofWorkspace) {
      const params = { workspaceId, ...ids };
      const reply = await callDashboard(service, name, { cookie, params, body: bodies[name] });
      const unknown = await callDashboard(service, name, {
        cookie,
        params: { ...params, workspaceId: "ws_unknown" },
        body: bodies[name],
      });
      assert.equal(reply.status, 404, name);
      assert.deepEqual(reply.json, unknown.json, name);
    }
  }
  assert.equal(await contentsOf(workspaceId), before);
});

test("nothing of one workspace is reachable through another by its id", async () => {
  const theirs = await makeFurnished();
  const mine = await makeFurnished();
  const cookie = await makeCookie(mine.workspaceId, "owner");
  const before = await contentsOf(theirs.workspaceId);
  for (const name of ofWorkspace.filter((each) => /:(?!workspaceId)\w+/.test(each))) {
    const call = (ids: Record<string, string>) =>
      callDashboard(service, name, {
        cookie,
        params: { ...ids, workspaceId: mine.workspaceId },
        body: bodies[name],
      });
    const foreign = await call(theirs.ids);
    assert.equal(foreign.status, 404, `${name}: ${JSON.stringify(foreign.json)}`);
    assert.equal(foreign.json.error.code, "not_found", name);
  }
  assert.equal(await contentsOf(theirs.workspaceId), before);
});

test("everybody can leave a workspace, except its last owner, and is a stranger there at once", async () => {
  const { workspaceId } = await makeFurnished();
  const viewer = await makeCookie(workspaceId, "viewer");
  const owner = await makeCookie(workspaceId, "owner");
  const elsewhere = await makeFurnished();
  const leave = (cookie: string, params = { workspaceId }) =>
    callDashboard(service, "POST /me/workspaces/:workspaceId/leave", { cookie, params });
  const foreign = await leave(viewer, { workspaceId: elsewhere.workspaceId });
  assert.equal(foreign.json.error.code, "not_found");
  // A member nowhere else is signed out by it.
  await leave(viewer);
  const after = await callDashboard(service, "GET /workspaces/:workspaceId", {
    cookie: viewer,
    params: { workspaceId },
  });
  assert.equal(after.status, 401);
  const last = await leave(owner);
  assert.deepEqual([last.status, last.json.error.code], [409, "conflict"]);
  const { rows } = await db.query(
    "select action, actor_email = subject as is_own from activity where workspace_id = $1 and action = 'member.removed'",
    [workspaceId],
  );
  assert.deepEqual(rows, [{ action: "member.removed", is_own: true }]);
});
