// Default approvers: whom a tool asks that was told nobody, set for a workspace or a key by owners, admins and operators.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { removeMemberByEmail } from "../src/operations/people/add-member.ts";
import { deleteGroup } from "../src/operations/people/delete-group.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { leaveWorkspace } from "../src/operations/people/manage-members.ts";
import { endTrial } from "../src/operations/workspaces/first-run.ts";
import { changeKey, issueKey, revokeKey } from "../src/operations/workspaces/issue-key.ts";
import { createWorkspace, updateWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { environmentOn, runCommand } from "./test-program.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const { notify: _, ...unaddressed } = minimalBody;

async function defaultOf(key: string) {
  const { status, json } = await service.call("GET", "/v1/default-approver", { key });
  assert.equal(status, 200);
  const { object, ...told } = json;
  assert.equal(object, "default_approver");
  return told;
}

async function makePeople(workspaceId: string) {
  return accepted(
    await createGroup(db, { workspaceId, key: "people", name: "People", members: ["a@x.example"] }),
  );
}

function accepted<Value>(value: Value): Exclude<Value, { refusal: string }> {
  assert.ok(!isRefusal(value), JSON.stringify(value));
  return value as Exclude<Value, { refusal: string }>;
}

async function activityOf(workspaceId: string) {
  const { rows } = await db.query(
    "select action, detail from activity where workspace_id = $1 order by id",
    [workspaceId],
  );
  return rows;
}

test("a key's own default approver wins over the workspace's, and nobody is the default at first", async () => {
  const { id, key, keyId } = await makeWorkspace(db);
  assert.deepEqual(await defaultOf(key), { notify: null, setFor: null });
  accepted(await updateWorkspace(db, id, { defaultApprover: "ann@example.com" }));
  assert.deepEqual(await defaultOf(key), { notify: "ann@example.com", setFor: "workspace" });
  accepted(await changeKey(db, { id: keyId, defaultApprover: "ben@example.com" }));
  assert.deepEqual(await defaultOf(key), { notify: "ben@example.com", setFor: "key" });
  accepted(await changeKey(db, { id: keyId, defaultApprover: null }));
  assert.deepEqual(await defaultOf(key), { notify: "ann@example.com", setFor: "workspace" });
  accepted(await updateWorkspace(db, id, { name: "Renamed" }));
  assert.equal((await defaultOf(key)).notify, "ann@example.com", "other changes leave it alone");
  accepted(await revokeKey(db, keyId));
  const revoked = await service.call("GET", "/v1/default-approver", { key });
  assert.equal(revoked.status, 401);
});

test("a create names its approver itself, even where a default is set", async () => {
  const { key } = await makeWorkspace(db, { defaultApprover: "ann@example.com" });
  for (const body of [unaddressed, { ...unaddressed, notify: null }]) {
    const { status, json } = await service.call("POST", "/v1/requests", { key, body });
    assert.equal(status, 400);
    assert.deepEqual(json.error, {
      code: "validation_error",
      message: "notify: is required: an e-mail address, or group:<key>.",
    });
  }
});

test("a default approver is an address, or a group that exists and that the plan has", async () => {
  const { id, keyId } = await makeWorkspace(db);
  const hobby = await makeWorkspace(db, { plan: "hobby" });
  for (const approver of ["", " ", "Ann <ann@example.com>", "a@b.c,d@e.f", "group:", "group:A B"]) {
    for (const refused of [
      await updateWorkspace(db, id, { defaultApprover: approver }),
      await changeKey(db, { id: keyId, defaultApprover: approver }),
      await issueKey(db, { workspaceId: id, name: "New", defaultApprover: approver }),
      await createWorkspace(db, { name: "New", defaultApprover: approver }),
    ]) {
      assert.ok(isRefusal(refused), approver);
      assert.match(refused.message, /^defaultApprover: (must|names)/);
      assert.equal(refused.field, "defaultApprover");
    }
  }
  const people = { defaultApprover: "group:people" };
  for (const refused of [
    await updateWorkspace(db, id, people),
    await changeKey(db, { id: keyId, ...people }),
    await createWorkspace(db, { name: "New", ...people }),
  ]) {
    assert.ok(isRefusal(refused));
    assert.match(refused.message, /no group with the key people; create it first/);
  }
  await makePeople(id);
  await makePeople(hobby.id);
  accepted(await updateWorkspace(db, id, people));
  accepted(await changeKey(db, { id: keyId, ...people }));
  const onHobby = await updateWorkspace(db, hobby.id, people);
  assert.ok(isRefusal(onHobby));
  assert.equal(onHobby.refusal, "plan_required");
});

test("a group that is a default approver is not deleted, and the refusal names its users", async () => {
  const { id: workspaceId, keyId } = await makeWorkspace(db);
  const { id } = await makePeople(workspaceId);
  const refusal = async () => {
    const deleted = await deleteGroup(db, id);
    return isRefusal(deleted) ? deleted.message : null;
  };
  accepted(await updateWorkspace(db, workspaceId, { defaultApprover: "group:people" }));
  accepted(await changeKey(db, { id: keyId, defaultApprover: "group:people" }));
  assert.equal(
    await refusal(),
    "group:people is the default approver of this workspace, the key “Test key”; choose another one there first",
  );
  accepted(await updateWorkspace(db, workspaceId, { defaultApprover: null }));
  assert.match((await refusal()) ?? "", /of the key “Test key”;/);
  accepted(await revokeKey(db, keyId));
  assert.equal(await refusal(), null, "a revoked key asks nobody");
  const late = await updateWorkspace(db, workspaceId, { defaultApprover: "group:people" });
  assert.ok(isRefusal(late));
  assert.match(late.message, /no group with the key people/);
});

test("a member who is a default approver neither leaves nor is removed, and the dialog knows why", async () => {
  const { id: workspaceId, keyId } = await makeWorkspace(db);
  const email = "leaver@example.com";
  const memberId = await makeMember(db, { workspaceId, email, role: "viewer" });
  await makeMember(db, { workspaceId, email: "owner@example.com", role: "owner" });
  const cookie = await signIn(service, "owner@example.com");
  const params = { workspaceId, memberId };
  const foresee = async () => {
    const name = "GET /workspaces/:workspaceId/members/:memberId/removal";
    return (await callDashboard(service, name, { cookie, params })).json.defaultOf;
  };
  const remove = (body: object) =>
    callDashboard(service, "POST /workspaces/:workspaceId/members/:memberId/remove", {
      ...{ cookie, params, body },
    });
  accepted(await updateWorkspace(db, workspaceId, { defaultApprover: "Leaver@example.com" }));
  accepted(await changeKey(db, { id: keyId, defaultApprover: email }));
  const keys = [{ id: keyId, name: "Test key" }];
  assert.deepEqual(await foresee(), { isOfWorkspace: true, keys });
  const refused = await remove({ groups: true });
  assert.equal(refused.status, 409);
  assert.match(
    refused.json.error.message,
    /leaver@example.com is the default approver of this workspace, the key “Test key”/i,
  );
  accepted(await updateWorkspace(db, workspaceId, { defaultApprover: null }));
  assert.deepEqual(await foresee(), { isOfWorkspace: false, keys });
  for (const stays of [
    await removeMemberByEmail(db, { workspaceId, email }),
    await leaveWorkspace(db, { workspaceId, email }),
  ]) {
    assert.ok(isRefusal(stays));
    assert.match(stays.message, /default approver of the key “Test key”; choose another one/);
  }
  accepted(await changeKey(db, { id: keyId, defaultApprover: null }));
  assert.deepEqual(await foresee(), { isOfWorkspace: false, keys: [] });
  assert.equal((await remove({})).status, 200);
});

test("the owner of a trial is nobody's default approver once the service goes public", async () => {
  const { id, key, keyId } = await makeWorkspace(db, { defaultApprover: "Owner@localhost" });
  const other = await issueKey(db, {
    workspaceId: id,
    name: "Other",
    defaultApprover: "ann@x.example",
  });
  accepted(await changeKey(db, { id: keyId, defaultApprover: "owner@localhost" }));
  await makeMember(db, { workspaceId: id, email: "owner@localhost", role: "owner" });
  const elsewhere = await makeWorkspace(db, { defaultApprover: "owner@localhost" });
  const onKey = await makeWorkspace(db);
  accepted(await changeKey(db, { id: onKey.keyId, defaultApprover: "owner@localhost" }));
  await endTrial(db);
  for (const { key: strangers } of [elsewhere, onKey]) {
    assert.equal((await defaultOf(strangers)).notify, null, "where they are no member, too");
  }
  assert.deepEqual(await defaultOf(key), { notify: null, setFor: null });
  assert.equal((await defaultOf(accepted(other).key)).notify, "ann@x.example");
  const changes = (await activityOf(id)).map(({ detail }) => detail.defaultApprover);
  assert.ok(changes.includes("from Owner@localhost to none"));
  assert.ok(changes.includes("from owner@localhost to as workspace"));
});

test("the owner of a trial is in no group once the service goes public, so no request waits for that address", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const make = async (group: string, members: string[]) =>
    accepted(await createGroup(db, { workspaceId, key: group, name: group, members }));
  const alone = await make("alone", ["Owner@localhost"]);
  await make("both", ["ann@x.example", "owner@localhost"]);
  const ended = (await endTrial(db)).filter((each) => each.workspaceId === workspaceId);
  const groupsLeft = ended.flatMap(({ emptyGroups }) => emptyGroups.map(({ id }) => id));
  assert.deepEqual(groupsLeft, [alone.id], "where they are no member, too");
  const create = (group: string) =>
    service.call("POST", "/v1/requests", {
      key,
      body: { ...minimalBody, notify: `group:${group}` },
    });
  assert.equal((await create("alone")).json.error.code, "empty_group");
  const { json } = await create("both");
  const { rows } = await db.query("select email from reviewers where approval_id = $1", [json.id]);
  assert.deepEqual(rows, [{ email: "ann@x.example" }]);
  const removed = (await activityOf(workspaceId)).filter(
    ({ action }) => action === "group.member_removed",
  );
  assert.equal(removed.length, 2);
  assert.deepEqual(await endTrial(db), [], "and the next start has nothing to do");
});

