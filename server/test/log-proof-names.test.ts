// The service gets another address: its logs go on under other names, and what was decided before stays proven.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { receipts } from "../../sdk/src/proof/proof.ts";
import { exportInstallationLog } from "../src/operations/proof/export-log.ts";
import { makeReadReceipt } from "../src/operations/proof/receipts.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { signLogs } from "../src/operations/proof/sign-log.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { sequenceAll } from "./log-audit.ts";
import { makeSigner } from "./test-log.ts";
import {
  checkExport,
  checkReceipt,
  cosignNewest,
  readText,
  saveTexts,
} from "./test-receipt-proof.ts";
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

const oldUrl = "https://old.example/approvals";

/** A service whose logs began under another address, which it leaves with `move`. */
async function setUp() {
  const service = await startService();
  services.push(service);
  const { db } = service;
  const { ask, vote } = makeVoters(service);
  const { id: workspaceId, key } = await makeWorkspace(db);
  const decide = async () => {
    const { id } = await ask(key, minimalBody);
    assert.equal((await vote(id, minimalBody.notify, {})).status, 200);
    return { workspaceId, key, id };
  };
  // Twice: what the workspaces' checkpoints are in is then signed, too.
  const log = async (publicUrl = testPublicUrl) => {
    await sequenceAll(db, { publicUrl });
    await sequenceAll(db, { publicUrl });
  };
  return { service, workspaceId, key, decide, log };
}

test("a receipt that was signed under the address before keeps its proof there", async () => {
  const { service, workspaceId, key, decide, log } = await setUp();
  const { db } = service;
  const { id } = await decide();
  await log(oldUrl);
  const readReceipt = makeReadReceipt({
    ...{ db, keyring: testKeyring, origin: { publicUrl: oldUrl } },
  });
  const receipt = await readReceipt({ workspaceId, approvalId: id });
  assert.ok("jws" in receipt);
  const witness = await cosignNewest(service, "w.example/1");
  await decide();
  await log();
  const said = await receipts.verify(receipt.jws, {
    jwks: JSON.parse((await readText(service, "/.well-known/jwks.json")).text),
    issuer: oldUrl,
    audience: workspaceId,
    proof: (await readText(service, `/v1/requests/${id}/log-proof`, key)).text,
    witnesses: [witness],
  });
  assert.ok(said.ok, JSON.stringify(said));
  assert.deepEqual([said.level, said.claims.iss], ["witnessed", oldUrl]);
});

test("a receipt that is signed under the new address names the older log, and is proven by it", async () => {
  const { service, decide, log } = await setUp();
  const before = await decide();
  await log(oldUrl);
  const witness = await cosignNewest(service, "w.example/1");
  const after = await decide();
  await log();
  assert.equal(await checkReceipt(service, before, [witness]), "witnessed approved");
  assert.equal(await checkReceipt(service, after), "operator-signed approved");
  const newer = await cosignNewest(service, "w.example/2");
  assert.equal(await checkReceipt(service, after, [newer]), "witnessed approved");
});

test("of two installation's logs that prove the same the one at the receipt's address does", async () => {
  const { service, workspaceId, key, decide, log } = await setUp();
  const { db } = service;
  const { id } = await decide();
  await log(oldUrl);
  const readReceipt = makeReadReceipt({
    ...{ db, keyring: testKeyring, origin: { publicUrl: oldUrl } },
  });
  const receipt = await readReceipt({ workspaceId, approvalId: id });
  assert.ok("jws" in receipt);
  // Its last checkpoint comes too late for the installation's log of the old address.
  await decide();
  const sequenced = await sequenceLog(
    { db, keyring: testKeyring, origin: { publicUrl: oldUrl } },
    workspaceId,
    100,
  );
  const signer = await currentSigner(db, testKeyring);
  assert.ok(sequenced !== null && signer !== null);
  await signLogs({ db, keyring: testKeyring }, signer, [sequenced.treeId]);
  await log();
  const said = await receipts.verify(receipt.jws, {
    jwks: JSON.parse((await readText(service, "/.well-known/jwks.json")).text),
    issuer: oldUrl,
    audience: workspaceId,
    proof: (await readText(service, `/v1/requests/${id}/log-proof`, key)).text,
  });
  assert.ok(said.ok, JSON.stringify(said));
});

