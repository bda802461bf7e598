import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { inTransaction, openDatabase } from "../src/database/database.ts";
import { digestOfApiKey } from "../src/domain/access/api-key.ts";
import { revokedKeysListed } from "../src/domain/access/key-limits.ts";
import { makeAddressPolicy } from "../src/domain/access/network-address.ts";
import {
  activityPageMax,
  endpointsPerWorkspaceMax,
  groupMembersMax,
  invitationsPerDayMax,
  unsuccessfulCountMax,
} from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { Role } from "../src/domain/workspace/role.ts";
import type { WorkspaceSettings } from "../src/domain/workspace/workspace-settings.ts";
import * as dashboardDeliveries from "../src/http/dashboard/deliveries.ts";
import * as endpoints from "../src/http/dashboard/endpoints.ts";
import * as groups from "../src/http/dashboard/groups.ts";
import * as keys from "../src/http/dashboard/keys.ts";
import * as members from "../src/http/dashboard/members.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "../src/http/dashboard/visit.ts";
import * as workspace from "../src/http/dashboard/workspace.ts";
import type { Call } from "../src/http/frame/call.ts";
import { FairBudget } from "../src/http/frame/fair-budget.ts";
import { enableEndpoint } from "../src/operations/deliveries/manage-endpoint.ts";
import { addMember, removeMemberByEmail } from "../src/operations/people/add-member.ts";
import { addGroupMember, createGroup } from "../src/operations/people/manage-group.ts";
import {
  acceptInvitation,
  declineInvitation,
  leaveWorkspace,
} from "../src/operations/people/manage-members.ts";
import { firstOwnerEmail, runFirst } from "../src/operations/workspaces/first-run.ts";
import { issueKey, newKey, revokeKey } from "../src/operations/workspaces/issue-key.ts";
import { updateWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import { makeKeyUse } from "../src/operations/workspaces/note-key-use.ts";
import { examineMembersWebhookUrl } from "../src/outbound/resolve-host.ts";
import * as deliveries from "../src/storage/deliveries/deliveries.ts";
import * as storedEndpoints from "../src/storage/deliveries/endpoints.ts";
import * as newDeliveries from "../src/storage/deliveries/new-deliveries.ts";
import { KeyUse } from "../src/storage/workspaces/key-use.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import {
  makeWorkspace,
  minimalBody,
  startNode,
  startService,
  testAssets,
  testKeyring,
  testPublicUrl,
} from "./test-service.ts";
import { makeEndpoint, startWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

let dueCount = 0;
const calls: DashboardCalls = {
  db,
  keyring: service.keyring,
  origin: { publicUrl: testPublicUrl },
  assets: testAssets,
  resolutions: service.resolutions,
  heavyReads: new FairBudget({ total: 1, perHolder: 1 }),
  onDue: () => {
    dueCount += 1;
  },
  isMailKept: true,
  inBackground: (work) => void work(),
  examineAddress: (url) => examineMembersWebhookUrl(url, makeAddressPolicy([])),
  callSlack: async () => ({ ok: false, error: "unreachable", retryAfterSeconds: null }),
  readReceipt: async () => ({ missing: "undecided" }),
  oidc: null,
  clock: () => performance.now(),
};

type Sent = { body?: unknown; params?: Record<string, string>; query?: string };

function visitOf(workspaceId: string, email: string, role: Role, sent: Sent = {}): MemberVisit {
  const call: Call = {
    requestId: "test",
    isHead: false,
    keyDigest: Buffer.alloc(0),
    params: { workspaceId, ...sent.params },
    query: new URLSearchParams(sent.query ?? ""),
    body: Buffer.from(sent.body === undefined ? "" : JSON.stringify(sent.body)),
    header: () => null,
    address: null,
    signal: new AbortController().signal,
    facts: {},
  };
  return { call, person: { id: "per_test", email, sessionId: "ses_test" }, workspaceId, role };
}

/** A workspace and an owner, admin and viewer of it, each as a visitor. */
async function makeTeam(settings: Partial<WorkspaceSettings> = {}) {
  const { id, key, keyId } = await makeWorkspace(db, settings);
  const emails = { owner: "owner@x.example", admin: "admin@x.example", viewer: "viewer@x.example" };
  const ids = { owner: "", admin: "", viewer: "" };
  for (const role of ["owner", "admin", "viewer"] as const) {
    const member = accepted(await addMember(db, { workspaceId: id, email: emails[role], role }));
    ids[role] = member.id;
  }
  return {
    id,
    key,
    keyId,
    emails,
    ids,
    owner: (sent: Sent = {}) => visitOf(id, emails.owner, "owner", sent),
    admin: (sent: Sent = {}) => visitOf(id, emails.admin, "admin", sent),
    viewer: (sent: Sent = {}) => visitOf(id, emails.viewer, "viewer", sent),
  };
}

function accepted<Value extends object>(value: Value): Exclude<Value, DashboardRefusal> {
  assert.ok(!isRefusal(value), JSON.stringify(value));
  return value as Exclude<Value, DashboardRefusal>;
}

function assertRefused(value: object, refusal: string, message: RegExp, field?: string): void {
  assert.ok(isRefusal(value), JSON.stringify(value));
  const refused: DashboardRefusal = value;
  assert.equal(refused.refusal, refusal, refused.message);
  assert.match(refused.message, message);
  assert.doesNotMatch(refused.message, /`countersign/);
  assert.equal(refused.field, field);
}

type Entry = { actor: string | null; action: string; subject: string; detail: object };

/** The activity, oldest first: by transaction, since ids of the same millisecond are in no order. */
async function activityOf(workspaceId: string, actions = /./): Promise<Entry[]> {
  const { rows } = await db.query<Entry>(
    `select actor_email as actor, action, subject, detail from activity
     where workspace_id = $1 order by age(xmin) desc`,
    [workspaceId],
  );
  return rows.filter(({ action }) => actions.test(action));
}

const unknownId = (prefix: string) => `${prefix}_${"0".repeat(32)}`;

test("a key is shown once, opens the API, and is refused by the very next call after it was revoked", async () => {
  const team = await makeTeam();
  const issued = accepted(await keys.issue(calls, team.admin({ body: { name: "Billing agent" } })));
  assert.match(issued.key, /^cs_/);
  assert.equal(issued.lastFour, issued.key.slice(-4));
  const create = () => service.call("POST", "/v1/requests", { key: issued.key, body: minimalBody });
  assert.equal((await create()).status, 201);
  const listed = accepted(await keys.list(calls, team.viewer()));
  assert.deepEqual(
    listed.keys.map(({ name }) => name),
    ["Test key", "Billing agent"],
  );
  assert.ok(!JSON.stringify(listed).includes(issued.key));
  const params = { keyId: issued.id };
  const revoked = accepted(await keys.revoke(calls, team.admin({ params })));
  assert.equal((await create()).status, 401);
  const again = accepted(await keys.revoke(calls, team.admin({ params })));
  assert.equal(again.revokedAt, revoked.revokedAt);
  const entry = { subject: "Billing agent", detail: { lastFour: issued.lastFour } };
  assert.deepEqual(await activityOf(team.id, /^key/), [
    {
      actor: null,
      action: "key.issued",
      subject: "Test key",
      detail: { lastFour: team.key.slice(-4) },
    },
    { actor: team.emails.admin, action: "key.issued", ...entry },
    { actor: team.emails.admin, action: "key.revoked", ...entry },
  ]);
});

test("a key needs a name, and nothing is issued without one", async () => {
  const team = await makeTeam();
  const blank = await keys.issue(calls, team.admin({ body: { name: " " } }));
  assertRefused(blank, "validation_error", /name: must not be blank/, "name");
  const none = await keys.issue(calls, team.admin({ body: {} }));
  assertRefused(none, "validation_error", /^name: /, "name");
  assert.equal(accepted(await keys.list(calls, team.admin())).keys.length, 1);
});

test("all keys in use are listed, and of those that were revoked the newest", async () => {
  const team = await makeTeam();
  const listed = async () => accepted(await keys.list(calls, team.viewer()));
  const revoke = (from: number, to: number) =>
    db.query(
      `insert into api_keys (workspace_id, name, digest, last_four, revoked_at)
       select $1, 'Old ' || n, sha256(($1 || n)::bytea), 'aaaa', now() - n * interval '1 hour'
       from generate_series($2::int, $3::int) n`,
      [team.id, from, to],
    );
  await revoke(1, revokedKeysListed);
  assert.deepEqual(
    [(await listed()).keys.length, (await listed()).isMore],
    [revokedKeysListed + 1, false],
  );
  await revoke(revokedKeysListed + 1, revokedKeysListed + 5);
  const { keys: shown, isMore } = await listed();
  assert.equal(isMore, true);
  const newest = Array.from({ length: revokedKeysListed }, (_, n) => `Old ${n + 1}`);
  assert.deepEqual(
    shown.map(({ name }) => name),
    ["Test key", ...newest],
  );
});

test("an id of another workspace is answered just as one that nothing has, and changes nothing", async () => {
  const [mine, theirs] = [await makeTeam(), await makeTeam()];
  const endpoint = await makeEndpoint(db, theirs.id, "https://hooks.example/theirs");
  const group = accepted(
    await createGroup(db, { workspaceId: theirs.id, key: "ops", name: "Ops", members: [] }),
  );
  const before = await activityOf(theirs.id);
  type Handler = (calls: DashboardCalls, visit: MemberVisit) => Promise<object>;
  const rows: [Handler, string, string, unknown?][] = [
    [keys.revoke, "keyId", theirs.keyId],
    [keys.change, "keyId", theirs.keyId, { defaultApprover: "eve@example.com" }],
    [endpoints.show, "endpointId", endpoint.id],
    [endpoints.change, "endpointId", endpoint.id, { eventKinds: ["request.approved"] }],
    [endpoints.enable, "endpointId", endpoint.id],
    [endpoints.disable, "endpointId", endpoint.id, { reason: "mine now" }],
    [endpoints.rotate, "endpointId", endpoint.id],
    [endpoints.test, "endpointId", endpoint.id],
    [endpoints.resendFailed, "endpointId", endpoint.id, { since: "2026-01-01T00:00:00Z" }],
    [groups.rename, "groupId", group.id, { name: "Mine" }],
    [groups.addMember, "groupId", group.id, { email: "ann@example.com" }],
    [groups.removeMember, "groupId", group.id, { email: "ann@example.com" }],
    [members.changeRole, "memberId", theirs.ids.viewer, { role: "admin" }],
    [members.remove, "memberId", theirs.ids.viewer],
  ];
  for (const [handle, name, id, body] of rows) {
    const prefix = id.slice(0, id.indexOf("_"));
    const told = await Promise.all(
      [id, unknownId(prefix), "\u0000", "x".repeat(5_000)].map((each) =>
        handle(calls, mine.owner({ params: { [name]: each }, body })),
      ),
    );
    for (const each of told) assertRefused(each, "not_found", /^There is no such /);
    assert.equal(new Set(told.map((each) => JSON.stringify(each))).size, 1);
  }
  assert.deepEqual(await activityOf(theirs.id), before);
});

test("lists show what belongs to the workspace and nothing else", async () => {
  const [mine, theirs] = [await makeTeam(), await makeTeam()];
  await makeEndpoint(db, theirs.id, "https://hooks.example/theirs");
  await createGroup(db, { workspaceId: theirs.id, key: "ops", name: "Ops", members: [] });
  assert.deepEqual(accepted(await endpoints.list(calls, mine.viewer())).endpoints, []);
  assert.deepEqual(accepted(await groups.list(calls, mine.viewer())).groups, []);
  const { keys: listed } = accepted(await keys.list(calls, mine.viewer()));
  assert.deepEqual(
    listed.map(({ id }) => id),
    [mine.keyId],
  );
  const people = accepted(await members.list(calls, mine.viewer())).members;
  assert.deepEqual(people.map(({ id }) => id).sort(), Object.values(mine.ids).sort());
});

test("keys that calls were let in with are noted, and those of refused calls are not", async () => {
  const node = await startNode(service.database);
  const [used, idle, gone] = await Promise.all([
    makeWorkspace(db),
    makeWorkspace(db),
    makeWorkspace(db),
  ]);
  await revokeKey(db, gone.keyId);
  const id = unknownId("req");
  const statuses = [
    (await node.call("GET", `/v1/requests/${id}`, { key: used.key })).status,
    (await node.call("GET", "/v1/requests?limit=nonsense", { key: used.key })).status,
    (await node.call("GET", `/v1/requests/${id}`, { key: gone.key })).status,
  ];
  assert.deepEqual(statuses, [404, 400, 401]);
  await node.stop();
  assert.notEqual(await lastUseOf(used.id), null);
  assert.equal(await lastUseOf(idle.id), null);
  assert.equal(await lastUseOf(gone.id), null);
  const { keys: listed } = await keys.list(calls, visitOf(used.id, "a@b.example", "viewer"));
  assert.ok(listed.every(({ lastUsedAt }) => lastUsedAt !== null));
});

test("a call that is answered before anybody looks for its key notes no key as used", async () => {
  const node = await startNode(service.database);
  const { id, key } = await makeWorkspace(db);
  const headers = { authorization: `Bearer ${key}`, origin: "https://elsewhere.example" };
  const refused = await node.app.inject({ method: "POST", url: "/mcp", headers, payload: "{}" });
  assert.equal(refused.statusCode, 403);
  await node.stop();
  assert.equal(await lastUseOf(id), null);
});

async function lastUseOf(workspaceId: string): Promise<Date | null> {
  const { rows } = await db.query("select last_used_at from api_keys where workspace_id = $1", [
    workspaceId,
  ]);
  return rows[0].last_used_at;
}

test("a key's use is written to the minute: once, and anew when a minute has passed", async () => {
  const { id, key } = await makeWorkspace(db);
  const digest = digestOfApiKey(key);
  const note = async () => {
    const keyUse = makeKeyUse(db);
    keyUse.note(digest);
    await keyUse.stop();
    return lastUseOf(id);
  };
  const first = await note();
  assert.deepEqual(await note(), first);
  await db.query(
    "update api_keys set last_used_at = last_used_at - interval '2 minutes' where workspace_id = $1",
    [id],
  );
  const later = await note();
  assert.ok(first !== null && later !== null && later >= first);
});

test("uses are gathered into one write, kept while it fails, and written at the stop", async () => {
  const digests = [1, 2].map((n) => createHash("sha256").update(String(n)).digest());
  const [one, two] = digests as [Buffer, Buffer];
  const written: string[][] = [];
  let isAway = true;
  const keyUse = new KeyUse(
    async (batch) => {
      written.push(batch.map((each) => each.toString("hex")));
      if (isAway) throw new Error("out of reach");
    },
    { gatherMs: 0, intervalMs: 3_600_000 },
  );
  for (const digest of [one, two, one, one]) keyUse.note(digest);
  await until(() => written.length === 1, "the first write");
  const both = [one.toString("hex"), two.toString("hex")];
  assert.deepEqual(written, [both]);
  isAway = false;
  keyUse.note(one);
  await keyUse.stop();
  assert.deepEqual(written[1]?.toSorted(), both.toSorted());
  await keyUse.stop();
  assert.equal(written.length, 2);
});

test("an endpoint is added with a secret that is shown once, and a private address is refused", async () => {
  const team = await makeTeam();
  const add = (body: object) => endpoints.add(calls, team.admin({ body }));
  const url = "https://93.184.215.14/hook";
  const added = accepted(await add({ url, eventKinds: ["request.approved"] }));
  assert.match(added.secret, /^whsec_/);
  assert.deepEqual(added.eventKinds, ["request.approved"]);
  const listed = JSON.stringify(accepted(await endpoints.list(calls, team.viewer())));
  assert.ok(listed.includes(added.id) && !listed.includes(added.secret));
  for (const bad of [
    "http://127.0.0.1/hook",
    "http://169.254.169.254/latest",
    "https://[::1]/",
    "ftp://93.184.215.14/",
    "https://user:pw@93.184.215.14/",
  ]) {
    const refused = await add({ url: bad, eventKinds: null });
    assertRefused(refused, "validation_error", /^url: /, "url");
  }
  // Members are told neither what a name resolves to nor what only the operator can do about it.
  for (const inside of ["http://localhost/hook", "http://10.0.0.5/hook"]) {
    const refused = await add({ url: inside, eventKinds: null });
    assert.deepEqual(refused, {
      refusal: "validation_error",
      message:
        "url: must lead to a public address, and this one does not; the operator of this service can allow it",
      field: "url",
    });
  }
  assertRefused(
    await add({ url, eventKinds: [] }),
    "validation_error",
    /at least one/,
    "eventKinds",
  );
  const strange = await add({ url, eventKinds: ["webhook.test"] });
  assertRefused(strange, "validation_error", /must be among/, "eventKinds.0");
  assert.deepEqual(await activityOf(team.id, /^endpoint/), [
    {
      actor: team.emails.admin,
      action: "endpoint.added",
      subject: url,
      detail: { eventKinds: "request.approved" },
    },
  ]);
});

test("an endpoint's address and kinds are changed under the same rules, and only changes are noted", async () => {
  const team = await makeTeam();
  const { id } = await makeEndpoint(db, team.id, "https://93.184.215.14/old");
  await db.query("update endpoints set failing_since = now() where id = $1", [id]);
  const change = (body: object) =>
    endpoints.change(calls, team.admin({ params: { endpointId: id }, body }));
  const kinds = accepted(await change({ eventKinds: ["request.rejected", "request.approved"] }));
  assert.notEqual(kinds.failingSince, null);
  const moved = accepted(await change({ url: "https://93.184.215.14/new" }));
  assert.deepEqual(moved.eventKinds, ["request.rejected", "request.approved"]);
  assert.equal(moved.failingSince, null);
  accepted(await change({ url: "https://93.184.215.14/new" }));
  accepted(await change({ eventKinds: ["request.approved", "request.rejected"] }));
  accepted(await change({}));
  const inside = await change({ url: "http://10.0.0.1/" });
  assertRefused(inside, "validation_error", /^url: /, "url");
  accepted(await change({ eventKinds: null }));
  const all = "request.approved, request.rejected";
  const [old, now] = ["https://93.184.215.14/old", "https://93.184.215.14/new"];
  const entry = { actor: team.emails.admin, action: "endpoint.changed" };
  assert.deepEqual(await activityOf(team.id, /^endpoint.changed/), [
    { ...entry, subject: old, detail: { eventKinds: `from all to ${all}` } },
    { ...entry, subject: now, detail: { url: `from ${old} to ${now}` } },
    { ...entry, subject: now, detail: { eventKinds: `from ${all} to all` } },
  ]);
});

test("an endpoint is disabled with a reason and enabled again, and at most so many are enabled", async () => {
  const team = await makeTeam();
  const { id } = await makeEndpoint(db, team.id, "https://hooks.example/a");
  const params = { endpointId: id };
  const disable = (reason: string) =>
    endpoints.disable(calls, team.admin({ params, body: { reason } }));
  assertRefused(await disable("  "), "validation_error", /must not be blank/, "reason");
  const disabled = accepted(await disable("moving house"));
  assert.equal(disabled.disabledReason, "moving house");
  accepted(await disable("moving house"));
  const tested = await endpoints.test(calls, team.admin({ params }));
  assertRefused(tested, "conflict", /^This endpoint is disabled; enable it first\.$/);
  for (let made = 0; made < endpointsPerWorkspaceMax; made += 1) {
    await makeEndpoint(db, team.id, `https://hooks.example/${made}`);
  }
  const full = await endpoints.enable(calls, team.admin({ params }));
  assertRefused(full, "validation_error", /^A workspace may have at most 50 enabled endpoints/);
  const url = "https://93.184.215.14/hook";
  const more = await endpoints.add(calls, team.admin({ body: { url, eventKinds: null } }));
  assertRefused(more, "validation_error", /at most 50 enabled endpoints/);
  const [other] = accepted(await endpoints.list(calls, team.viewer())).endpoints.slice(-1);
  const otherOff = { params: { endpointId: other?.id ?? "" }, body: { reason: "spare" } };
  accepted(await endpoints.disable(calls, team.admin(otherOff)));
  const enabled = accepted(await endpoints.enable(calls, team.admin({ params })));
  assert.equal(enabled.disabledAt, null);
  accepted(await endpoints.enable(calls, team.admin({ params })));
  const noted = await activityOf(team.id, /abled$/);
  assert.deepEqual(
    noted.map(({ action, detail }) => [action, detail]),
    [
      ["endpoint.disabled", { reason: "moving house" }],
      ["endpoint.disabled", { reason: "spare" }],
      ["endpoint.enabled", {}],
    ],
  );
});

