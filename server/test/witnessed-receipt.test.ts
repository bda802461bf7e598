import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pino } from "pino";
import { receipts } from "../../sdk/src/proof/proof.ts";
import { runVerify } from "../../verify/src/program.ts";
import { loopbackCidrs, makeAddressPolicy } from "../src/domain/access/network-address.ts";
import { ed25519, formatVerifierKey, verifierKey } from "../src/domain/proof/note.ts";
import { exportInstallationLog, exportLog } from "../src/operations/proof/export-log.ts";
import { reopenLog } from "../src/operations/proof/mend-logs.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { CheckpointSender } from "../src/outbound/add-checkpoint.ts";
import { LogWitnesses } from "../src/worker/log-witnesses.ts";
import { sequenceAll } from "./log-audit.ts";
import { until } from "./patience.ts";
import { makeFolder, openWitness, serveWitness } from "./test-log.ts";
import { saveTexts } from "./test-receipt-proof.ts";
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
const sender = new CheckpointSender({ policy: makeAddressPolicy(loopbackCidrs) });
after(async () => {
  sender.close();
  await service.stop();
});

const read = async (path: string, key: string) => {
  const reply = await service.app.inject({
    url: path,
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(reply.statusCode, 200, reply.body);
  return reply.body;
};

/** A witness of the installation's log, and its cosigning until a condition holds. */
async function startWitness(name = "witness.example/one") {
  const signer = await currentSigner(servicePool, testKeyring);
  assert.ok(signer !== null);
  const origin = "approvals.example/countersign/log";
  const logs = [origin, `${origin}/2`].map((log) => verifierKey(log, ed25519, signer.publicKey));
  const { witness } = await openWitness(logs, { name });
  const url = `${await serveWitness(witness)}/add-checkpoint`;
  const cosigned = async <Found>(check: () => Promise<Found | null>): Promise<Found> => {
    const witnesses = new LogWitnesses({
      ...{ db: servicePool, witnesses: [{ key: witness.key, url }], paceMs: 1 },
      ...{ addCheckpoint: sender.send.bind(sender), log: pino({ level: "silent" }) },
      ...{ onFault: (error) => assert.fail(String(error)), onNotice: () => {} },
    });
    try {
      return await until(async () => {
        witnesses.wake();
        return check();
      });
    } finally {
      await witnesses.stop();
    }
  };
  return { key: formatVerifierKey(witness.key), cosigned };
}

test("a decision is witnessed as soon as a witness has seen it, and stays so while the log grows", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { id } = await ask(key, { ...minimalBody, payload: { amount: 120.5 } });
  await vote(id, minimalBody.notify, {});
  await sequenceAll(db);
  const { key: witnessKey, cosigned } = await startWitness();
  const receipt = await read(`/v1/requests/${id}/receipt`, key);
  const check = async () =>
    receipts.verify(receipt, {
      jwks: JSON.parse((await service.app.inject({ url: "/.well-known/jwks.json" })).body),
      issuer: testPublicUrl,
      audience: workspaceId,
      payload: await read(`/v1/requests/${id}/effective-payload`, key),
      proof: await read(`/v1/requests/${id}/log-proof`, key),
      witnesses: [witnessKey],
    });
  const before = await check();
  assert.ok(!before.ok && before.reason === "proof_invalid", "nobody has cosigned");
  const checked = await cosigned(async () => {
    const found = await check();
    return found.ok ? found : null;
  });
  assert.equal(checked.level, "witnessed");
  // Newer heads have no cosignature yet.
  await ask(key, minimalBody);
  await sequenceAll(db);
  const later = await check();
  assert.ok(later.ok && later.level === "witnessed");
});

let serving: Promise<string> | null = null;

/** The address of the installation's log. */
async function servedLog(): Promise<string> {
  serving ??= service.app.listen({ port: 0, host: "127.0.0.1" });
  return `${await serving}/countersign/log`;
}

/** What the program says of the workspace's export, and what it found. */
async function verified(workspaceId: string, ...flags: string[]) {
  const path = join(makeFolder(), "log.jsonl");
  const pieces: string[] = [];
  for await (const piece of exportLog(servicePool, { workspaceId, format: "jsonl" }))
    pieces.push(piece);
  writeFileSync(path, pieces.join(""));
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const exitCode = await runVerify(["export", path, ...flags, "--json"], { env: {}, write });
  const { findings = [], anchors = [] } = JSON.parse(text);
  return { exitCode, codes: findings.map(({ code }: { code: string }) => code), anchors };
}

/** With the rights of the database's owner, and the service's own key to sign with. */
async function writeAnew(workspaceId: string): Promise<void> {
  const tables = ["openings", "nodes", "cosignatures", "tellings", "checkpoints", "entries"];
  const statements = [
    "alter table approvals disable trigger user",
    "alter table evidence disable trigger user",
    `update approvals set resolved_by_email = 'eve@example.com' where workspace_id = '${workspaceId}'`,
    `update evidence set email = 'eve@example.com' where workspace_id = '${workspaceId}'`,
    "alter table approvals enable trigger user",
    "alter table evidence enable trigger user",
    ...tables.map(
      (name) =>
        `delete from log_${name} where tree_id in (select id from log_trees where workspace_id = '${workspaceId}')`,
    ),
    `delete from log_trees where workspace_id = '${workspaceId}'`,
    `insert into log_pending (workspace_id, source, subject)
     select workspace_id, 'e', id from events where workspace_id = '${workspaceId}'`,
  ];
  for (const statement of statements) await db.query(statement);
}

test("a log that the database's owner writes anew is found by a witness's key and the installation's log", async () => {
  const { key: witnessKey, cosigned } = await startWitness();
  const log = await servedLog();
  const [honest, forged] = [await makeWorkspace(db), await makeWorkspace(db)];
  for (const { key } of [honest, forged]) {
    const { id } = await ask(key, { ...minimalBody, payload: { amount: 120.5 } });
    await vote(id, minimalBody.notify, {});
    await sequenceAll(db);
  }
  const flags = ["--witness", witnessKey, "--log", log];
  const isSeen = (workspaceId: string) => async () => {
    const said = await verified(workspaceId, "--witness", witnessKey);
    return said.exitCode === 0 ? said : null;
  };
  for (const { id } of [honest, forged]) await cosigned(isSeen(id));
  assert.deepEqual((await verified(forged.id, ...flags)).codes, []);
  await writeAnew(forged.id);
  await sequenceAll(db);
  // The new log is signed, and the witness has cosigned what holds its checkpoint.
  await cosigned(isSeen(forged.id));
  const said = await verified(forged.id, ...flags);
  assert.equal(said.exitCode, 1);
  assert.ok(
    said.codes.length > 0 && said.codes.every((code: string) => code === "checkpoint_hidden"),
  );
  const other = await verified(honest.id, ...flags);
  assert.deepEqual([other.exitCode, other.codes, other.anchors.length], [0, [], 2]);
});

test("each of several witnesses counts for what it has seen, also one that is behind", async () => {
  const [one, two] = [
    await startWitness("witness.example/a"),
    await startWitness("witness.example/b"),
  ];
  const { id: workspaceId, key } = await makeWorkspace(db);
  for (const { key: witnessKey, cosigned } of [one, two]) {
    await ask(key, minimalBody);
    await sequenceAll(db);
    await cosigned(async () => {
      const said = await verified(workspaceId, "--witness", witnessKey);
      return said.exitCode === 0 ? said : null;
    });
  }
  const both = await verified(workspaceId, "--witness", one.key, "--witness", two.key);
  assert.deepEqual([both.exitCode, both.codes, both.anchors.length], [0, [], 2]);
});

test("behind the next name of the installation's log the older one is read, too", async () => {
  const { key: witnessKey, cosigned } = await startWitness("witness.example/c");
  const flags = ["--witness", witnessKey, "--log", await servedLog()];
  const [honest, forged] = [await makeWorkspace(db), await makeWorkspace(db)];
  const grow = async ({ id, key }: typeof honest) => {
    const asked = await ask(key, { ...minimalBody, payload: { amount: 120.5 } });
    await vote(asked.id, minimalBody.notify, {});
    await sequenceAll(db);
    await cosigned(async () => {
      const said = await verified(id, "--witness", witnessKey);
      return said.exitCode === 0 ? said : null;
    });
  };
  for (const workspace of [honest, forged]) await grow(workspace);
  const parts = { db, keyring: testKeyring, origin: { publicUrl: testPublicUrl } };
  const reopened = await reopenLog(parts, { workspaceId: null, after: null });
  assert.ok("opened" in reopened && reopened.opened.endsWith("/log/2"));
  await writeAnew(forged.id);
  for (const workspace of [honest, forged]) await grow(workspace);
  const said = await verified(honest.id, ...flags);
  assert.deepEqual([said.exitCode, said.codes], [0, []]);
  const both = /the whole log \S+\/log \(.*the whole log \S+\/log\/2 \(/;
  assert.match(said.anchors.join(), both);
  const file = await saveTexts(exportInstallationLog(servicePool));
  const saved = await verified(honest.id, "--witness", witnessKey, "--log", file);
  assert.deepEqual([saved.exitCode, saved.codes], [0, []]);
  assert.match(saved.anchors.join(), both);
  const other = await verified(forged.id, ...flags);
  assert.equal(other.exitCode, 1);
  assert.ok(other.codes.includes("checkpoint_hidden"), other.codes.join());
});
