import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isAtLeast, type Role, roles } from "../src/domain/workspace/role.ts";
import { dashboardTable } from "../src/http/dashboard/calls/table.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { bodies, contentsOf, makeFurnished } from "./test-furnished.ts";
import { startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const names = Object.keys(dashboardTable) as (keyof DashboardApi)[];
const ofWorkspace = names.filter((name) => name.includes(" /workspaces/:workspaceId"));

async function makeCookie(workspaceId: string, role: Role, hasJoined = true): Promise<string> {
  const email = `${role}-${hasJoined}@${workspaceId}.example`.replaceAll("_", "-");
  await makeMember(db, { workspaceId, email, role, hasJoined });
  return signIn(service, email);
}

test("every call of the contract is in the table, and every row asks for somebody", () => {
  assert.ok(names.length >= 50);
  for (const name of ofWorkspace) {
    assert.ok((roles as readonly string[]).includes(dashboardTable[name].who), name);
  }
  // A viewer must not be able to change anything.
  for (const name of ofWorkspace.filter((each) => each.startsWith("POST "))) {
    assert.notEqual(dashboardTable[name].who, "viewer", name);
  }
});

test("who is not signed in gets nothing", async () => {
  const { workspaceId, ids } = await makeFurnished(service);
  const params = { workspaceId, sessionId: "ses_x", passkeyId: "psk_x", ...ids };
  const before = await contentsOf(db, workspaceId);
  for (const name of names.filter((each) => dashboardTable[each].who !== "anyone")) {
    for (const cookie of [null, "__Host-countersign=made-up", "countersign=made-up"]) {
      const reply = await callDashboard(service, name, { cookie, params, body: bodies[name] });
      assert.deepEqual([reply.status, reply.json.error.code], [401, "signed_out"], name);
    }
  }
  assert.equal(await contentsOf(db, workspaceId), before);
});

test("each role may make exactly the calls that the table grants it", async () => {
  for (const role of roles) {
    const { workspaceId, ids } = await makeFurnished(service);
    const cookie = await makeCookie(workspaceId, role);
    for (const name of ofWorkspace) {
      const needed = dashboardTable[name].who as Role;
      const before = await contentsOf(db, workspaceId);
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
        assert.equal(await contentsOf(db, workspaceId), before, told);
      }
    }
  }
});

test("a workspace that somebody does not belong to, or has not joined, looks as if it were not there", async () => {
  const { workspaceId, ids } = await makeFurnished(service);
  const other = await makeFurnished(service);
  const cookies = [
    await makeCookie(other.workspaceId, "owner"),
    await makeCookie(workspaceId, "owner", false),
  ];
  const before = await contentsOf(db, workspaceId);
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
  assert.equal(await contentsOf(db, workspaceId), before);
});

test("nothing of one workspace is reachable through another by its id", async () => {
  const theirs = await makeFurnished(service);
  const mine = await makeFurnished(service);
  const cookie = await makeCookie(mine.workspaceId, "owner");
  const before = await contentsOf(db, theirs.workspaceId);
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
  assert.equal(await contentsOf(db, theirs.workspaceId), before);
});

test("everybody can leave a workspace, except its last owner, and is a stranger there at once", async () => {
  const { workspaceId } = await makeFurnished(service);
  const viewer = await makeCookie(workspaceId, "viewer");
  const owner = await makeCookie(workspaceId, "owner");
  const elsewhere = await makeFurnished(service);
  const leave = (cookie: string, params = { workspaceId }) =>
    callDashboard(service, "POST /me/workspaces/:workspaceId/leave", { cookie, params });
  const foreign = await leave(viewer, { workspaceId: elsewhere.workspaceId });
  assert.equal(foreign.json.error.code, "not_found");
  // Leaving signs out a member who has no other workspace.
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
