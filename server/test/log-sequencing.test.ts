// Logs grow by one commit at a time, whoever is killed and however many race; a head is signed once it is committed, and
// by whoever comes next.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, type TestContext, test } from "node:test";
import pino from "pino";
import type { Database } from "../src/database/database.ts";
import { openDatabase } from "../src/database/database.ts";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { reopenLog } from "../src/operations/proof/mend-logs.ts";
import { sequenceLog, sequenceLogs } from "../src/operations/proof/sequence-log.ts";
import { signLogs } from "../src/operations/proof/sign-log.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { LogSequencer } from "../src/worker/log-sequencer.ts";
import { runSteps } from "./crashing-steps.ts";
import { type AuditedTree, auditLogs, leafOf, rootOfLeaves, sequenceAll } from "./log-audit.ts";
import { until } from "./patience.ts";
import {
  makeWorkspace,
  minimalBody,
  startService,
  testKeyring,
  testPublicUrl,
} from "./test-service.ts";

const service = await startService();
const { db, database, servicePool } = service;
after(() => service.stop());

const origin = { publicUrl: testPublicUrl };
const databaseUrl = database.connection.connectionString ?? "";

/** As the worker's pool, whose statements are planned once. */
const workerDb = openDatabase({
  connection: { ...database.serviceConnection, application_name: "countersign worker" },
  connectionsMax: 4,
  walksIndexes: true,
  onIdleFault: () => {},
});
after(() => workerDb.end());

const sequence = (diesAfter?: number) =>
  runSteps({
    ...{ databaseUrl, keyring: testKeyring, work: "sequenceLogs" },
    ...(diesAfter === undefined ? {} : { diesAfter }),
  });

/** Facts that wait, told by their detail alone: each has a subject of its own. */
async function addFacts(workspaceId: string, count: number, prefix = "fact"): Promise<void> {
  await db.query(
    `insert into log_pending (workspace_id, source, subject, detail)
     select $1, 'd', $3 || n, jsonb_build_object('kind', 'test.fact', 'n', n) from generate_series(1, $2::int) as n`,
    [workspaceId, count, `${prefix}_${randomBytes(4).toString("hex")}_`],
  );
}

async function treeOf(workspaceId: string, from: Database = db): Promise<AuditedTree> {
  const trees = await auditLogs(from, workspaceId);
  assert.equal(trees.length, 1, "a workspace has one log");
  return trees[0] as AuditedTree;
}

async function headOf(workspaceId: string): Promise<{ size: number; isSigned: boolean }> {
  const { rows } = await db.query<{ size: number; isSigned: boolean }>(
    `select size::int as size, exists (
       select from log_checkpoints c where c.tree_id = t.id and c.size = t.size
     ) as "isSigned"
     from log_trees t where workspace_id = $1 and closed_at is null`,
    [workspaceId],
  );
  return rows[0] ?? assert.fail("it has no log");
}

