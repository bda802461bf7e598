// Nobody who has only the database's connection, as the service has it, gets anything of their own signed: no entry, no
// head, no checkpoint, no log. SECRET_KEY seals what the service has added.

import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { after, test } from "node:test";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { checkpointBody, signNote } from "../src/domain/proof/note.ts";
import { thumbprintOf } from "../src/domain/proof/signing-key.ts";
import { mendLogs, reopenLog, resealLogs } from "../src/operations/proof/mend-logs.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { signLogs } from "../src/operations/proof/sign-log.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { listSecretKeyIds } from "../src/storage/deliveries/endpoints.ts";
import { auditLogs, leafOf, rootOfLeaves } from "./log-audit.ts";
import { makeWorkspace, startService, testKeyring, testPublicUrl } from "./test-service.ts";

const service = await startService();
after(() => service.stop());
const { db, servicePool } = service;
const parts = { db, keyring: testKeyring, origin: { publicUrl: testPublicUrl } };
const signer = (await currentSigner(db, testKeyring)) ?? assert.fail("there is no signer");

/** As somebody with the service's connection would. */
const write = (sql: string, values: unknown[] = []) => servicePool.query(sql, values);

const forgedText = '{"kind":"request.approved","forged":true}';

async function openLogOf(workspaceId: string | null) {
  const { rows } = await db.query<{ id: number; origin: string; size: number; root: Buffer }>(
    `select id, origin, size::int as size, root from log_trees
     where workspace_id is not distinct from $1 and closed_at is null`,
    [workspaceId],
  );
  return rows[0] ?? assert.fail("it has no log");
}

/** One log alone, because other tests leave logs that were changed. */
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

const addFact = (workspaceId: string) =>
  db.query(
    `insert into log_pending (workspace_id, source, subject, detail) values ($1, 'd', $2, '{"kind":"test.fact"}')`,
    [workspaceId, `fact_${randomBytes(4).toString("hex")}`],
  );

async function countPending(workspaceId: string): Promise<number> {
  const { rows } = await db.query("select from log_pending where workspace_id = $1", [workspaceId]);
  return rows.length;
}

/** An entry at the end of a log, with everything that belongs to it, and a head that is the root of all. */
async function forgeEntry({ id, size }: { id: number; size: number }) {
  await write(
    "insert into log_entries (tree_id, index, entry, leaf_hash) values ($1, $2, $3, $4)",
    [id, size, forgedText, leafOf(forgedText)],
  );
  await write(
    `insert into log_openings (tree_id, index, subject, approval_id, salt, fact)
     values ($1, $2, 'forged', null, sha256('salt'), '{}')`,
    [id, size],
  );
  return { root: await rootOf(id, size + 1), size: size + 1 };
}

async function rootOf(treeId: number, size: number): Promise<Buffer> {
  const { rows } = await db.query<{ entry: string }>(
    "select entry from log_entries where tree_id = $1 and index < $2 order by index",
    [treeId, size],
  );
  return rootOfLeaves(rows.map(({ entry }) => leafOf(entry)));
}

async function signedSizes(treeId: number): Promise<number[]> {
  const { rows } = await db.query<{ size: number }>(
    "select size::int as size from log_checkpoints where tree_id = $1 order by size",
    [treeId],
  );
  return rows.map(({ size }) => size);
}

async function entriesOf(workspaceId: string | null): Promise<string[]> {
  const { rows } = await db.query<{ entry: string }>(
    `select e.entry from log_entries e join log_trees t on t.id = e.tree_id
     where t.workspace_id is not distinct from $1 and e.index < t.size`,
    [workspaceId],
  );
  return rows.map(({ entry }) => entry);
}

test("an entry of somebody else's is never signed, nothing is built on it, and the next log doesn't have it", async () => {
  const log = await makeLog();
  const forged = await forgeEntry(log);
  await write("update log_trees set size = $2, root = $3 where id = $1", [
    log.id,
    forged.size,
    forged.root,
  ]);
  await addFact(log.workspaceId);
  const { treeIds } = await mendLogs(parts);
  assert.ok(treeIds.includes(log.id), "its head waits for a signature");
  await assert.rejects(signLogs(parts, signer, treeIds), /was changed/);
  await assert.rejects(sequenceLog(parts, log.workspaceId, 10), /was changed/);
  assert.ok(!(await signedSizes(log.id)).includes(forged.size));
  assert.equal(await countPending(log.workspaceId), 1, "the fact waits for the operator");
  // Neither an older seal nor the one of another log will do.
  const other = await makeLog();
  await write(
    `update log_trees t set seal = o.seal, sealed_by = o.sealed_by
     from log_trees o where t.id = $1 and o.id = $2`,
    [log.id, other.id],
  );
  await assert.rejects(sequenceLog(parts, log.workspaceId, 10), /was changed/);
  const reopened = await reopenLog(parts, { workspaceId: log.workspaceId, after: null });
  assert.ok("opened" in reopened);
  await sequence(log.workspaceId);
  const next = await openLogOf(log.workspaceId);
  assert.equal(next.size, 2, "its opening, and the fact that waited");
  assert.equal((await signedSizes(next.id)).at(-1), 2);
});

test("what lies behind a log's head is carried into none", async () => {
  const log = await makeLog();
  await forgeEntry(log);
  const queue = () =>
    write("insert into log_pending (workspace_id, source, subject) values ($1, 'c', $2)", [
      log.workspaceId,
      `${log.id}:${log.size}`,
    ]);
  await queue();
  await sequence(log.workspaceId);
  await write("update log_trees set closed_at = now_ms() where id = $1", [log.id]);
  await queue();
  await sequence(log.workspaceId);
  assert.ok(!(await entriesOf(log.workspaceId)).includes(forgedText));
  const next = await openLogOf(log.workspaceId);
  assert.ok(next.id !== log.id);
  assert.equal(next.size, 1, "its opening alone");
});