test("a default whose group is gone is told as it was set, and the create that names it says what is wrong", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  await makePeople(workspaceId);
  accepted(await updateWorkspace(db, workspaceId, { defaultApprover: "group:people" }));
  await db.query("delete from group_members where workspace_id = $1", [workspaceId]);
  await db.query("delete from groups where workspace_id = $1", [workspaceId]);
  const { notify } = await defaultOf(key);
  assert.equal(notify, "group:people");
  const body = { ...minimalBody, notify };
  const { status, json } = await service.call("POST", "/v1/requests", { key, body });
  assert.deepEqual([status, json.error.code], [404, "unknown_group"]);
});

test("owners and admins set defaults on the dashboard, viewers see them, and the activity tells from what to what", async () => {
  const { id: workspaceId, key, keyId } = await makeWorkspace(db);
  const as = async (role: "admin" | "viewer") => {
    const email = `${role}@${workspaceId}.example`.replaceAll("_", "-");
    await makeMember(db, { workspaceId, email, role });
    return signIn(service, email);
  };
  const [admin, viewer] = [await as("admin"), await as("viewer")];
  const settings = "POST /workspaces/:workspaceId/settings";
  const changed = await callDashboard(service, settings, {
    cookie: admin,
    params: { workspaceId },
    body: { defaultApprover: "ann@example.com" },
  });
  assert.equal(changed.json.defaultApprover, "ann@example.com");
  const change = "POST /workspaces/:workspaceId/keys/:keyId";
  const own = { params: { workspaceId, keyId }, body: { defaultApprover: "ben@example.com" } };
  assert.equal((await callDashboard(service, change, { cookie: viewer, ...own })).status, 403);
  const ofKey = await callDashboard(service, change, { cookie: admin, ...own });
  assert.equal(ofKey.json.defaultApprover, "ben@example.com");
  assert.equal((await defaultOf(key)).notify, "ben@example.com");
  const listed = await callDashboard(service, "GET /workspaces/:workspaceId/keys", {
    cookie: viewer,
    params: { workspaceId },
  });
  assert.deepEqual(
    listed.json.keys.map(({ defaultApprover }: { defaultApprover: string }) => defaultApprover),
    ["ben@example.com"],
  );
  const entries = (await activityOf(workspaceId)).filter(({ action }) => /changed$/.test(action));
  assert.deepEqual(entries, [
    { action: "settings.changed", detail: { defaultApprover: "from none to ann@example.com" } },
    {
      action: "key.changed",
      detail: {
        lastFour: key.slice(-4),
        defaultApprover: "from as workspace to ben@example.com",
      },
    },
  ]);
});