test("enabling an endpoint that is enabled changes nothing, so that its failures go on counting", async () => {
  const team = await makeTeam();
  const { id } = await makeEndpoint(db, team.id, "https://hooks.example/a");
  await db.query(
    "update endpoints set failing_since = now_ms(), warned_at = now_ms() where id = $1",
    [id],
  );
  const rowOf = async () => (await db.query("select * from endpoints where id = $1", [id])).rows[0];
  const before = await rowOf();
  const params = { endpointId: id };
  const enabled = accepted(await endpoints.enable(calls, team.admin({ params })));
  assert.notEqual(enabled.failingSince, null);
  accepted(await enableEndpoint(db, id));
  assert.deepEqual(await rowOf(), before);
});

test("a rotated secret is shown once, and the old one signs beside it", async () => {
  const team = await makeTeam();
  const endpoint = await makeEndpoint(db, team.id, "https://hooks.example/a");
  const params = { endpointId: endpoint.id };
  const rotated = accepted(await endpoints.rotate(calls, team.admin({ params })));
  assert.match(rotated.secret, /^whsec_/);
  assert.notEqual(rotated.secret, endpoint.secret);
  assert.equal((await storedEndpoints.listLiveSecrets(db, endpoint)).length, 2);
  const detail = JSON.stringify(accepted(await endpoints.show(calls, team.viewer({ params }))));
  assert.ok(!detail.includes(rotated.secret));
  assert.equal((await activityOf(team.id, /^endpoint.rotated/)).length, 1);
});

