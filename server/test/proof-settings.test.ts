// What others rely on as proof, as owners and operators set it: who must sign, how long receipts are valid, and how long
// requests are kept. Nobody else changes it, by whatever way.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { setGroupSignature } from "../src/operations/people/manage-group.ts";
import { updateWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { contentsOf, makeFurnished } from "./test-furnished.ts";
import { environmentOn, runCommand } from "./test-program.ts";
import { minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const proof = "POST /workspaces/:workspaceId/proof";
const settings = "POST /workspaces/:workspaceId/settings";
const groups = "POST /workspaces/:workspaceId/groups";
const signature = "POST /workspaces/:workspaceId/groups/:groupId/signature";

let teams = 0;

/** A workspace with a group of payers, an owner and an admin. */
async function makeTeam() {
  const { workspaceId, key, ids } = await makeFurnished(service);
  teams += 1;
  const callerOf = async (role: "owner" | "admin") => {
    const email = `${role}-${teams}@example.com`;
    await makeMember(db, { workspaceId, email, role });
    const cookie = await signIn(service, email);
    const call = (name: keyof DashboardApi, body?: object) =>
      callDashboard(service, name, { cookie, params: { workspaceId, ...ids }, body });
    return { call, doer: { actor: email, workspaceId } };
  };
  const needsSignature = async (body: object) => {
    const { json } = await service.call("POST", "/v1/requests", {
      key,
      body: { ...minimalBody, ...body },
    });
    const { rows } = await db.query("select needs_signature from approvals where id = $1", [
      json.id,
    ]);
    return rows[0]?.needs_signature;
  };
  const owner = await callerOf("owner");
  const admin = await callerOf("admin");
  return { workspaceId, groupId: ids.groupId ?? "", owner, admin, needsSignature };
}

const proofOf = ({ requiresSignature, receiptHours, retentionDays }: Record<string, unknown>) => ({
  requiresSignature,
  receiptHours,
  retentionDays,
});

async function activityOf(workspaceId: string, action: string) {
  const { rows } = await db.query(
    `select actor_email, detail from activity where workspace_id = $1 and action = $2
     order by age(xmin) desc`,
    [workspaceId, action],
  );
  return rows;
}

test("an owner sets signatures, receipts and retention; what is left out stays, and each change is noted", async () => {
  const { workspaceId, owner, needsSignature } = await makeTeam();
  const { json: first } = await owner.call("GET /workspaces/:workspaceId");
  const unset = { requiresSignature: false, receiptHours: 24, retentionDays: null };
  assert.deepEqual(proofOf(first), unset);
  assert.equal(await needsSignature({}), false);
  const { json: signed } = await owner.call(proof, { requiresSignature: true });
  assert.deepEqual(proofOf(signed), { ...unset, requiresSignature: true });
  assert.equal(await needsSignature({ requireSignature: false }), true);
  const { json: kept } = await owner.call(proof, { receiptHours: 72, retentionDays: 365 });
  const all = { requiresSignature: true, receiptHours: 72, retentionDays: 365 };
  assert.deepEqual(proofOf(kept), all);
  const { json: same } = await owner.call(proof, all);
  assert.deepEqual(same, kept);
  const { json: forever } = await owner.call(proof, { retentionDays: null });
  assert.deepEqual(proofOf(forever), { ...all, retentionDays: null });
  const actor_email = owner.doer.actor;
  assert.deepEqual(await activityOf(workspaceId, "settings.changed"), [
    { actor_email, detail: { requiresSignature: "from off to on" } },
    {
      actor_email,
      detail: { receiptHours: "from 24 to 72", retentionDays: "from for ever to 365" },
    },
    { actor_email, detail: { retentionDays: "from 365 to for ever" } },
  ]);
});

test("hours and days outside their bounds, and what is no number, are refused with their field", async () => {
  const { workspaceId, owner } = await makeTeam();
  const before = await contentsOf(db, workspaceId);
  for (const [wrong, field] of [
    [{ requiresSignature: "on" }, "requiresSignature"],
    [{ requiresSignature: null }, "requiresSignature"],
    [{ receiptHours: 0 }, "receiptHours"],
    [{ receiptHours: 8_761 }, "receiptHours"],
    [{ receiptHours: 1.5 }, "receiptHours"],
    [{ receiptHours: null }, "receiptHours"],
    [{ receiptHours: "24" }, "receiptHours"],
    [{ retentionDays: 29 }, "retentionDays"],
    [{ retentionDays: 3_651 }, "retentionDays"],
    [{ retentionDays: 30.5 }, "retentionDays"],
    [{ retentionDays: "365" }, "retentionDays"],
    [{ requiresSignature: true, retentionDays: 1 }, "retentionDays"],
  ] as const) {
    const { status, json } = await owner.call(proof, wrong);
    assert.deepEqual([status, json.error.field], [400, field], JSON.stringify(wrong));
  }
  assert.equal(await contentsOf(db, workspaceId), before);
  for (const bounds of [
    { receiptHours: 1, retentionDays: 30 },
    { receiptHours: 8_760, retentionDays: 3_650 },
  ]) {
    const { json } = await owner.call(proof, bounds);
    assert.deepEqual(proofOf(json), { requiresSignature: false, ...bounds });
  }
});

test("an admin changes nothing of it: not by its calls, not by those of settings and groups, not by the operation", async () => {
  const { workspaceId, groupId, owner, admin } = await makeTeam();
  await owner.call(proof, { requiresSignature: true });
  await owner.call(signature, { requiresSignature: true });
  const weaker = { requiresSignature: false, receiptHours: 1, retentionDays: 30 };
  const before = await contentsOf(db, workspaceId);
  for (const name of [proof, signature] as const) {
    const { status, json } = await admin.call(name, weaker);
    assert.deepEqual([status, json.error.code], [403, "forbidden"]);
  }
  const refused = await updateWorkspace(db, workspaceId, { receiptHours: 1 }, admin.doer);
  assert.ok(isRefusal(refused) && refused.refusal === "forbidden");
  const off = { id: groupId, requiresSignature: false };
  const unsigned = await setGroupSignature(db, off, admin.doer);
  assert.ok(isRefusal(unsigned) && unsigned.refusal === "forbidden");
  assert.equal(await contentsOf(db, workspaceId), before);
  // What an admin may change takes none of it along.
  const { json } = await admin.call(settings, { expiryMinutes: 60, ...weaker });
  const { requiresSignature, receiptHours, retentionDays } = json;
  assert.deepEqual(
    [json.expiryMinutes, requiresSignature, receiptHours, retentionDays],
    [60, true, 24, null],
  );
  const { json: renamed } = await admin.call(`${groups}/:groupId`, {
    name: "Other",
    requiresSignature: false,
  });
  assert.deepEqual([renamed.name, renamed.requiresSignature], ["Other", true]);
});

test("a group asks for signatures from then on, and the change is noted once", async () => {
  const { workspaceId, owner, needsSignature } = await makeTeam();
  const body = { notify: "group:payers" };
  assert.equal(await needsSignature(body), false);
  for (let times = 0; times < 2; times += 1) {
    const { json } = await owner.call(signature, { requiresSignature: true });
    assert.deepEqual([json.key, json.requiresSignature], ["payers", true]);
  }
  assert.equal(await needsSignature({ ...body, requireSignature: false }), true);
  assert.equal(await needsSignature({}), false);
  const { json } = await owner.call("GET /workspaces/:workspaceId/groups");
  assert.deepEqual(
    json.groups.map((group: { requiresSignature: boolean }) => group.requiresSignature),
    [true],
  );
  const flawed = await owner.call(signature, {});
  assert.deepEqual([flawed.status, flawed.json.error.field], [400, "requiresSignature"]);
  await owner.call(signature, { requiresSignature: false });
  assert.equal(await needsSignature(body), false);
  const actor_email = owner.doer.actor;
  assert.deepEqual(await activityOf(workspaceId, "group.changed"), [
    { actor_email, detail: { requiresSignature: "from off to on" } },
    { actor_email, detail: { requiresSignature: "from on to off" } },
  ]);
});

test("an admin who deletes a group that must sign and makes it anew gets it back as one that must sign", async () => {
  const { owner, admin, needsSignature } = await makeTeam();
  await owner.call(signature, { requiresSignature: true });
  await admin.call(`${groups}/:groupId/delete`);
  const { json } = await admin.call(groups, {
    ...{ key: "payers", name: "Payers", members: ["ann@example.com"] },
    requiresSignature: false,
  });
  assert.equal(json.requiresSignature, true);
  assert.equal(await needsSignature({ notify: "group:payers" }), true);
});

test("the command line sets them for a workspace and a group, shows them, and names what is wrong", async () => {
  const run = (...words: string[]) => runCommand(environmentOn(service.database.url), words);
  const { workspaceId, groupId } = await makeTeam();
  const update = ["workspace", "update", workspaceId];
  const flags = ["--require-signature", "on", "--receipt-hours", "48", "--retention-days", "90"];
  const { stdout } = await run(...update, ...flags, "--json");
  const wanted = { requiresSignature: true, receiptHours: 48, retentionDays: 90 };
  assert.deepEqual(proofOf(JSON.parse(stdout)), wanted);
  const list = await run("workspace", "list");
  assert.match(list.stdout, new RegExp(`^${workspaceId} .* required +48 h +90 days +`, "m"));
  const undone = await run(...update, "--retention-days", "none", "--json");
  assert.deepEqual(proofOf(JSON.parse(undone.stdout)), { ...wanted, retentionDays: null });
  for (const [flag, value, message] of [
    ["--require-signature", "yes", "yes is neither on nor off"],
    ["--receipt-hours", "0", "receiptHours: must be a whole number of hours from 1 to 8760"],
    [
      "--retention-days",
      "7",
      "retentionDays: must be a whole number of days from 30 to 3650, or none",
    ],
  ] as const) {
    const wrong = await run(...update, flag, value);
    assert.deepEqual([wrong.code, wrong.stderr], [1, `countersign: ${message}\n`]);
  }
  const signed = await run("group", "update", groupId, "--require-signature", "on");
  assert.match(signed.stdout, /^Nobody approves without a passkey what Payers is asked/);
  const { stdout: found } = await run("group", "list", "--workspace", workspaceId);
  assert.match(found, new RegExp(`^${groupId} .* Payers +required +ann@example.com$`, "m"));
  const off = await run("group", "update", groupId, "--require-signature", "off", "--json");
  assert.equal(JSON.parse(off.stdout).requiresSignature, false);
});