test("a log of the installation that fits the receipt proves it, also where another one has more cosignatures", async () => {
  const { service, workspaceId, key, decide, log } = await setUp();
  const { db } = service;
  const readReceipt = makeReadReceipt({
    ...{ db, keyring: testKeyring, origin: { publicUrl: oldUrl } },
  });
  const first = await decide();
  await log(oldUrl);
  const witness = await cosignNewest(service, "w.example/1");
  // Its checkpoint comes too late for the installation's log of the old address.
  const late = await decide();
  const sequenced = await sequenceLog(
    { db, keyring: testKeyring, origin: { publicUrl: oldUrl } },
    workspaceId,
    100,
  );
  const signer = await currentSigner(db, testKeyring);
  assert.ok(sequenced !== null && signer !== null);
  await signLogs({ db, keyring: testKeyring }, signer, [sequenced.treeId]);
  const unread = await decide();
  const kept = new Map<string, string>();
  for (const { id } of [first, late]) {
    const receipt = await readReceipt({ workspaceId, approvalId: id });
    assert.ok("jws" in receipt);
    kept.set(id, receipt.jws);
  }
  await log();
  const [one, other] = [
    await cosignNewest(service, "w.example/2"),
    await cosignNewest(service, "w.example/3"),
  ];
  const verify = async (id: string, witnesses: readonly string[]) => {
    const said = await receipts.verify(kept.get(id) ?? "", {
      jwks: JSON.parse((await readText(service, "/.well-known/jwks.json")).text),
      issuer: oldUrl,
      audience: workspaceId,
      proof: (await readText(service, `/v1/requests/${id}/log-proof`, key)).text,
      ...(witnesses.length === 0 ? {} : { witnesses }),
    });
    return said.ok ? [said.level, said.isLogged] : [said.reason, said.message];
  };
  assert.deepEqual(await verify(first.id, []), ["operator-signed", true]);
  assert.deepEqual(await verify(first.id, [witness]), ["witnessed", true]);
  // No log of the installation that it names has it: it is in the workspace's log, and nobody has witnessed that.
  assert.deepEqual(await verify(late.id, []), ["operator-signed", true]);
  assert.equal((await verify(late.id, [one]))[0], "proof_invalid");
  // A receipt that is signed under the new address has the witnesses there.
  assert.equal(await checkReceipt(service, unread, [one, other]), "witnessed approved");
});

test("a receipt that nobody has asked for yet gets a proof that fits the one it will have", async () => {
  const { service, workspaceId, decide, log } = await setUp();
  const { db } = service;
  const decided = await decide();
  await log(oldUrl);
  // The second address has this log's last checkpoint, too, with more witnesses, and isn't the service's any more.
  const between = "https://between.example";
  await decide();
  const sequenced = await sequenceLog(
    { db, keyring: testKeyring, origin: { publicUrl: oldUrl } },
    workspaceId,
    100,
  );
  const signer = await currentSigner(db, testKeyring);
  assert.ok(sequenced !== null && signer !== null);
  await signLogs({ db, keyring: testKeyring }, signer, [sequenced.treeId]);
  await log(between);
  await cosignNewest(service, "w.example/1");
  await decide();
  await log();
  const { text } = await readText(service, `/v1/requests/${decided.id}/log-proof`, decided.key);
  assert.equal(await checkReceipt(service, decided), "operator-signed approved");
  const again = await readText(service, `/v1/requests/${decided.id}/log-proof`, decided.key);
  assert.equal(again.text, text, "the receipt changed nothing");
});

test("a proof of a log that neither the receipt nor its issuer names is none", async () => {
  const { service, workspaceId, key, decide, log } = await setUp();
  const { db } = service;
  await decide();
  await log(oldUrl);
  const { id } = await decide();
  const readReceipt = makeReadReceipt({
    ...{ db, keyring: testKeyring, origin: { publicUrl: oldUrl } },
  });
  const receipt = await readReceipt({ workspaceId, approvalId: id });
  assert.ok("jws" in receipt);
  await log("https://third.example");
  const said = await receipts.verify(receipt.jws, {
    jwks: JSON.parse((await readText(service, "/.well-known/jwks.json")).text),
    issuer: oldUrl,
    audience: workspaceId,
    proof: (await readText(service, `/v1/requests/${id}/log-proof`, key)).text,
  });
  assert.ok(!said.ok && said.reason === "proof_invalid", JSON.stringify(said));
  assert.match(said.message, /it is about the log third\.example/);
});

test("an export across two addresses is valid with a witness and the installation's logs, served or saved", async () => {
  const { service, workspaceId, decide, log } = await setUp();
  await decide();
  await log(oldUrl);
  const signer = makeSigner();
  await cosignNewest(service, "w.example/1", signer);
  await decide();
  await log();
  const witness = await cosignNewest(service, "w.example/1", signer);
  const served = `${await service.app.listen({ port: 0, host: "127.0.0.1" })}/countersign/log`;
  const saved = await saveTexts(exportInstallationLog(service.servicePool));
  for (const place of [served, saved]) {
    const said = await checkExport(service, workspaceId, "--witness", witness, "--log", place);
    assert.deepEqual([said.exitCode, said.codes, said.doubts], [0, [], []], place);
    assert.match(
      said.anchors,
      /the whole log old\.example\/approvals\/log .*\/countersign\/log\/2 /,
    );
  }
});