test("a test event is a delivery of its own, and the worker is told", async () => {
  const team = await makeTeam();
  const { id } = await makeEndpoint(db, team.id, "https://hooks.example/a");
  const dueBefore = dueCount;
  const sent = accepted(await endpoints.test(calls, team.admin({ params: { endpointId: id } })));
  const delivery = await deliveries.find(db, sent.deliveryId);
  assert.deepEqual(
    [delivery?.event, delivery?.state, delivery?.workspaceId],
    ["webhook.test", "due", team.id],
  );
  assert.equal(dueCount, dueBefore + 1);
  assert.equal((await activityOf(team.id, /^endpoint.tested/)).length, 1);
});

test("failed and skipped deliveries are counted up to a bound and sent again since a time", async () => {
  const team = await makeTeam();
  const { id } = await makeEndpoint(db, team.id, "https://hooks.example/a");
  const { id: other } = await makeEndpoint(db, team.id, "https://hooks.example/b");
  const params = { endpointId: id };
  const show = async () => accepted(await endpoints.show(calls, team.viewer({ params })));
  const none = await show();
  assert.deepEqual(none.unsuccessful, { count: 0, isMore: false, since: null });
  assert.equal(none.perDay.length, 14);
  for (let made = 0; made < 3; made += 1) {
    assert.equal(
      (await service.call("POST", "/v1/requests", { key: team.key, body: minimalBody })).status,
      201,
    );
  }
  await db.query(
    `update deliveries set state = 'failed', finished_at = now() where workspace_id = $1
       and endpoint_id is not null`,
    [team.id],
  );
  const failed = await show();
  assert.equal(failed.unsuccessful.count, 3);
  const since = failed.unsuccessful.since ?? "";
  const resend = (time: string) =>
    endpoints.resendFailed(calls, team.admin({ params, body: { since: time } }));
  assertRefused(await resend("yesterday"), "validation_error", /must be a time/, "since");
  const future = new Date(Date.parse(since) + 86_400_000).toISOString();
  assert.deepEqual(await resend(future), { resent: 0 });
  assert.deepEqual(await resend(since), { resent: 3 });
  assert.equal((await show()).unsuccessful.count, 0);
  const left = await storedEndpoints.countUnsuccessful(db, { workspaceId: team.id, id: other }, 10);
  assert.equal(left.count, 3);
  assert.deepEqual(await activityOf(team.id, /^deliveries/), [
    {
      actor: team.emails.admin,
      action: "deliveries.resent",
      subject: "https://hooks.example/a",
      detail: { count: "3", since },
    },
  ]);
});