test("a log that somebody else opens neither grows nor is signed", async () => {
  const log = await makeLog();
  await write("update log_trees set closed_at = now_ms() where id = $1", [log.id]);
  const { rows } = await write(
    `insert into log_trees (workspace_id, origin, home, root)
     select workspace_id, origin || '/2', home, sha256('') from log_trees where id = $1 returning id`,
    [log.id],
  );
  await addFact(log.workspaceId);
  await assert.rejects(sequenceLog(parts, log.workspaceId, 10), /was changed/);
  const id = rows[0]?.id as number;
  const forged = await forgeEntry({ id, size: 0 });
  await write("update log_trees set size = $2, root = $3 where id = $1", [
    id,
    forged.size,
    forged.root,
  ]);
  await assert.rejects(sequenceLog(parts, log.workspaceId, 10), /was changed/);
  await assert.rejects(signLogs(parts, signer, [id]), /was changed/);
  assert.deepEqual(await signedSizes(id), []);
});

test("a checkpoint that no key of the service has signed is nowhere in the installation's log", async () => {
  const log = await makeLog();
  const forged = await forgeEntry(log);
  const body = checkpointBody({ origin: log.origin, ...forged });
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const own = Buffer.from(x, "base64url");
  // A key of their own beside the service's, retired, so that nothing is signed with it.
  await write(
    `insert into signing_keys (id, public_key, secret_key_id, sealed, created_at, retired_at)
     select $1, $2, secret_key_id, sealed, now_ms(), now_ms() from signing_keys limit 1`,
    [thumbprintOf(own), own],
  );
  const notes = {
    unsigned: `${body}\n`,
    theirs: signNote(body, log.origin, {
      publicKey: own,
      sign: (bytes) => sign(null, bytes, privateKey),
    }),
    "another's name": signNote(body, "elsewhere.example/log", signer),
  };
  for (const [which, note] of Object.entries(notes)) {
    const size = forged.size + Object.keys(notes).indexOf(which);
    await write(
      `insert into log_checkpoints (tree_id, size, note, signing_key_id)
       select $1, $2, $3, id from signing_keys limit 1`,
      [log.id, size, note],
    );
    await write("insert into log_pending (workspace_id, source, subject) values ('', 'k', $1)", [
      `${log.id}:${size}`,
    ]);
  }
  const before = await entriesOf(null);
  await sequence("");
  assert.equal(await countPending(""), 0);
  const added = (await entriesOf(null)).slice(before.length);
  assert.deepEqual(
    added.filter((entry) => entry.includes(log.origin)),
    [],
  );
});

const another = (): Keyring => {
  const keyring = parseKeyring(randomBytes(32).toString("base64"));
  return keyring ?? assert.fail("32 bytes are a key");
};

test("a head is sealed anew with the newest key, and the older one is needed no longer", async () => {
  const log = await makeLog();
  const newest = another();
  const both: Keyring = { current: newest.current, all: [...newest.all, ...testKeyring.all] };
  assert.deepEqual(await resealLogs({ db, keyring: testKeyring }), []);
  // Another log is no longer ours: that is told, and holds up none.
  const changed = await makeLog();
  await addFact(changed.workspaceId);
  await sequenceLog(parts, changed.workspaceId, 10);
  await write("update log_trees set seal = sha256('x') where id = $1", [changed.id]);
  const faults = await resealLogs({ db, keyring: both });
  assert.deepEqual(
    faults.map(({ cause }) => String(cause).includes(changed.origin)),
    [true],
  );
  const { rows } = await db.query("select sealed_by from log_trees where id = $1", [log.id]);
  assert.equal(rows[0]?.sealed_by, newest.current.id);
  assert.ok((await listSecretKeyIds(db)).includes(newest.current.id));
  await addFact(log.workspaceId);
  const grown = await sequenceLog({ ...parts, keyring: both }, log.workspaceId, 10);
  assert.equal(grown?.count, 1);
  // A process that has not heard of the newest key waits for the checkpoint.
  await addFact(log.workspaceId);
  const lacksIt = sequenceLog(parts, log.workspaceId, 10);
  await assert.rejects(lacksIt, new RegExp(`lacks the key ${newest.current.id}`));
  assert.equal(await signLogs({ db, keyring: both }, signer, [log.id]), 1);
  assert.equal((await sequenceLog(parts, log.workspaceId, 10))?.count, 1);
  await auditLogs(db, log.workspaceId);
});

test("after the loss of a key the log goes on under the next name", async () => {
  const log = await makeLog();
  const lost = another();
  const both: Keyring = { current: lost.current, all: [...lost.all, ...testKeyring.all] };
  await addFact(log.workspaceId);
  assert.equal((await sequenceLog({ ...parts, keyring: both }, log.workspaceId, 10))?.count, 1);
  await addFact(log.workspaceId);
  const keyring = { ...testKeyring, lost: [lost.current.id] };
  assert.equal((await sequenceLog({ ...parts, keyring }, log.workspaceId, 10))?.count, 1);
  const next = await openLogOf(log.workspaceId);
  assert.equal(next.origin, `${log.origin}/2`);
  const [, audited] = await auditLogs(db, log.workspaceId);
  assert.match(String(audited?.entries[0]?.fact.previous), new RegExp(`^${log.origin}\\n`));
});
