// An honest export is valid at whichever moment it is made: between two steps of the sequencer, or while requests that are
// old enough leave.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  exportInstallationLog,
  exportLog,
  exportLogAtOnce,
} from "../src/operations/proof/export-log.ts";
import { reopenLog } from "../src/operations/proof/mend-logs.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { signLogs } from "../src/operations/proof/sign-log.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { sequenceAll } from "./log-audit.ts";
import { makeFolder } from "./test-log.ts";
import { checkFile, readText, saveTexts } from "./test-receipt-proof.ts";
import {
  makeWorkspace,
  minimalBody,
  startService,
  testKeyring,
  testPublicUrl,
} from "./test-service.ts";
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

async function decideIn({ key }: { key: string }): Promise<string> {
  const { id } = await ask(key, { ...minimalBody, payload: { amount: 49 } });
  assert.equal((await vote(id, minimalBody.notify, { verdict: "approve" })).status, 200);
  return id;
}

async function saveKeys(): Promise<string> {
  const path = join(makeFolder(), "jwks.json");
  writeFileSync(path, (await readText(service, "/.well-known/jwks.json")).text);
  return path;
}

test("a service that stood still between a workspace's checkpoint and the installation's turn hides nothing", async () => {
  const workspace = await makeWorkspace(db);
  await decideIn(workspace);
  await log();
  await ask(workspace.key, minimalBody);
  const origin = { publicUrl: testPublicUrl };
  const sequenced = await sequenceLog(
    { db: servicePool, keyring: testKeyring, origin },
    workspace.id,
    1_000,
  );
  const signer = await currentSigner(servicePool, testKeyring);
  assert.ok(sequenced !== null && signer !== null);
  await signLogs({ db: servicePool, keyring: testKeyring }, signer, [sequenced.treeId]);
  const { rowCount } = await db.query(
    `update log_checkpoints set signed_at = signed_at - interval '2 minutes'
     where tree_id = $1 and size = (select size from log_trees where id = $1)`,
    [sequenced.treeId],
  );
  assert.equal(rowCount, 1);
  const file = await saveTexts(
    exportLog(servicePool, { workspaceId: workspace.id, format: "jsonl" }),
  );
  await log();
  const whole = await saveTexts(exportInstallationLog(servicePool));
  const { codes, exitCode } = await checkFile(file, "--jwks", await saveKeys(), "--log", whole);
  assert.deepEqual([codes, exitCode], [[], 0]);
});

/** Retention of one day less than none: everything that is decided leaves, the oldest first. */
async function deleteOld(workspaceId: string, limit = 10): Promise<void> {
  await db.query("update workspaces set retention_days = -1 where id = $1", [workspaceId]);
  const { rows } = await servicePool.query("select delete_old_requests($1, $2) as deleted", [
    workspaceId,
    limit,
  ]);
  assert.ok(rows[0].deleted > 0);
}

test("what retention deletes while an export is read stays in the file, if it is one snapshot, and ends it if not", async () => {
  await db.query(
    "alter table workspaces drop constraint if exists workspaces_retention_days_check",
  );
  for (const line of ["tile", "entry"]) {
    const workspace = await makeWorkspace(db);
    await decideIn(workspace);
    await log();
    const wanted = { workspaceId: workspace.id, format: "jsonl" } as const;
    async function* deletingBetween(texts: AsyncIterable<string>) {
      let isDeleted = false;
      for await (const text of texts) {
        yield text;
        if (isDeleted || !text.startsWith(`{"type":"${line}"`)) continue;
        isDeleted = true;
        await deleteOld(workspace.id);
      }
      assert.ok(isDeleted);
    }
    let file = "";
    await exportLogAtOnce(servicePool, wanted, async (texts) => {
      file = await saveTexts(deletingBetween(texts));
    });
    const { codes, exitCode } = await checkFile(file, "--jwks", await saveKeys());
    assert.deepEqual([codes, exitCode], [[], 0], line);
    await decideIn(workspace);
    await log();
    await assert.rejects(
      saveTexts(deletingBetween(exportLog(servicePool, wanted))),
      /requests were deleted while the log was exported/,
    );
  }
});