test("the command line sets defaults for workspaces and keys, and takes them away by the word none", async () => {
  const run = async (...words: string[]) => {
    const outcome = await runCommand(environmentOn(service.database.url), words);
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome.stdout;
  };
  const flag = "--default-approver";
  const made = JSON.parse(
    await run("workspace", "create", "--name", "Acme", flag, "ann@example.com", "--json"),
  );
  assert.equal(made.defaultApprover, "ann@example.com");
  const create = ["key", "create", "--workspace", made.id, "--name", "Agent", "--json"];
  const plain = JSON.parse(await run(...create));
  const special = JSON.parse(await run(...create, flag, "ben@example.com"));
  assert.equal((await defaultOf(plain.key)).notify, "ann@example.com");
  assert.equal((await defaultOf(special.key)).notify, "ben@example.com");
  const list = await run("key", "list", "--workspace", made.id);
  assert.match(list, /cs_…\w{4} +as workspace /);
  assert.match(list, /cs_…\w{4} +ben@example\.com /);
  assert.match(
    await run("key", "update", special.id, flag, "none"),
    /workspace's default approver/,
  );
  assert.equal((await defaultOf(special.key)).notify, "ann@example.com");
  await run("workspace", "update", made.id, flag, "none");
  assert.equal((await defaultOf(special.key)).notify, null);
  const wrong = await runCommand(environmentOn(service.database.url), [
    ...["key", "update", special.id, flag, "group:nobody"],
  ]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /no group with the key nobody/);
});