test("more unsuccessful deliveries than are counted are told as so many or more", async () => {
  const team = await makeTeam();
  const { id } = await makeEndpoint(db, team.id, "https://hooks.example/a");
  await db.query(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind)
       select $1, $2, 'webhook.test' from generate_series(1, $3)
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, endpoint_id, state)
     select workspace_id, id, $2, 'skipped' from event`,
    [team.id, id, unsuccessfulCountMax + 1],
  );
  const { unsuccessful } = accepted(
    await endpoints.show(calls, team.viewer({ params: { endpointId: id } })),
  );
  assert.deepEqual([unsuccessful.count, unsuccessful.isMore], [unsuccessfulCountMax, true]);
});

test("a group is created, renamed and filled, and each step is noted once", async () => {
  const team = await makeTeam({ plan: "pro" });
  const body = { key: "finance", name: "Finance", members: ["ann@example.com"] };
  const group = accepted(await groups.create(calls, team.admin({ body })));
  assert.deepEqual([group.key, group.name, group.members], [body.key, body.name, body.members]);
  const params = { groupId: group.id };
  const rename = (name: string) => groups.rename(calls, team.admin({ params, body: { name } }));
  assert.equal(accepted(await rename("Treasury")).name, "Treasury");
  accepted(await rename("Treasury"));
  assertRefused(await rename("two\nlines"), "validation_error", /one line/, "name");
  const add = (email: string) => groups.addMember(calls, team.admin({ params, body: { email } }));
  const remove = (email: string) =>
    groups.removeMember(calls, team.admin({ params, body: { email } }));
  assert.deepEqual(accepted(await add("bob@example.com")).members, [
    "ann@example.com",
    "bob@example.com",
  ]);
  accepted(await add("BOB@example.com"));
  assertRefused(await add("bob"), "validation_error", /^email: /, "email");
  assert.deepEqual(accepted(await remove("Ann@Example.com")).members, ["bob@example.com"]);
  assertRefused(await remove("ann@example.com"), "not_found", /is not a member of this group\.$/);
  assertRefused(await remove("a\u0000b"), "not_found", /is not a member/);
  const { groups: listed } = accepted(await groups.list(calls, team.viewer()));
  assert.deepEqual(
    listed.map(({ name, members: in_ }) => [name, in_]),
    [["Treasury", ["bob@example.com"]]],
  );
  const noted = await activityOf(team.id, /^group/);
  assert.deepEqual(
    noted.map(({ actor, action, subject, detail }) => [actor, action, subject, detail]),
    [
      [
        team.emails.admin,
        "group.created",
        "Finance",
        { key: "finance", members: "ann@example.com" },
      ],
      [team.emails.admin, "group.renamed", "Treasury", { from: "Finance" }],
      [team.emails.admin, "group.member_added", "Treasury", { email: "bob@example.com" }],
      [team.emails.admin, "group.member_removed", "Treasury", { email: "Ann@Example.com" }],
    ],
  );
});

test("a form for a group that is wrong names the field", async () => {
  const team = await makeTeam();
  const good = { key: "ops", name: "Ops", members: ["ann@example.com"] };
  const create = (body: object) => groups.create(calls, team.admin({ body: { ...good, ...body } }));
  assertRefused(await create({ key: "Ops!" }), "validation_error", /lower-case letters/, "key");
  assertRefused(await create({ name: "" }), "validation_error", /must not be blank/, "name");
  assertRefused(await create({ members: ["ann"] }), "validation_error", /member ann: /, "members");
  const many = Array.from({ length: groupMembersMax + 1 }, (_, n) => `p${n}@example.com`);
  assertRefused(await create({ members: many }), "validation_error", /at most 100/, "members");
  accepted(await create({}));
  assertRefused(await create({}), "validation_error", /has a group ops already/, "key");
  assert.equal((await activityOf(team.id, /^group/)).length, 1);
});

test("groups need a plan with groups, except to take somebody out", async () => {
  const team = await makeTeam({ plan: "hobby" });
  const body = { key: "ops", name: "Ops", members: ["ann@example.com"] };
  const created = await groups.create(calls, team.admin({ body }));
  assertRefused(created, "plan_required", /^Approver groups are not part of the hobby plan/);
  const { id } = accepted(await createGroup(db, { workspaceId: team.id, ...body }));
  const params = { groupId: id };
  const renamed = await groups.rename(calls, team.admin({ params, body: { name: "New" } }));
  assertRefused(renamed, "plan_required", /hobby plan/);
  const added = await groups.addMember(
    calls,
    team.admin({ params, body: { email: "b@x.example" } }),
  );
  assertRefused(added, "plan_required", /hobby plan/);
  const leaving = { params, body: { email: "ann@example.com" } };
  assert.deepEqual(accepted(await groups.removeMember(calls, team.admin(leaving))).members, []);
});

test("an invitation is a member who has not joined, a mail on its way, and an entry, all at once", async () => {
  const team = await makeTeam();
  const dueBefore = dueCount;
  const body = { email: "new@example.com", role: "viewer" };
  const invited = accepted(await members.invite(calls, team.admin({ body })));
  assert.deepEqual([invited.email, invited.role, invited.joinedAt], [body.email, body.role, null]);
  assert.equal(dueCount, dueBefore + 1);
  const { rows } = await db.query(
    `select e.kind, e.detail, d.recipient, d.state from events e
     join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id
     where e.workspace_id = $1`,
    [team.id],
  );
  const detail = { role: "viewer", invitedBy: team.emails.admin };
  assert.deepEqual(rows, [
    { kind: "member.invited", detail, recipient: "new@example.com", state: "due" },
  ]);
  const again = await members.invite(
    calls,
    team.owner({ body: { email: "NEW@example.com", role: "admin" } }),
  );
  assertRefused(again, "conflict", /new@example.com is invited already/, "email");
  const member = await members.invite(
    calls,
    team.owner({ body: { email: team.emails.viewer, role: "admin" } }),
  );
  assertRefused(member, "conflict", /is a member already/, "email");
  const bad = await members.invite(calls, team.owner({ body: { email: "new", role: "admin" } }));
  assertRefused(bad, "validation_error", /one plain e-mail address/, "email");
  const king = await members.invite(calls, team.owner({ body: { email: "k@x.co", role: "king" } }));
  assertRefused(king, "validation_error", /must be one of owner, admin, viewer/, "role");
  const { members: listed } = accepted(await members.list(calls, team.admin()));
  assert.deepEqual(
    listed.map(({ email, isYou, joinedAt }) => [email, isYou, joinedAt === null]).sort(),
    [
      [team.emails.admin, true, false],
      ["new@example.com", false, true],
      [team.emails.owner, false, false],
      [team.emails.viewer, false, false],
    ],
  );
  assert.deepEqual(await activityOf(team.id, /invited/), [
    {
      actor: team.emails.admin,
      action: "member.invited",
      subject: "new@example.com",
      detail: { role: "viewer" },
    },
  ]);
});

test("an invitation is accepted or declined once, by the person it was for", async () => {
  const team = await makeTeam();
  const invite = async (email: string) =>
    accepted(await members.invite(calls, team.owner({ body: { email, role: "admin" } })));
  await invite("yes@example.com");
  await invite("no@example.com");
  const workspaceId = team.id;
  const stranger = await acceptInvitation(db, { email: "other@example.com", workspaceId });
  assertRefused(stranger, "not_found", /no such invitation/);
  const elsewhere = { email: "yes@example.com", workspaceId: unknownId("ws") };
  assertRefused(await acceptInvitation(db, elsewhere), "not_found", /no such invitation/);
  // Some mail servers tell these two apart.
  const another = await acceptInvitation(db, { email: "YES@example.com", workspaceId });
  assertRefused(another, "not_found", /for yes@example\.com, and you sign in as YES@example\.com/);
  const yes = { email: "yes@EXAMPLE.com", workspaceId };
  const declined = await declineInvitation(db, { email: "YES@example.com", workspaceId });
  assertRefused(declined, "not_found", /for yes@example\.com, and you sign in as YES/);
  const joined = accepted(await acceptInvitation(db, yes));
  assert.notEqual(joined.joinedAt, null);
  assert.deepEqual(accepted(await acceptInvitation(db, yes)).joinedAt, joined.joinedAt);
  assertRefused(await declineInvitation(db, yes), "not_found", /no such invitation/);
  const no = { email: "no@example.com", workspaceId };
  accepted(await declineInvitation(db, no));
  assertRefused(await declineInvitation(db, no), "not_found", /no such invitation/);
  assertRefused(await acceptInvitation(db, no), "not_found", /no such invitation/);
  await invite("no@example.com");
  const noted = await activityOf(team.id, /joined|declined/);
  assert.deepEqual(
    noted.map(({ actor, action }) => [actor, action]),
    [
      ["yes@example.com", "member.joined"],
      ["no@example.com", "member.declined"],
    ],
  );
});

test("so many invitations a day, however often they are taken back", async () => {
  const team = await makeTeam();
  await db.query(
    `insert into activity (workspace_id, action, subject)
     select $1, 'member.invited', 'x' from generate_series(2, $2)`,
    [team.id, invitationsPerDayMax],
  );
  const invite = (email: string) =>
    members.invite(calls, team.owner({ body: { email, role: "viewer" } }));
  const last = accepted(await invite("last@example.com"));
  accepted(await members.remove(calls, team.owner({ params: { memberId: last.id } })));
  assertRefused(await invite("last@example.com"), "conflict", /at most 100 people a day/);
});

test("only owners invite, promote to, demote and remove owners", async () => {
  const team = await makeTeam();
  const onlyOwners = /^Only owners may invite, change or remove owners; ask one of them\.$/;
  const body = { email: "boss@example.com", role: "owner" };
  assertRefused(await members.invite(calls, team.admin({ body })), "forbidden", onlyOwners);
  const changeTo = (memberId: string, role: Role, visit = team.admin) =>
    members.changeRole(calls, visit({ params: { memberId }, body: { role } }));
  assertRefused(await changeTo(team.ids.viewer, "owner"), "forbidden", onlyOwners);
  assertRefused(await changeTo(team.ids.owner, "admin"), "forbidden", onlyOwners);
  const owner = { params: { memberId: team.ids.owner } };
  assertRefused(await members.remove(calls, team.admin(owner)), "forbidden", onlyOwners);
  assert.equal(accepted(await changeTo(team.ids.viewer, "admin")).role, "admin");
  accepted(await changeTo(team.ids.viewer, "admin"));
  assert.equal(accepted(await changeTo(team.ids.viewer, "owner", team.owner)).role, "owner");
  accepted(await members.invite(calls, team.owner({ body })));
  const noted = await activityOf(team.id, /role_changed/);
  assert.deepEqual(
    noted.map(({ actor, subject, detail }) => [actor, subject, detail]),
    [
      [team.emails.admin, team.emails.viewer, { from: "viewer", to: "admin" }],
      [team.emails.owner, team.emails.viewer, { from: "admin", to: "owner" }],
    ],
  );
});

test("a member who was demoted or removed a moment ago can change no members any more", async () => {
  const team = await makeTeam();
  const late = team.admin({ params: { memberId: team.ids.viewer } });
  accepted(await members.remove(calls, team.owner({ params: { memberId: team.ids.admin } })));
  assertRefused(await members.remove(calls, late), "forbidden", /^You are no admin or owner/);
  assert.deepEqual(await activityOf(team.id, /removed/), [
    {
      actor: team.emails.owner,
      action: "member.removed",
      subject: team.emails.admin,
      detail: { role: "admin" },
    },
  ]);
});

test("the last owner can be neither removed nor demoted, and an owner who has not joined is none", async () => {
  const team = await makeTeam();
  const params = { memberId: team.ids.owner };
  const demote = () => members.changeRole(calls, team.owner({ params, body: { role: "viewer" } }));
  const leave = () => members.remove(calls, team.owner({ params }));
  assertRefused(await demote(), "conflict", /^The last owner cannot be demoted/);
  const body = { email: "second@example.com", role: "owner" };
  const second = accepted(await members.invite(calls, team.owner({ body })));
  assertRefused(await leave(), "conflict", /^The last owner cannot be removed/);
  const leaving = await leaveWorkspace(db, { email: team.emails.owner, workspaceId: team.id });
  assertRefused(leaving, "conflict", /^the last owner cannot leave; make somebody else an owner/);
  const who = { workspaceId: team.id, email: team.emails.owner };
  const removal = await removeMemberByEmail(db, who);
  assertRefused(removal, "conflict", /last owner cannot be removed/);
  const byOperator = await addMember(db, {
    workspaceId: team.id,
    email: team.emails.owner,
    role: "admin",
  });
  assertRefused(byOperator, "conflict", /last owner cannot be demoted/);
  accepted(await acceptInvitation(db, { email: second.email, workspaceId: team.id }));
  assert.deepEqual(await leave(), { done: true });
});

test("of two owners who leave, remove or demote each other at once, one stays an owner", async () => {
  for (let round = 0; round < 8; round += 1) {
    const team = await makeTeam();
    const other = accepted(
      await addMember(db, { workspaceId: team.id, email: "two@x.example", role: "owner" }),
    );
    const two = (sent: Sent) => visitOf(team.id, "two@x.example", "owner", sent);
    const [mine, theirs] =
      round % 2 === 0 ? [team.ids.owner, other.id] : [other.id, team.ids.owner];
    const outcomes = await Promise.all([
      members.remove(calls, team.owner({ params: { memberId: mine } })),
      members.changeRole(calls, two({ params: { memberId: theirs }, body: { role: "viewer" } })),
    ]);
    assert.equal(outcomes.filter((each) => isRefusal(each)).length, 1);
    const { members: left } = accepted(await members.list(calls, two({})));
    assert.equal(left.filter(({ role }) => role === "owner").length, 1);
  }
});

test("owners who have not joined get no notices", async () => {
  const team = await makeTeam();
  const body = { email: "later@example.com", role: "owner" };
  accepted(await members.invite(calls, team.owner({ body })));
  const endpoint = await makeEndpoint(db, team.id, "https://hooks.example/a");
  await inTransaction(db, (tx) =>
    newDeliveries.insertEndpointNotice(tx, endpoint, "endpoint.failing", { reason: "test" }),
  );
  const { rows } = await db.query(
    `select d.recipient from deliveries d
     join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     where d.workspace_id = $1 and e.kind = 'endpoint.failing'`,
    [team.id],
  );
  assert.deepEqual(rows, [{ recipient: team.emails.owner }]);
});

test("settings change one by one, each wrong one is named, and what changed is noted with from and to", async () => {
  const team = await makeTeam({ plan: "hobby" });
  const change = (body: object) => workspace.changeSettings(calls, team.admin({ body }));
  const changed = accepted(
    await change({ name: "Acme", expiryMinutes: 60, reminderPercent: null, cap: 50 }),
  );
  assert.deepEqual(
    [changed.name, changed.expiryMinutes, changed.reminderPercent, changed.cap, changed.reviewCode],
    ["Acme", 60, null, 50, false],
  );
  accepted(await change({ name: "Acme", expiryMinutes: 60 }));
  accepted(await change({}));
  // Settings that only the operator may change are ignored.
  const tried = accepted(
    await change({ reviewCode: true, plan: "unlimited", included: 1_000_000 }),
  );
  assert.deepEqual([tried.plan, tried.reviewCode], ["hobby", true]);
  for (const [body, field, message] of [
    [{ name: " " }, "name", /must not be blank/],
    [{ expiryMinutes: 4 }, "expiryMinutes", /from 5 to 10080/],
    [{ expiryMinutes: 10_081 }, "expiryMinutes", /from 5 to 10080/],
    [{ expiryMinutes: 5.5 }, "expiryMinutes", /whole number/],
    [{ expiryMinutes: "60" }, "expiryMinutes", /expected number/],
    [{ reminderPercent: 51 }, "reminderPercent", /from 1 to 50/],
    [{ reminderPercent: 0 }, "reminderPercent", /from 1 to 50/],
    [{ cap: -1 }, "cap", /whole number from 0/],
    [{ cap: 1.5 }, "cap", /whole number from 0/],
    [{ reviewCode: "yes" }, "reviewCode", /expected boolean/],
  ] as const) {
    assertRefused(await change(body), "validation_error", message, field);
  }
  const entry = { actor: team.emails.admin, action: "settings.changed", subject: "Acme" };
  assert.deepEqual(await activityOf(team.id, /^settings/), [
    {
      ...entry,
      detail: {
        name: "from Test to Acme",
        expiryMinutes: "from 1440 to 60",
        reminderPercent: "from 10 to off",
        cap: "from as plan to 50",
      },
    },
    { ...entry, detail: { reviewCode: "from off to on" } },
  ]);
});

test("a workspace tells its plan, the visitor's role, where its API is, and whether anything was asked in it", async () => {
  const team = await makeTeam({ plan: "hobby" });
  const empty = accepted(await workspace.show(calls, team.viewer()));
  assert.deepEqual(
    [empty.id, empty.plan, empty.hasGroups, empty.role, empty.isEmpty, empty.apiUrl],
    [team.id, "hobby", false, "viewer", true, testPublicUrl],
  );
  await service.call("POST", "/v1/requests", { key: team.key, body: minimalBody });
  await updateWorkspace(db, team.id, { plan: "pro" });
  const used = accepted(await workspace.show(calls, team.owner()));
  assert.deepEqual([used.hasGroups, used.role, used.isEmpty], [true, "owner", false]);
});

test("activity is listed newest first, in pages that neither overlap nor leave anything out", async () => {
  const team = await makeTeam();
  await db.query(
    `insert into activity (workspace_id, actor_email, action, subject)
     select $1, 'a@b.example', 'key.issued', 'Key ' || n from generate_series(1, $2) n`,
    [team.id, activityPageMax],
  );
  const page = async (query: string) =>
    accepted(await workspace.activity(calls, team.viewer({ query })));
  const first = await page("");
  assert.equal(first.items.length, activityPageMax);
  const second = await page(`cursor=${first.nextCursor}`);
  assert.equal(second.nextCursor, null);
  const ids = [...first.items, ...second.items].map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted().toReversed());
  assert.equal(new Set(ids).size, (await activityOf(team.id)).length);
  assert.ok(second.items.some(({ action }) => action === "workspace.created"));
  const wrong = await workspace.activity(calls, team.viewer({ query: "cursor=nonsense" }));
  assertRefused(wrong, "validation_error", /begin again/);
});

test("the operator's changes at the command line are noted without a name, and in every workspace", async () => {
  const { id, keyId } = await makeWorkspace(db);
  const { id: endpointId } = await makeEndpoint(db, id, "https://hooks.example/a");
  await enableEndpoint(db, endpointId);
  const group = { workspaceId: id, key: "ops", name: "Ops", members: [] };
  const { id: groupId } = accepted(await createGroup(db, group));
  accepted(await addGroupMember(db, groupId, "ann@example.com"));
  accepted(await addMember(db, { workspaceId: id, email: "ann@example.com", role: "viewer" }));
  accepted(await addMember(db, { workspaceId: id, email: "Ann@example.com", role: "viewer" }));
  accepted(await addMember(db, { workspaceId: id, email: "ann@example.com", role: "admin" }));
  accepted(await removeMemberByEmail(db, { workspaceId: id, email: "ANN@example.com" }));
  accepted(await updateWorkspace(db, id, { plan: "pro" }));
  accepted(await revokeKey(db, keyId));
  accepted(await issueKey(db, { workspaceId: id, name: "Next" }));
  const noted = await activityOf(id);
  assert.ok(noted.every(({ actor }) => actor === null));
  assert.deepEqual(
    noted.map(({ action }) => action),
    [
      "workspace.created",
      "key.issued",
      "endpoint.added",
      "group.created",
      "group.member_added",
      "member.added",
      "member.role_changed",
      "member.removed",
      "settings.changed",
      "key.revoked",
      "key.issued",
    ],
  );
});

test("the first start notes its workspace, its owner and its key, and a second start does nothing", async () => {
  const database = await makeTestDatabase();
  const { connection } = database;
  const empty = openDatabase({ connection, connectionsMax: 2, onIdleFault: () => {} });
  try {
    const key = newKey();
    const first = await runFirst(empty, testKeyring, { key, isTrial: true });
    assert.equal(first?.key, key);
    assert.equal(await runFirst(empty, testKeyring, { key: newKey(), isTrial: true }), null);
    const again = await runFirst(empty, testKeyring, { key, isTrial: true });
    assert.equal(again?.key, key, "a start that did not hear of its commit still knows its key");
    const { rows } = await empty.query(
      "select actor_email, action, subject, detail from activity order by action desc",
    );
    const [{ last_four: lastFour }] = (await empty.query("select last_four from api_keys")).rows;
    const [created, added, issued] = rows;
    assert.equal(rows.length, 3);
    const actor_email = null;
    assert.equal(created.action, "workspace.created");
    assert.deepEqual(added, {
      actor_email,
      action: "member.added",
      subject: firstOwnerEmail,
      detail: { role: "owner" },
    });
    assert.deepEqual(issued, {
      actor_email,
      action: "key.issued",
      subject: "First key",
      detail: { lastFour },
    });
  } finally {
    await empty.end();
    await database.drop();
  }
});

test("an invited person whom the operator adds is in", async () => {
  const team = await makeTeam();
  const email = `${randomBytes(4).toString("hex")}@example.com`;
  accepted(await members.invite(calls, team.owner({ body: { email, role: "viewer" } })));
  const added = accepted(await addMember(db, { workspaceId: team.id, email, role: "admin" }));
  assert.deepEqual([added.role, added.joinedAt !== null], ["admin", true]);
});

test("an invitation is mailed while it is open, and neither sent again at once nor once it was taken back", async () => {
  const team = await makeTeam();
  const body = { email: "new@x.example", role: "viewer" };
  const invited = accepted(await members.invite(calls, team.owner({ body })));
  const mailOf = async () => {
    const { rows } = await db.query(
      "select id, state, attempts from deliveries where workspace_id = $1 and recipient = 'new@x.example'",
      [team.id],
    );
    return rows[0];
  };
  const worker = startWorker(service.database);
  try {
    await until(async () => (await mailOf()).state === "delivered", "it is mailed");
    const { id } = await mailOf();
    const again = () =>
      dashboardDeliveries.resend(calls, team.owner({ params: { deliveryId: id } }));
    const tooSoon = await again();
    assert.ok(isRefusal(tooSoon));
    assert.match(tooSoon.message, /less than a minute ago/);
    await db.query(
      "update deliveries set finished_at = finished_at - interval '2 minutes' where workspace_id = $1 and id = $2",
      [team.id, id],
    );
    accepted(await members.remove(calls, team.owner({ params: { memberId: invited.id } })));
    const late = await again();
    assert.ok(isRefusal(late));
    assert.match(late.message, /not invited any more/);
    // A mail that is still due when its invitation is taken back stays unsent.
    await db.query(
      "update deliveries set state = 'due', finished_at = null where workspace_id = $1 and id = $2",
      [team.id, id],
    );
    worker.worker.wake();
    await until(async () => (await mailOf()).state === "skipped", "it is not mailed");
    assert.equal((await mailOf()).attempts, 1);
  } finally {
    await worker.stop();
  }
});
