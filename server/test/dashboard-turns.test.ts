// Calls at the same moment: members lose their rights between the check of their call and its transaction, and two
// calls reach a bound at once.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { keysPerWorkspaceMax } from "../src/domain/access/key-limits.ts";
import { groupsPerWorkspaceMax } from "../src/domain/limits.ts";
import { isRefusal, type Refusal } from "../src/domain/refusal.ts";
import type { Role } from "../src/domain/workspace/role.ts";
import { dashboardTable, type Row } from "../src/http/dashboard/calls/table.ts";
import type { DashboardCalls, MemberVisit } from "../src/http/dashboard/visit.ts";
import type { Call } from "../src/http/frame/call.ts";
import { FairBudget } from "../src/http/frame/fair-budget.ts";
import { rotateEndpointSecret } from "../src/operations/deliveries/manage-endpoint.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { changeMemberRole, removeMember } from "../src/operations/people/manage-members.ts";
import { issueKey, revokeKey } from "../src/operations/workspaces/issue-key.ts";
import * as endpoints from "../src/storage/deliveries/endpoints.ts";
import * as members from "../src/storage/people/members.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { until } from "./patience.ts";
import { makeMember } from "./test-dashboard.ts";
import { bodies, contentsOf, makeFurnished } from "./test-furnished.ts";
import { startService, testAssets, testPublicUrl } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const calls: DashboardCalls = {
  db,
  keyring: service.keyring,
  origin: { publicUrl: testPublicUrl },
  assets: testAssets,
  resolutions: service.resolutions,
  heavyReads: new FairBudget({ total: 1, perHolder: 1 }),
  onDue: () => {},
  isMailKept: true,
  inBackground: (work) => void work(),
  examineAddress: async () => null,
  callSlack: async () => ({ ok: false, error: "unreachable", retryAfterSeconds: null }),
  readReceipt: async () => ({ missing: "undecided" }),
  oidc: null,
  clock: () => performance.now(),
};

const posts = (Object.keys(dashboardTable) as (keyof DashboardApi)[]).filter((name) =>
  name.startsWith("POST /workspaces/"),
);
/** Slack is asked before anything is written there: dashboard-channels.test.ts holds who may. */
const ofSlack = posts.filter((name) => name.startsWith("POST /workspaces/:workspaceId/slack"));
const changes = posts.filter((name) => !ofSlack.includes(name));

const ofProof = posts.filter((name) => /\/(proof|signature)$/.test(name));

const adminEmail = "admin@x.example";

/** A furnished workspace with an owner and an admin. */
async function makeTeam() {
  const { workspaceId, ids } = await makeFurnished(service);
  const owner = { workspaceId, email: "owner@x.example", role: "owner" } as const;
  const admin = { workspaceId, email: adminEmail, role: "admin" } as const;
  await makeMember(db, owner);
  const adminId = await makeMember(db, admin);
  return {
    workspaceId,
    ids,
    adminId,
    owner: { actor: owner.email, workspaceId },
    admin: { actor: admin.email, workspaceId },
  };
}

/** The call as the route makes it once it has found that an admin may. */
function makeCall(name: keyof DashboardApi, workspaceId: string, ids: Record<string, string>) {
  const call: Call = {
    requestId: "test",
    isHead: false,
    keyDigest: Buffer.alloc(0),
    params: { workspaceId, ...ids },
    query: new URLSearchParams(),
    body: Buffer.from(JSON.stringify(bodies[name] ?? {})),
    header: () => null,
    address: null,
    signal: new AbortController().signal,
    facts: {},
  };
  const person = { id: "per_test", email: adminEmail, sessionId: "ses_test" };
  const row = dashboardTable[name] as Extract<Row<unknown>, { who: Role }>;
  const visit: MemberVisit = { call, person, workspaceId, role: "admin" };
  return row.handle(calls, visit);
}

function assertRefused(value: unknown, refusal: string, message: RegExp, what?: string): void {
  assert.ok(isRefusal(value as Refusal | object), `${what}: ${JSON.stringify(value)}`);
  const refused = value as Refusal<string>;
  assert.equal(refused.refusal, refusal, `${what}: ${refused.message}`);
  assert.match(refused.message, message, what);
}

