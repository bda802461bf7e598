// Logs under test: runs a sequencer's turns without its clock, and audits every tree of a database by a second writing
// of RFC 6962 and of the notes, which shares nothing with the first.

import assert from "node:assert/strict";
import { createHash, createHmac, createPublicKey, verify } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../src/database/database.ts";
import type { Keyring } from "../src/domain/access/keyring.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { signLogs } from "../src/operations/proof/sign-log.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { listOwners } from "../src/storage/proof/log-pending.ts";
import { testKeyring, testPublicUrl } from "./test-service.ts";

/** Moves everything that waits into the logs, and signs. */
export async function sequenceAll(
  db: Database,
  {
    keyring = testKeyring,
    publicUrl = testPublicUrl,
    batch = 4_096,
  }: { keyring?: Keyring; publicUrl?: string; batch?: number } = {},
): Promise<void> {
  const parts = { db, keyring, origin: { publicUrl } };
  const signer = await currentSigner(db, keyring);
  for (;;) {
    const owners = await listOwners(db, { after: null, limit: 10_000 });
    if (owners.length === 0) return;
    let isIdle = true;
    for (const owner of owners) {
      const sequenced = await sequenceLog(parts, owner, batch);
      if (sequenced === null) continue;
      isIdle = false;
      if (signer !== null) await signLogs(parts, signer, [sequenced.treeId]);
    }
    // Another process is at them.
    if (isIdle) await pause(20);
  }
}

export type AuditedTree = {
  id: number;
  workspaceId: string | null;
  origin: string;
  isClosed: boolean;
  size: number;
  entries: AuditedEntry[];
  /** The sizes that were signed. */
  signed: number[];
};

export type AuditedEntry = {
  index: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into entries
  entry: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into facts
  fact: any;
  salt: Buffer | null;
  subject: string | null;
};

const sha256 = (...parts: (Buffer | string)[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The root over the first `size` leaves, from the bottom up. */
export function rootOfLeaves(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256("");
  let row = [...leaves];
  while (row.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at < row.length; at += 2) {
      const [left, right] = [row[at] as Buffer, row[at + 1]];
      above.push(right === undefined ? left : sha256(Buffer.from([1]), left, right));
    }
    row = above;
  }
  return row[0] as Buffer;
}

export const leafOf = (text: string | Buffer) => sha256(Buffer.from([0]), text);
export const nodeOf = (left: Buffer, right: Buffer) => sha256(Buffer.from([1]), left, right);

/** Reads every tree, or those of a workspace, and holds each to all that a log promises. */
export async function auditLogs(
  db: Database,
  workspaceId: string | null = null,
): Promise<AuditedTree[]> {
  const { rows: trees } = await db.query(
    `select id, workspace_id, origin, size, root, closed_at from log_trees
     where $1::text is null or workspace_id = $1 order by id`,
    [workspaceId],
  );
  const { rows: keys } = await db.query("select id, public_key from signing_keys");
  const audited: AuditedTree[] = [];
  for (const tree of trees) audited.push(await auditTree(db, tree, keys));
  return audited;
}

// biome-ignore lint/suspicious/noExplicitAny: rows as PostgreSQL gives them
async function auditTree(db: Database, tree: any, keys: any[]): Promise<AuditedTree> {
  const entries = await readEntries(db, tree.id);
  const size = Number(tree.size);
  assert.deepEqual(
    entries.map(({ index }) => index),
    Array.from({ length: size }, (_, at) => at),
    `${tree.origin} has each index once`,
  );
  const leaves = entries.map(({ text }) => leafOf(text));
  assert.deepEqual(rootOfLeaves(leaves), tree.root, `${tree.origin} has the root of its entries`);
  await auditNodes(db, tree.id, leaves);
  const { rows: checkpoints } = await db.query(
    "select size, note, signing_key_id from log_checkpoints where tree_id = $1 order by size",
    [tree.id],
  );
  for (const { size: signed, note, signing_key_id: keyId } of checkpoints) {
    const root = rootOfLeaves(leaves.slice(0, Number(signed)));
    const body = `${tree.origin}\n${signed}\n${root.toString("base64")}\n`;
    assert.equal(note.slice(0, body.length), body, "a checkpoint is of the beginning of the tree");
    auditSignature(note, { body, origin: tree.origin, key: keys.find(({ id }) => id === keyId) });
  }
  for (const each of entries) auditOpening(each);
  return {
    id: tree.id,
    workspaceId: tree.workspace_id,
    origin: tree.origin,
    isClosed: tree.closed_at !== null,
    size,
    entries,
    signed: checkpoints.map(({ size: signed }) => Number(signed)),
  };
}

async function readEntries(db: Database, treeId: number): Promise<AuditedEntry[]> {
  const { rows } = await db.query(
    `select e.index, e.entry, e.leaf_hash, o.fact, o.salt, o.subject from log_entries e
     left join log_openings o on o.tree_id = e.tree_id and o.index = e.index
     where e.tree_id = $1 order by e.index`,
    [treeId],
  );
  return rows.map((row) => {
    assert.deepEqual(row.leaf_hash, leafOf(row.entry));
    assert.ok(Buffer.byteLength(row.entry) < 65_536);
    return {
      index: Number(row.index),
      text: row.entry,
      entry: JSON.parse(row.entry),
      fact: row.fact === null ? null : { text: row.fact, ...JSON.parse(row.fact) },
      salt: row.salt,
      subject: row.subject,
    };
  });
}

async function auditNodes(db: Database, treeId: number, leaves: Buffer[]): Promise<void> {
  const { rows } = await db.query(
    "select level, index, hash from log_nodes where tree_id = $1 order by level, index",
    [treeId],
  );
  const expected: { level: number; index: string; hash: Buffer }[] = [];
  let below = leaves;
  for (let level = 1; below.length >= 256; level += 1) {
    const row: Buffer[] = [];
    for (let at = 0; at + 256 <= below.length; at += 256) {
      row.push(rootOfLeaves(below.slice(at, at + 256)));
    }
    expected.push(...row.map((hash, at) => ({ level, index: String(at), hash })));
    below = row;
  }
  assert.deepEqual(rows, expected);
}

function auditSignature(
  note: string,
  { body, origin, key }: { body: string; origin: string; key: { public_key: Buffer } },
): void {
  const line = note.slice(body.length);
  const match = /^\n— (\S+) (\S+)\n$/.exec(line);
  assert.ok(match, `a note has one line of ours: ${JSON.stringify(line)}`);
  assert.equal(match[1], origin);
  const bytes = Buffer.from(match[2] ?? "", "base64");
  const id = sha256(`${origin}\n`, Buffer.from([1]), key.public_key).subarray(0, 4);
  assert.deepEqual(bytes.subarray(0, 4), id);
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.public_key.toString("base64url") };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  assert.ok(verify(null, Buffer.from(body), publicKey, bytes.subarray(4)));
}

/** Whoever has the fact and its salt can check the entry. */
function auditOpening({ entry, fact, salt, text }: AuditedEntry): void {
  if (fact === null || salt === null) return;
  const salted = (field: string, bytes: string) =>
    createHmac("sha256", salt).update(`${field}\0${bytes}`).digest("base64url");
  if (entry.kind === "checkpoint") {
    assert.equal(entry.salted.checkpoint, salted("checkpoint", fact.body), text);
  } else {
    assert.equal(entry.salted.fact, salted("fact", fact.text), text);
  }
  assert.equal(fact.kind, entry.kind);
  assert.ok(fact.text.startsWith(`{"kind":${JSON.stringify(entry.kind)}`));
}
