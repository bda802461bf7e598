// Whatever somebody writes into the log's tables with the service's connection, no fact of ours is lost without a word:
// the log says that it was changed, or goes on with everything. Neither does an honest upgrade or rotation hold it up.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { mendLogs, reopenLog, resealLogs } from "../src/operations/proof/mend-logs.ts";
import { sequenceLog, sequenceLogs } from "../src/operations/proof/sequence-log.ts";
import { signLogs } from "../src/operations/proof/sign-log.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { auditLogs } from "./log-audit.ts";
import { makeWorkspace, startService, testKeyring, testPublicUrl } from "./test-service.ts";

const service = await startService();
after(() => service.stop());
const { db, servicePool } = service;
const parts = { db, keyring: testKeyring, origin: { publicUrl: testPublicUrl } };
const signer = (await currentSigner(db, testKeyring)) ?? assert.fail("there is no signer");

/** As somebody with the service's connection would. */
const write = (sql: string, values: unknown[] = []) => servicePool.query(sql, values);

async function openLogOf(workspaceId: string | null) {
  const { rows } = await db.query<{ id: number; origin: string; size: number }>(
    `select id, origin, size::int as size from log_trees
     where workspace_id is not distinct from $1 and closed_at is null`,
    [workspaceId],
  );
  return rows[0] ?? assert.fail("it has no log");
}

async function sequence(owner: string): Promise<void> {
  for (;;) {
    const sequenced = await sequenceLog(parts, owner, 100);
    if (sequenced === null) return;
    await signLogs(parts, signer, [sequenced.treeId]);
  }
}

async function makeLog() {
  const { id } = await makeWorkspace(db);
  await sequence(id);
  return { workspaceId: id, ...(await openLogOf(id)) };
}

async function addFact(workspaceId: string, more: Record<string, unknown> = {}): Promise<string> {
  const subject = `fact_${randomBytes(4).toString("hex")}`;
  await write(
    "insert into log_pending (workspace_id, source, subject, detail) values ($1, 'd', $2, $3)",
    [workspaceId, subject, { kind: "test.fact", ...more }],
  );
  return subject;
}

const queue = (owner: string, source: "c" | "k", subject: string) =>
  write("insert into log_pending (workspace_id, source, subject) values ($1, $2, $3)", [
    ...[owner, source, subject],
  ]);

const keepCheckpoint = (treeId: number, size: number, note: string) =>
  write(
    "insert into log_checkpoints (tree_id, size, note, signing_key_id) values ($1, $2, $3, $4)",
    [treeId, size, note, signer.id],
  );

async function noteOf(treeId: number, size: number): Promise<string> {
  const { rows } = await db.query<{ note: string }>(
    "select note from log_checkpoints where tree_id = $1 and size = $2",
    [treeId, size],
  );
  return rows[0]?.note ?? assert.fail("it is not signed");
}

async function countPending(owner: string): Promise<number> {
  const { rows } = await db.query("select from log_pending where workspace_id = $1", [owner]);
  return rows.length;
}

/** The entries of the newest log, audited as a whole. */
async function newestOf(workspaceId: string) {
  const newest = (await auditLogs(db, workspaceId)).at(-1) ?? assert.fail("it has no log");
  const [first, ...others] = newest.entries;
  return { previous: first?.fact.previous, subjects: others.map(({ subject }) => subject) };
}

const another = (): Keyring =>
  parseKeyring(randomBytes(32).toString("base64")) ?? assert.fail("32 bytes are a key");

test("a checkpoint of somebody else's in the place of ours is told, and loses nothing", async () => {
  const log = await makeLog();
  const last = await noteOf(log.id, log.size);
  await keepCheckpoint(log.id, log.size + 1, "theirs\n");
  await keepCheckpoint(log.id, log.size + 1_000, "theirs\n");
  const fact = await addFact(log.workspaceId);
  await sequenceLog(parts, log.workspaceId, 10);
  await assert.rejects(signLogs(parts, signer, [log.id]), /was changed/);
  await db.query("delete from log_checkpoints where tree_id = $1 and note = 'theirs'", [log.id]);
  const reopened = await reopenLog(parts, { workspaceId: log.workspaceId, after: null });
  assert.ok("opened" in reopened);
  await sequence(log.workspaceId);
  await db.query("delete from log_checkpoints where note = E'theirs\\n'");
  assert.deepEqual(await newestOf(log.workspaceId), { previous: last, subjects: [fact] });
});