const waiting = (count: number) => async () => {
  const { rows } = await db.query(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows.length >= count;
};

test("every call that changes a workspace asks for an admin, and for an owner if it is about Slack or proof", () => {
  assert.ok(changes.length >= 20);
  const ofOwners = [...ofSlack, ...ofProof];
  for (const name of posts.filter((each) => !ofOwners.includes(each))) {
    assert.equal(dashboardTable[name].who, "admin", name);
  }
  assert.deepEqual([ofSlack.length, ofProof.length], [4, 2]);
  for (const name of ofOwners) assert.equal(dashboardTable[name].who, "owner", name);
});

test("an owner who became an admin before a change of proof is refused, and nothing changes", async () => {
  const { workspaceId, ids } = await makeTeam();
  const before = await contentsOf(db, workspaceId);
  for (const name of ofProof) {
    const told = await makeCall(name, workspaceId, ids);
    assertRefused(told, "forbidden", /^Only owners may change/, name);
  }
  assert.equal(await contentsOf(db, workspaceId), before);
});

test("an admin who lost the role before a change is refused, whatever the change, and nothing changes", async () => {
  const losses = {
    removed: "delete from members where workspace_id = $1 and email = $2",
    demoted: "update members set role = 'viewer' where workspace_id = $1 and email = $2",
    "merely invited": "update members set joined_at = null where workspace_id = $1 and email = $2",
  };
  for (const [loss, statement] of Object.entries(losses)) {
    const { workspaceId, ids } = await makeTeam();
    await db.query(
      "update deliveries set state = 'failed', finished_at = now() where workspace_id = $1",
      [workspaceId],
    );
    await db.query(statement, [workspaceId, adminEmail]);
    const before = await contentsOf(db, workspaceId);
    for (const name of changes) {
      const told = await makeCall(name, workspaceId, ids);
      assertRefused(told, "forbidden", /no admin or owner .*any more/, `${loss}, ${name}`);
    }
    assert.equal(await contentsOf(db, workspaceId), before, loss);
  }
});

test("a change waits for a removal or demotion that is under way, and is then refused", async () => {
  for (const isDemotion of [false, true]) {
    const { workspaceId, ids, admin, adminId } = await makeTeam();
    const member = { workspaceId, id: adminId, email: adminEmail };
    let change: Promise<object> = Promise.resolve({});
    await inTransaction(db, async (tx) => {
      if (isDemotion) await members.setRole(tx, member, "viewer");
      else await members.remove(tx, member);
      change = revokeKey(db, ids.keyId ?? "", admin);
      await until(waiting(1), "the change waits");
    });
    assertRefused(await change, "forbidden", /no admin or owner/);
    const { rows } = await db.query("select revoked_at from api_keys where workspace_id = $1", [
      workspaceId,
    ]);
    assert.deepEqual(rows, [{ revoked_at: null }]);
  }
});

test("a removal waits for a change that its member has begun, and neither is lost", async () => {
  const { workspaceId, ids, admin, adminId, owner } = await makeTeam();
  const endpoint = { workspaceId, id: ids.endpointId ?? "" };
  let both: Promise<object[]> = Promise.resolve([]);
  await inTransaction(db, async (tx) => {
    await endpoints.lock(tx, endpoint);
    const change = rotateEndpointSecret(db, service.keyring, endpoint.id, admin);
    await until(waiting(1), "the change waits for its endpoint");
    both = Promise.all([change, removeMember(db, { id: adminId, groups: false }, owner)]);
    await until(waiting(2), "the removal waits for the change");
  });
  for (const done of await both) assert.ok(!isRefusal(done), JSON.stringify(done));
  const { rows } = await db.query(
    `select action from activity where workspace_id = $1 and action ~ 'rotated|removed'
     order by age(xmin) desc`,
    [workspaceId],
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ["endpoint.rotated", "member.removed"],
  );
});

test("changes of every kind at once, among them changes of who makes them, end without a deadlock", async () => {
  const { workspaceId, ids, adminId, owner } = await makeTeam();
  const everything = changes.filter((name) => !/members\/:memberId/.test(name));
  for (let round = 0; round < 3; round += 1) {
    const role = round % 2 === 0 ? "owner" : "admin";
    await Promise.all([
      ...everything.map((name) => makeCall(name, workspaceId, ids)),
      changeMemberRole(db, { id: adminId, role }, owner),
    ]);
  }
});

test("a workspace has so many keys in use, however many are issued at once, and revoked ones do not count", async () => {
  const { workspaceId, admin, ids } = await makeTeam();
  await db.query(
    `insert into api_keys (workspace_id, name, digest, last_four)
     select $1, 'Key ' || n, sha256(($1 || n)::bytea), 'aaaa' from generate_series(2, $2) n`,
    [workspaceId, keysPerWorkspaceMax - 1],
  );
  const issue = () => issueKey(db, { workspaceId, name: "One more" }, admin);
  const issued = await Promise.all([issue(), issue(), issue()]);
  const refused = issued.filter((each) => isRefusal(each));
  assert.equal(refused.length, 2);
  for (const each of refused) {
    assertRefused(each, "conflict", /at most 100 keys in use; revoke one first/);
  }
  assertRefused(await issueKey(db, { workspaceId, name: "Operator's" }), "conflict", /at most 100/);
  await revokeKey(db, ids.keyId ?? "", admin);
  assert.ok(!isRefusal(await issue()));
});

test("a workspace has so many groups, however many are made at once", async () => {
  const { workspaceId, admin } = await makeTeam();
  await db.query(
    "insert into groups (workspace_id, key, name) select $1, 'g' || n, 'G' from generate_series(2, $2) n",
    [workspaceId, groupsPerWorkspaceMax - 1],
  );
  const create = (key: string) =>
    createGroup(db, { workspaceId, key, name: "More", members: [] }, admin);
  const made = await Promise.all([create("x"), create("y"), create("z")]);
  const refused = made.filter((each) => isRefusal(each));
  assert.equal(refused.length, 2);
  for (const each of refused) assertRefused(each, "conflict", /at most 200 groups/);
});
