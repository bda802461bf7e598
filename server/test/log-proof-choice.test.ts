// Which of several checkpoints proves a decision: after a restore, with several witnesses, keys and names of the service.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { reopenLog } from "../src/operations/proof/mend-logs.ts";
import { currentSigner, revokeSigningKey } from "../src/operations/proof/signing-keys.ts";
import { listNewestCosigned } from "../src/storage/proof/log-checkpoints.ts";
import { auditLogs, sequenceAll } from "./log-audit.ts";
import { makeSigner } from "./test-log.ts";
import { checkReceipt, cosignNewest, readText } from "./test-receipt-proof.ts";
import {
  makeWorkspace,
  minimalBody,
  startService,
  type TestService,
  testKeyring,
  testPublicUrl,
} from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const services: TestService[] = [];
after(() => Promise.all(services.map((service) => service.stop())));

/** A service of its own, because its installation's log is changed. */
async function setUp() {
  const service = await startService();
  services.push(service);
  const { db } = service;
  const { ask, vote } = makeVoters(service);
  const { id: workspaceId, key } = await makeWorkspace(db);
  const decide = async (verdict: "approve" | "reject" = "approve") => {
    const { id } = await ask(key, minimalBody);
    assert.equal((await vote(id, minimalBody.notify, { verdict })).status, 200);
    return { workspaceId, key, id };
  };
  // Twice: what the workspaces' checkpoints are in is then signed, too.
  const log = async (publicUrl = testPublicUrl) => {
    await sequenceAll(db, { publicUrl });
    await sequenceAll(db, { publicUrl });
  };
  const grow = async () => {
    await ask(key, minimalBody);
    await log();
  };
  const reopen = async () => {
    const parts = { db, keyring: testKeyring, origin: { publicUrl: testPublicUrl } };
    await reopenLog(parts, { workspaceId, after: null });
    await reopenLog(parts, { workspaceId: null, after: null });
    await log();
  };
  return { service, db, workspaceId, key, decide, log, grow, reopen };
}

test("a second decision that the database's owner wrote into the log is no proof", async () => {
  const { service, db, workspaceId, decide, log } = await setUp();
  const decided = await decide("reject");
  await log();
  const statements = [
    "alter table approvals disable trigger user",
    "alter table evidence disable trigger user",
    `update approvals set status = 'APPROVED' where id = '${decided.id}'`,
    `update evidence set verdict = 'approve' where approval_id = '${decided.id}'`,
    `insert into events (workspace_id, approval_id, kind) values ('${workspaceId}', '${decided.id}', 'request.approved')`,
  ];
  for (const statement of statements) await db.query(statement);
  await log();
  assert.equal(await checkReceipt(service, decided), "log-proof answers 500");
  const { text } = await readText(service, `/v1/requests/${decided.id}/log-proof`, decided.key);
  assert.match(text, /more than one decision/);
});

test("a log goes on under the service's new name, and what was decided before still has its proof", async () => {
  const { service, db, workspaceId, decide, log } = await setUp();
  const before = await decide();
  await log("https://old.example/approvals");
  const decided = await decide();
  await log();
  assert.equal(await checkReceipt(service, decided), "operator-signed approved");
  const base = "approvals.example/countersign/log";
  const names = (await auditLogs(db)).map(({ origin, isClosed }) => [origin, isClosed]);
  assert.deepEqual(
    names.toSorted(),
    [
      ["old.example/approvals/log", true],
      [`old.example/approvals/log/${workspaceId}`, true],
      [`${base}/2`, false],
      [`${base}/${workspaceId}/2`, false],
    ].toSorted(),
  );
  const proof = await readText(service, `/v1/requests/${before.id}/log-proof`, before.key);
  assert.match(proof.text, /old\.example\/approvals\/log/);
  // The receipt names the log that has the decision.
  const receipt = await readText(service, `/v1/requests/${before.id}/receipt`, before.key);
  const claims = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString());
  assert.equal(claims.log.origin, `old.example/approvals/log/${workspaceId}`);
});