test("a head that another process has signed is no fault", async () => {
  const log = await makeLog();
  await addFact(log.workspaceId);
  await sequenceLog(parts, log.workspaceId, 10);
  const counts = await Promise.all([
    signLogs(parts, signer, [log.id]),
    signLogs(parts, signer, [log.id]),
  ]);
  assert.equal(counts[0] + counts[1], 1);
});

test("a log that somebody closes goes on with everything that was not signed", async () => {
  const log = await makeLog();
  const last = await noteOf(log.id, log.size);
  const unsigned = await addFact(log.workspaceId);
  await sequenceLog(parts, log.workspaceId, 10);
  await write("update log_trees set closed_at = now_ms() where id = $1", [log.id]);
  const later = await addFact(log.workspaceId);
  await sequence(log.workspaceId);
  const newest = await newestOf(log.workspaceId);
  assert.equal(newest.previous, last);
  assert.deepEqual(newest.subjects.toSorted(), [unsigned, later].toSorted());
});

test("the operator opens the next log also where somebody has closed the last one", async () => {
  const log = await makeLog();
  await write("update log_trees set closed_at = now_ms() where id = $1", [log.id]);
  await write(
    `insert into log_trees (workspace_id, origin, home, root, closed_at)
     select workspace_id, origin || '/2', home, sha256(''), now_ms() from log_trees where id = $1`,
    [log.id],
  );
  const fact = await addFact(log.workspaceId);
  await assert.rejects(sequenceLog(parts, log.workspaceId, 10), /was changed/);
  assert.equal(await countPending(log.workspaceId), 1);
  const reopened = await reopenLog(parts, { workspaceId: log.workspaceId, after: null });
  assert.ok("opened" in reopened);
  await sequence(log.workspaceId);
  assert.deepEqual((await newestOf(log.workspaceId)).subjects, [fact]);
});

test("a name that somebody has taken is told, until the database's owner gives it back", async () => {
  const [log, other] = [await makeLog(), await makeLog()];
  await write(
    `insert into log_trees (workspace_id, origin, home, root, closed_at)
     select workspace_id, $2, home, root, now_ms() from log_trees where id = $1`,
    [other.id, `${log.origin}/2`],
  );
  const wanted = { workspaceId: log.workspaceId, after: null };
  await assert.rejects(reopenLog(parts, wanted), /somebody has put one of that name/);
  assert.equal((await openLogOf(log.workspaceId)).id, log.id);
  await db.query("delete from log_trees where origin = $1", [`${log.origin}/2`]);
  assert.ok("opened" in (await reopenLog(parts, wanted)));
});

test("processes that open the same logs at the same time make one each, and none of them fails", async () => {
  const made = await Promise.all(Array.from({ length: 12 }, () => makeWorkspace(db)));
  const ids = made.map(({ id }) => id).toSorted();
  await Promise.all(Array.from({ length: 4 }, () => sequenceLogs(parts, ids, 10)));
  for (const id of ids) assert.equal((await openLogOf(id)).origin.endsWith(id), true);
});

test("what somebody writes behind a log's head is told as such", async () => {
  const log = await makeLog();
  await write(
    "insert into log_entries (tree_id, index, entry, leaf_hash) values ($1, $2, 'theirs', sha256('theirs'))",
    [log.id, log.size],
  );
  await addFact(log.workspaceId);
  await assert.rejects(sequenceLog(parts, log.workspaceId, 10), /was changed/);
  assert.equal(await countPending(log.workspaceId), 1);
});

