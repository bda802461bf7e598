// What somebody adds to a log that only grows: another outcome, the same one again, or what came before the log. An
// auditor's file tells them apart.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { exportInstallationLog } from "../src/operations/proof/export-log.ts";
import { sequenceAll } from "./log-audit.ts";
import { makeFolder } from "./test-log.ts";
import {
  checkExport,
  checkReceipt,
  cosignNewest,
  readText,
  saveTexts,
} from "./test-receipt-proof.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db, servicePool } = service;
const { ask, vote } = makeVoters(service);
after(() => service.stop());

// Twice: what the workspaces' checkpoints are in is then signed, too.
const log = async () => {
  await sequenceAll(db);
  await sequenceAll(db);
};

async function decideIn(
  workspace: { id: string; key: string },
  verdict: "approve" | "reject" = "approve",
) {
  const { id } = await ask(workspace.key, { ...minimalBody, payload: { amount: 49 } });
  assert.equal((await vote(id, minimalBody.notify, { verdict })).status, 200);
  return { workspaceId: workspace.id, key: workspace.key, id };
}

/** The issuer's keys, to hold a file against. */
async function saveKeys(): Promise<string> {
  const path = join(makeFolder(), "jwks.json");
  writeFileSync(path, (await readText(service, "/.well-known/jwks.json")).text);
  return path;
}

async function saveNewest(workspaceId: string): Promise<string> {
  const { rows } = await db.query<{ note: string }>(
    `select note from log_checkpoints c join log_trees t on t.id = c.tree_id
     where t.workspace_id = $1 order by c.size desc limit 1`,
    [workspaceId],
  );
  const path = join(makeFolder(), "checkpoint.txt");
  writeFileSync(path, rows[0]?.note ?? "");
  return path;
}

test("a decision that the database's owner turned around is named twice, whatever vouches for the log", async () => {
  for (const [verdict, other, status] of [
    ["reject", "approve", "APPROVED"],
    ["approve", "reject", "REJECTED"],
  ] as const) {
    const decided = await decideIn(await makeWorkspace(db), verdict);
    await log();
    const kept = await saveNewest(decided.workspaceId);
    const event = `request.${status.toLowerCase()}`;
    for (const statement of [
      "alter table approvals disable trigger user",
      "alter table evidence disable trigger user",
      `update approvals set status = '${status}', resolved_at = now_ms() where id = '${decided.id}'`,
      `update evidence set verdict = '${other}', voted_at = (select resolved_at from approvals where id = '${decided.id}')
       where approval_id = '${decided.id}'`,
      `delete from receipts where approval_id = '${decided.id}'`,
      `insert into events (workspace_id, approval_id, kind, created_at)
       select workspace_id, id, '${event}', resolved_at from approvals where id = '${decided.id}'`,
      "alter table approvals enable trigger user",
      "alter table evidence enable trigger user",
    ]) {
      await db.query(statement);
    }
    await log();
    const witness = await cosignNewest(service, "w.example/1");
    const whole = await saveTexts(exportInstallationLog(servicePool));
    const flags = ["--checkpoint", kept, "--jwks", await saveKeys(), "--witness", witness];
    const said = await checkExport(service, decided.workspaceId, ...flags, "--log", whole);
    assert.equal(said.exitCode, 1);
    assert.ok(said.codes.includes("outcome_twice"), said.codes.join());
    assert.equal(await checkReceipt(service, decided), "log-proof answers 500");
  }
});

test("a decision that the service's role queues again is no second one", async () => {
  const decided = await decideIn(await makeWorkspace(db));
  await log();
  const { rowCount } = await servicePool.query(
    `insert into log_pending (workspace_id, source, subject)
     select workspace_id, 'e', id from events where approval_id = $1`,
    [decided.id],
  );
  assert.ok((rowCount ?? 0) >= 2, "its creation and its outcome");
  await log();
  const { rows } = await db.query(
    "select 1 from log_entries where entry like $1 and entry like '%request.approved%'",
    [`%${decided.id}%`],
  );
  assert.equal(rows.length, 2);
  const said = await checkExport(service, decided.workspaceId, "--jwks", await saveKeys());
  assert.deepEqual([said.exitCode, said.codes], [0, []]);
  assert.equal(await checkReceipt(service, decided), "operator-signed approved");
});

test("what was decided before the log began and redeemed after is older than the log, and nothing else", async () => {
  const workspace = await makeWorkspace(db);
  const decided = await decideIn(workspace);
  // As before the upgrade that brought the log.
  await db.query("delete from log_pending where workspace_id = $1", [workspace.id]);
  await ask(workspace.key, minimalBody);
  await log();
  const path = `/v1/requests/${decided.id}`;
  assert.equal((await readText(service, `${path}/receipt`, workspace.key)).status, 200);
  const redeemed = await service.call("POST", `${path}/redeem`, { key: workspace.key });
  assert.equal(redeemed.status, 200);
  await log();
  const said = await checkExport(service, workspace.id, "--jwks", await saveKeys());
  assert.deepEqual([said.exitCode, said.codes], [0, []]);
  assert.match(said.notes, /1 requests are older than the log/);
});