test("a worker of the name before does not take the log back at once", async () => {
  const { db, workspaceId, decide, log } = await setUp();
  await log("https://old.example");
  await decide();
  await log("https://new.example");
  await decide();
  await log("https://old.example");
  const origins = async () => (await auditLogs(db, workspaceId)).map(({ origin }) => origin);
  const both = [`old.example/log/${workspaceId}`, `new.example/log/${workspaceId}/2`];
  assert.deepEqual(await origins(), both);
  await db.query(
    "update log_trees set created_at = created_at - interval '1 hour' where closed_at is null",
  );
  await decide();
  await log("https://old.example");
  assert.deepEqual(await origins(), [...both, `old.example/log/${workspaceId}/3`]);
});

test("a decision stays witnessed when the logs go on under another name, also redeemed after that", async () => {
  const { service, decide, log, reopen } = await setUp();
  const decided = await decide();
  await log();
  const witness = await cosignNewest(service, "w.example/1");
  assert.equal(await checkReceipt(service, decided, [witness]), "witnessed approved");
  await reopen();
  assert.equal(await checkReceipt(service, decided, [witness]), "witnessed approved");
  const redeemed = await service.call("POST", `/v1/requests/${decided.id}/redeem`, {
    key: decided.key,
  });
  assert.equal(redeemed.status, 200);
  await log();
  assert.equal(await checkReceipt(service, decided, [witness]), "witnessed approved");
});

test("of several heads the one with most witnesses proves a decision that it covers", async () => {
  const { service, decide, log, grow } = await setUp();
  const decided = await decide();
  await log();
  const two = { name: "w.example/2", signer: makeSigner() };
  const one = await cosignNewest(service, "w.example/1");
  const other = await cosignNewest(service, two.name, two.signer);
  await grow();
  const later = await decide();
  await log();
  await cosignNewest(service, two.name, two.signer);
  assert.equal(await checkReceipt(service, decided, [one, other]), "witnessed approved");
  assert.equal(await checkReceipt(service, later, [other]), "witnessed approved");
});

test("a head whose key was revoked proves nothing where there is another, witnessed or not", async () => {
  const { service, db, decide, log } = await setUp();
  const decided = await decide();
  await log();
  await cosignNewest(service, "w.example/1");
  const signer = await currentSigner(db, testKeyring);
  await revokeSigningKey(db, testKeyring, signer?.id ?? "");
  await log();
  assert.equal(await checkReceipt(service, decided), "operator-signed approved");
});

test("exports have what a witness saw last, however long it has been silent", async () => {
  const { service, db, decide, log, grow } = await setUp();
  await decide();
  await log();
  await cosignNewest(service, "w.example/silent");
  await grow();
  await cosignNewest(service, "w.example/busy");
  const { rows } = await db.query<{ tree_id: number; size: number }>(
    "select tree_id, size::int as size from log_cosignatures order by size",
  );
  const [silent, busy] = rows.map(({ size }) => size);
  // As if the other had gone on for hours.
  for (const sql of [
    `insert into log_checkpoints (tree_id, size, note, signing_key_id)
     select c.tree_id, c.size + n, c.note, c.signing_key_id
     from log_checkpoints c join log_cosignatures w using (tree_id, size), generate_series(1, 2500) as n
     where w.witness = 'w.example/busy'`,
    `insert into log_cosignatures (tree_id, size, witness, line)
     select tree_id, size + n, witness, line from log_cosignatures, generate_series(1, 2500) as n
     where witness = 'w.example/busy'`,
  ]) {
    await db.query(sql);
  }
  const found = await listNewestCosigned(service.servicePool, rows[0]?.tree_id ?? 0);
  assert.deepEqual(
    found.map(({ size }) => size),
    [silent, (busy ?? 0) + 2_500],
  );
});