test("an export waits until the log has signed what was deleted just before", async () => {
  await db.query(
    "alter table workspaces drop constraint if exists workspaces_retention_days_check",
  );
  const workspace = await makeWorkspace(db);
  await decideIn(workspace);
  await log();
  const wanted = { workspaceId: workspace.id, format: "jsonl" } as const;
  await deleteOld(workspace.id);
  const files: string[] = [];
  const exporting = [
    saveTexts(exportLog(servicePool, wanted)).then((file) => files.push(file)),
    exportLogAtOnce(servicePool, wanted, async (texts) => {
      files.push(await saveTexts(texts));
    }),
  ];
  await log();
  await Promise.all(exporting);
  for (const file of files) {
    const { codes } = await checkFile(file, "--jwks", await saveKeys());
    // Younger than any retention: what the verifier says of the deletion itself.
    assert.deepEqual([...new Set(codes)], ["request_missing"]);
  }
  assert.equal(files.length, 2);
});

/** As if everything of the workspace had happened so long ago that retention may take it. */
async function backdate(workspaceId: string): Promise<void> {
  const trigger = (what: string) =>
    db.query(`alter table approvals ${what} trigger user; alter table events ${what} trigger user`);
  await trigger("disable");
  const [ago, of] = ["- interval '40 days'", "where workspace_id = $1"];
  await db.query(
    `update approvals set created_at = created_at ${ago}, resolved_at = resolved_at ${ago} ${of}`,
    [workspaceId],
  );
  await db.query(`update events set created_at = created_at ${ago} ${of}`, [workspaceId]);
  await trigger("enable");
}

test("while the log isn't signed, an export names what was deleted, and neither accuses nor passes", async () => {
  await db.query(
    "alter table workspaces drop constraint if exists workspaces_retention_days_check",
  );
  const workspace = await makeWorkspace(db);
  const gone = await decideIn(workspace);
  await backdate(workspace.id);
  await log();
  const kept = await decideIn(workspace);
  await log();
  const wanted = { workspaceId: workspace.id, format: "jsonl" } as const;
  const check = async () => {
    let atOnce = "";
    await exportLogAtOnce(
      servicePool,
      wanted,
      async (texts) => {
        atOnce = await saveTexts(texts);
      },
      0,
    );
    const files = [await saveTexts(exportLog(servicePool, wanted, 0)), atOnce];
    return Promise.all(
      files.map(async (file) => {
        const said = await checkFile(file, "--jwks", await saveKeys());
        assert.doesNotMatch(said.doubts.join(), new RegExp(kept));
        return [said.exitCode, said.codes, said.doubts.join().includes(gone)];
      }),
    );
  };
  const [valid, inDoubt] = [
    [0, [], false],
    [2, [], true],
  ];
  assert.deepEqual(await check(), [valid, valid]);
  await deleteOld(workspace.id, 1);
  // Waiting for the log, then in it without a signature, then on its way into the next log.
  assert.deepEqual(await check(), [inDoubt, inDoubt]);
  const parts = { db: servicePool, keyring: testKeyring, origin: { publicUrl: testPublicUrl } };
  assert.ok((await sequenceLog(parts, workspace.id, 1_000)) !== null);
  assert.deepEqual(await check(), [inDoubt, inDoubt]);
  await reopenLog({ ...parts, db }, { workspaceId: workspace.id, after: null });
  assert.deepEqual(await check(), [inDoubt, inDoubt]);
  await log();
  assert.deepEqual(await check(), [valid, valid]);
});

test("what is deleted while a file is read ends it, also if another deletion wasn't signed before", async () => {
  await db.query(
    "alter table workspaces drop constraint if exists workspaces_retention_days_check",
  );
  const workspace = await makeWorkspace(db);
  await decideIn(workspace);
  await log();
  await deleteOld(workspace.id);
  await decideIn(workspace);
  const origin = { publicUrl: testPublicUrl };
  assert.ok(
    (await sequenceLog({ db: servicePool, keyring: testKeyring, origin }, workspace.id, 1_000)) !==
      null,
  );
  const wanted = { workspaceId: workspace.id, format: "jsonl" } as const;
  let isDeleted = false;
  const reading = async () => {
    for await (const text of exportLog(servicePool, wanted, 0)) {
      if (isDeleted || !text.startsWith('{"type":"tile"')) continue;
      isDeleted = true;
      await deleteOld(workspace.id);
    }
  };
  await assert.rejects(reading, /requests were deleted while the log was exported/);
  assert.ok(isDeleted);
});