async function countPending(workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from log_pending where workspace_id = $1",
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

async function makeSequencer(
  t: TestContext,
  options: { keyring?: Keyring; lines?: Record<string, unknown>[] } = {},
) {
  const faults: unknown[] = [];
  const sequencer = new LogSequencer({
    ...{ db: workerDb, keyring: options.keyring ?? testKeyring, origin, lookEveryMs: 50 },
    log: pino({ level: "trace" }, { write: (line) => options.lines?.push(JSON.parse(line)) }),
    onFault: (fault) => faults.push(fault),
  });
  sequencer.start();
  t.after(() => sequencer.stop());
  return {
    stop: async () => {
      await sequencer.stop();
      assert.deepEqual(faults, []);
    },
  };
}

test("a sequencer that is killed between any two statements loses nothing, doubles nothing and forks nothing", async (t) => {
  const { id } = await makeWorkspace(db);
  const { rows } = await db.query<{ subject: string }>(
    "select subject from log_pending where workspace_id = $1",
    [id],
  );
  let expected = rows.length + 1;
  let signedBefore: number[] = [];
  let deaths = 0;
  do {
    await addFacts(id, 3);
    expected += 3;
    const trees = await auditLogs(db, id);
    const signed = trees[0]?.signed ?? [];
    assert.deepEqual(signed.slice(0, signedBefore.length), signedBefore);
    signedBefore = signed;
    deaths += 1;
    // Starts take longer than the work: every third place to die at. What went before moves them.
  } while (!(await sequence(3 * deaths)));
  t.diagnostic(`${deaths - 1} deaths`);
  assert.ok(deaths > 8);
  await Promise.all([sequence(), sequence()]);
  const tree = await treeOf(id);
  const made = tree.entries.filter(({ entry }) => entry.kind === "signing_key.made").length;
  assert.equal(tree.size, expected + made);
  assert.equal(new Set(tree.entries.map(({ subject }) => subject)).size, tree.size);
  assert.equal(tree.signed.at(-1), tree.size, "the head is signed");
  const whole = (await auditLogs(db)).find(({ workspaceId }) => workspaceId === null);
  assert.equal(whole?.signed.at(-1), whole?.size);
});

test("two sequencers that race over thousands of facts, and one that dies among them, make one tree", async (t) => {
  const { id } = await makeWorkspace(db);
  await sequenceAll(db);
  const before = (await treeOf(id)).size;
  await addFacts(id, 6_000);
  const began = performance.now();
  const [one, other, dead] = await Promise.all([sequence(), sequence(), sequence(170)]);
  t.diagnostic(`6,000 facts in ${Math.round(performance.now() - began)} ms, starts included`);
  assert.deepEqual([one, other], [true, true]);
  if (dead) t.diagnostic("the third was through before its death");
  await sequence();
  const tree = await treeOf(id);
  assert.equal(tree.size, before + 6_000);
  assert.equal(new Set(tree.entries.map(({ subject }) => subject)).size, tree.size);
  assert.equal(await countPending(id), 0);
  assert.equal(tree.signed.at(-1), tree.size);
  assert.ok(tree.signed.length > 10, "there were many checkpoints");
});

test("facts are in a signed checkpoint soon after they happened", async (t) => {
  const { id, key } = await makeWorkspace(db);
  const sequencer = new LogSequencer({
    ...{ db: workerDb, keyring: testKeyring, origin, log: pino({ level: "silent" }) },
    onFault: (fault) => assert.fail(String(fault)),
  });
  sequencer.start();
  for (let n = 0; n < 20; n += 1) {
    const created = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    assert.equal(created.status, 201);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await until(async () => (await countPending(id)) === 0 && (await headOf(id)).isSigned);
  await sequencer.stop();
  const { rows } = await db.query<{ ms: number }>(
    `select (extract(epoch from min(c.signed_at) - max(a.created_at)) * 1000)::int as ms
     from log_openings o
     join approvals a on a.id = o.approval_id and a.workspace_id = $1
     join log_checkpoints c on c.tree_id = o.tree_id and c.size > o.index
     group by o.index order by ms`,
    [id],
  );
  assert.equal(rows.length, 20);
  const ms = rows.map((row) => row.ms);
  t.diagnostic(`lag: median ${ms[10]} ms, longest ${ms.at(-1)} ms`);
});

test("a workspace that floods its log doesn't delay another's", async (t) => {
  const flood = await makeWorkspace(db);
  const other = await makeWorkspace(db);
  await sequenceAll(db);
  await addFacts(flood.id, 40_000);
  const sequencer = await makeSequencer(t);
  await until(async () => (await countPending(flood.id)) < 39_000);
  await service.call("POST", "/v1/requests", { key: other.key, body: minimalBody });
  await until(async () => (await countPending(other.id)) === 0);
  const left = await countPending(flood.id);
  await sequencer.stop();
  assert.ok(left > 5_000, `the other waited until ${left} of the flood were left`);
  assert.equal((await treeOf(other.id)).entries.at(-1)?.entry.kind, "request.created");
  await db.query("delete from log_pending where workspace_id = $1", [flood.id]);
});

test("several logs grow in one commit, new ones included, and none gets a fact of another", async () => {
  const made = [];
  for (let n = 0; n < 4; n += 1) made.push(await makeWorkspace(db));
  await sequenceAll(db);
  made.push(await makeWorkspace(db));
  for (const { id, key } of made) {
    await service.call("POST", "/v1/requests", { key, body: minimalBody });
    await addFacts(id, 3, id);
  }
  const owners = made.map(({ id }) => id).sort();
  const sequenced = await sequenceLogs({ db: workerDb, keyring: testKeyring, origin }, owners, 100);
  assert.deepEqual(sequenced.map(({ owner }) => owner).sort(), owners);
  for (const { id } of made) {
    assert.equal(await countPending(id), 0);
    const { entries } = await treeOf(id);
    const told = entries.filter(({ entry }) => entry.kind === "test.fact");
    assert.equal(told.length, 3);
    assert.ok(told.every(({ subject }) => subject?.startsWith(id)));
    assert.equal(entries.filter(({ entry }) => entry.kind === "request.created").length, 1);
  }
});

test("a head can't go back, change under its size, or move once it is closed", async () => {
  const { id } = await makeWorkspace(db);
  await sequenceAll(db);
  const tree = await treeOf(id);
  for (const change of [
    "size = size - 1",
    "root = sha256('another')",
    "origin = 'another'",
    "workspace_id = null",
  ]) {
    await assert.rejects(
      db.query(`update log_trees set ${change} where id = $1`, [tree.id]),
      /only grows/,
      change,
    );
  }
  assert.equal((await treeOf(id)).size, tree.size);
});

test("nothing is appended to a tree whose rows were changed", async () => {
  const { id } = await makeWorkspace(db);
  await sequenceAll(db);
  const tree = await treeOf(id);
  await addFacts(id, 1);
  const client = await db.connect();
  await client.query(
    "update log_entries set leaf_hash = sha256('x') where tree_id = $1 and index = 1",
    [tree.id],
  );
  await assert.rejects(sequenceLog({ db, keyring: testKeyring, origin }, id, 10), /was changed/);
  assert.equal(await countPending(id), 1);
  await client.query(
    "update log_entries set leaf_hash = sha256('\\x00'::bytea || entry::bytea) where tree_id = $1",
    [tree.id],
  );
  client.release();
  await sequenceAll(db);
  assert.equal((await treeOf(id)).size, tree.size + 1);
});

test("a head that is not the root of the log's entries is never signed, and holds up no other", async (t) => {
  const [forged, honest] = [await makeWorkspace(db), await makeWorkspace(db)];
  await sequenceAll(db);
  const [tree, other] = [await treeOf(forged.id), await treeOf(honest.id)];
  // A tree may grow, so the service's own role may say that it did.
  await servicePool.query(
    "update log_trees set size = size + 2000000000, root = sha256('forged') where id = $1",
    [tree.id],
  );
  await addFacts(honest.id, 1);
  await sequenceLog({ db, keyring: testKeyring, origin }, honest.id, 10);
  const signer = await currentSigner(db, testKeyring);
  assert.ok(signer !== null);
  await assert.rejects(
    signLogs({ db, keyring: testKeyring }, signer, [tree.id, other.id]),
    /was changed/,
  );
  assert.ok((await headOf(honest.id)).isSigned);
  assert.equal((await headOf(forged.id)).isSigned, false);
  const faults: string[] = [];
  const sequencer = new LogSequencer({
    ...{ db: workerDb, keyring: testKeyring, origin, lookEveryMs: 20 },
    log: pino({ level: "silent" }),
    onFault: (fault) => faults.push(String(fault)),
  });
  sequencer.start();
  t.after(() => sequencer.stop());
  await until(() => faults.some((fault) => fault.includes("was changed")));
  await addFacts(honest.id, 1);
  await until(
    async () => (await headOf(honest.id)).isSigned && (await countPending(honest.id)) === 0,
  );
  await sequencer.stop();
  assert.equal((await headOf(forged.id)).isSigned, false);
  // The operator opens the next log.
  await addFacts(forged.id, 1);
  const opened = await reopenLog(
    { db, keyring: testKeyring, origin },
    { workspaceId: forged.id, after: null },
  );
  assert.ok("opened" in opened);
  await sequenceAll(db);
  assert.ok((await headOf(forged.id)).isSigned);
  // The next tests read whole logs.
  await db.query("alter table log_trees disable trigger log_trees_only_grow");
  await db.query("update log_trees set size = $2, root = $3 where id = $1", [
    tree.id,
    tree.size,
    rootOfLeaves(tree.entries.map(({ text }) => leafOf(text))),
  ]);
  await db.query("alter table log_trees enable trigger log_trees_only_grow");
});

test("a head that nobody signed is signed by the next sequencer, though nothing new happens", async (t) => {
  const { id } = await makeWorkspace(db);
  await addFacts(id, 5);
  assert.notEqual(await sequenceLog({ db, keyring: testKeyring, origin }, id, 100), null);
  const unsigned = await treeOf(id);
  assert.deepEqual(unsigned.signed, []);
  const sequencer = await makeSequencer(t);
  await until(async () => (await headOf(id)).isSigned);
  await sequencer.stop();
});

test("while the signing key is missing facts wait, nothing is lost, and it is said once", async (t) => {
  const { id } = await makeWorkspace(db);
  await sequenceAll(db);
  const before = await treeOf(id);
  const another = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  const lines: Record<string, unknown>[] = [];
  const sequencer = await makeSequencer(t, { keyring: another, lines });
  const warnings = () => lines.filter(({ msg }) => String(msg).includes("the log waits"));
  await addFacts(id, 3);
  await until(() => warnings().length > 0);
  await addFacts(id, 1);
  await sequencer.stop();
  assert.equal(warnings().length, 1);
  assert.equal((await treeOf(id)).size, before.size);
  assert.equal(await countPending(id), 4);
  const next = await makeSequencer(t);
  await until(
    async () => (await headOf(id)).size === before.size + 4 && (await headOf(id)).isSigned,
  );
  await next.stop();
});

test("a log whose facts can't be read holds up no other", async () => {
  const { id, key } = await makeWorkspace(db);
  const broken = await makeWorkspace(db);
  await sequenceAll(db);
  const tree = await treeOf(broken.id);
  await addFacts(broken.id, 1);
  await db.query(
    "update log_entries set leaf_hash = sha256('x') where tree_id = $1 and index = 0",
    [tree.id],
  );
  const faults: unknown[] = [];
  const sequencer = new LogSequencer({
    ...{ db: workerDb, keyring: testKeyring, origin, lookEveryMs: 20 },
    log: pino({ level: "silent" }),
    onFault: (fault) => faults.push(fault),
  });
  sequencer.start();
  await until(() => faults.length > 0);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  await until(async () => (await countPending(id)) === 0);
  await sequencer.stop();
  assert.equal(faults.length, 1, "it isn't tried again at every look");
  await db.query(
    "update log_entries set leaf_hash = sha256('\\x00'::bytea || entry::bytea) where tree_id = $1",
    [tree.id],
  );
});

test("a log never takes an entry over from another owner's log", async () => {
  const [one, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  await sequenceAll(db);
  const { id: treeId, size } = await treeOf(one.id);
  const before = await treeOf(other.id);
  await servicePool.query(
    "insert into log_pending (workspace_id, source, subject) values ($1, 'c', $2)",
    [other.id, `${treeId}:${size - 1}`],
  );
  await sequenceAll(db);
  assert.equal(await countPending(other.id), 0);
  assert.equal((await treeOf(other.id)).size, before.size);
});