test("a checkpoint of one log stands for no other in the installation's", async () => {
  const [log, other] = [await makeLog(), await makeLog()];
  await sequence("");
  const { size } = await openLogOf(null);
  const note = await noteOf(other.id, other.size);
  await keepCheckpoint(log.id, log.size + 1, note);
  await keepCheckpoint(other.id, other.size + 1, note);
  await queue("", "k", `${log.id}:${log.size + 1}`);
  await queue("", "k", `${other.id}:${other.size + 1}`);
  await sequence("");
  assert.equal(await countPending(""), 0);
  assert.equal((await openLogOf(null)).size, size);
});

test("entries that are carried over wait for a process that can tell whose they are", async () => {
  const log = await makeLog();
  const newest = another();
  const both: Keyring = { current: newest.current, all: [...newest.all, ...testKeyring.all] };
  const fact = await addFact(log.workspaceId);
  await sequenceLog({ ...parts, keyring: both }, log.workspaceId, 10);
  const moved = { ...parts, keyring: both };
  assert.ok("opened" in (await reopenLog(moved, { workspaceId: log.workspaceId, after: null })));
  const next = await openLogOf(log.workspaceId);
  assert.equal(await signLogs({ db, keyring: both }, signer, [next.id]), 1);
  await assert.rejects(sequenceLog(parts, log.workspaceId, 10), /lacks the key/);
  await sequenceLog(moved, log.workspaceId, 10);
  assert.deepEqual((await newestOf(log.workspaceId)).subjects, [fact]);
});

test("heads from before seals are sealed at the start, signed ones only", async () => {
  const logs = await Promise.all(Array.from({ length: 3 }, makeLog));
  const ids = logs.map(({ id }) => id);
  const [, , unsigned = assert.fail()] = logs;
  await addFact(unsigned.workspaceId);
  await sequenceLog(parts, unsigned.workspaceId, 10);
  await db.query("update log_trees set seal = null, sealed_by = null where id = any ($1)", [ids]);
  assert.deepEqual(await resealLogs({ db, keyring: testKeyring }), []);
  const { rows } = await db.query<{ sealed_by: string | null }>(
    "select sealed_by from log_trees where id = any ($1) order by id = $2, id",
    [ids, unsigned.id],
  );
  const { id: own } = testKeyring.current;
  assert.deepEqual(
    rows.map((row) => row.sealed_by),
    [own, own, null],
  );
  // The other is told by the worker, every time it looks, and says to the operator what is left behind.
  assert.ok((await mendLogs(parts)).treeIds.includes(unsigned.id));
  const reopened = await reopenLog(parts, { workspaceId: unsigned.workspaceId, after: null });
  assert.equal("leftBehind" in reopened && reopened.leftBehind, 1);
});

test("the last checkpoint is named also where SECRET_KEY no longer opens the key that signed it", async () => {
  const log = await makeLog();
  const last = await noteOf(log.id, log.size);
  // The signing key was sealed with testKeyring, which was rotated out since. The head was sealed anew.
  const newest = another();
  const both: Keyring = { current: newest.current, all: [...newest.all, ...testKeyring.all] };
  await resealLogs({ db, keyring: both });
  const rotated = { ...parts, keyring: newest };
  const reopened = await reopenLog(rotated, { workspaceId: log.workspaceId, after: null });
  assert.ok("opened" in reopened);
  assert.equal(reopened.leftBehind, 0);
  assert.equal(await countPending(log.workspaceId), 0, "nothing is carried twice");
  assert.equal((await newestOf(log.workspaceId)).previous, last);
});

test("a fact with a date that nobody can believe holds up no log, and dates no entry", async () => {
  const { workspaceId } = await makeLog();
  for (const at of ["never", "+275760-09-13T00:00:00.000Z", "2999-01-01T00:00:00.000Z"])
    await addFact(workspaceId, { at });
  await sequence(workspaceId);
  assert.equal(await countPending(workspaceId), 0);
  const audited = (await auditLogs(db, workspaceId)).at(-1) ?? assert.fail();
  const soon = new Date(Date.now() + 60_000).toISOString();
  for (const { entry } of audited.entries) assert.ok(entry.at <= soon, entry.at);
});
