// The logs over HTTP, as C2SP tlog-tiles says: read by a small reader of its own that knows the specification and nothing
// of the service. And the proof of a decision.

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { readRequestProof } from "../src/operations/proof/request-proof.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { auditLogs, leafOf, nodeOf, rootOfLeaves, sequenceAll } from "./log-audit.ts";
import {
  makeWorkspace,
  minimalBody,
  startService,
  testKeyring,
  testPublicUrl,
} from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { app, db } = service;
after(() => service.stop());
const { ask, vote } = makeVoters(service);

async function get(path: string, { key, ...headers }: Record<string, string> = {}) {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const reply = await app.inject({ url: path, headers: { ...authorization, ...headers } });
  return { status: reply.statusCode, headers: reply.headers, body: reply.rawPayload };
}

/** Reads a whole log: the checkpoint, all tiles that it needs, all entries; and checks each against the others. */
async function readLog(prefix: string, key?: string) {
  const headers = key === undefined ? {} : { key };
  const checkpoint = await get(`${prefix}/checkpoint`, headers);
  assert.equal(checkpoint.status, 200, checkpoint.body.toString());
  assert.equal(checkpoint.headers["content-type"], "text/plain; charset=utf-8");
  const [origin, sizeText = "", root] = checkpoint.body.toString().split("\n");
  const size = Number(sizeText);
  const tiles: Buffer[][] = [];
  for (let level = 0; Math.floor(size / 256 ** level) > 0; level += 1) {
    tiles.push(await readLevel(prefix, level, { count: Math.floor(size / 256 ** level), headers }));
  }
  const entries = await readEntries(prefix, { size, headers });
  const [leaves = []] = tiles;
  assert.deepEqual(leaves, entries.map(leafOf));
  for (const [level, hashes] of tiles.entries()) {
    const below = tiles[level - 1];
    if (below === undefined) continue;
    const full = hashes.map((_, at) => rootOfLeaves(below.slice(at * 256, (at + 1) * 256)));
    assert.deepEqual(hashes, full);
  }
  assert.equal(rootOfLeaves(leaves).toString("base64"), root);
  return { origin, size, entries: entries.map((entry) => JSON.parse(entry.toString())), leaves };
}

type Reading = { headers: Record<string, string> };

async function readLevel(
  prefix: string,
  level: number | "entries",
  { count, headers }: Reading & { count: number },
  split = (bytes: Buffer) =>
    Array.from({ length: bytes.length / 32 }, (_, at) => bytes.subarray(at * 32, at * 32 + 32)),
): Promise<Buffer[]> {
  const found: Buffer[] = [];
  while (found.length < count) {
    const index = found.length / 256;
    const width = Math.min(256, count - found.length);
    const digits = String(index).padStart(3, "0");
    const partial = width === 256 ? "" : `.p/${width}`;
    const tile = await get(`${prefix}/tile/${level}/${digits}${partial}`, headers);
    assert.equal(tile.status, 200, `${level}/${digits}${partial}`);
    assert.equal(tile.headers["content-type"], "application/octet-stream");
    assert.match(String(tile.headers["cache-control"]), /max-age=31536000, immutable/);
    const parts = split(tile.body);
    assert.equal(parts.length, width);
    found.push(...parts);
  }
  return found;
}

function readEntries(prefix: string, { size, headers }: Reading & { size: number }) {
  return readLevel(prefix, "entries", { count: size, headers }, (bytes) => {
    const entries: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = bytes.readUInt16BE(at);
      entries.push(bytes.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
    return entries;
  });
}

async function addFacts(workspaceId: string, count: number): Promise<void> {
  await db.query(
    `insert into log_pending (workspace_id, source, subject, detail)
     select $1, 'd', 'fact_' || n, '{"kind":"test.fact"}' from generate_series(1, $2::int) as n`,
    [workspaceId, count],
  );
}

test("a workspace's log is read whole by its own key, at every size, full tiles and partial ones", async () => {
  const { id, key } = await makeWorkspace(db);
  for (const count of [1, 250, 3, 256, 700]) {
    await addFacts(id, count);
    await sequenceAll(db);
    const { origin, size } = await readLog(`/log/${id}`, key);
    assert.equal(origin, `approvals.example/countersign/log/${id}`);
    assert.equal(size, (await auditLogs(db, id))[0]?.size);
  }
  // The same behind a proxy that leaves the base path.
  assert.equal((await get(`/countersign/log/${id}/checkpoint`, { key })).status, 200);
});

test("the installation's log is read whole by anybody", async () => {
  const { origin, entries } = await readLog("/log");
  assert.equal(origin, "approvals.example/countersign/log");
  assert.equal(entries[0].kind, "log.opened");
  assert.equal(entries[1].kind, "checkpoint");
  const { headers } = await get("/log/tile/0/000.p/1");
  assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  assert.match(String((await get("/log/checkpoint")).headers["cache-control"]), /no-cache/);
});

test("a workspace's log is nobody else's", async () => {
  const one = await makeWorkspace(db);
  const other = await makeWorkspace(db);
  await sequenceAll(db);
  for (const path of ["checkpoint", "tile/0/000.p/1", "tile/entries/000.p/1"]) {
    assert.equal((await get(`/log/${one.id}/${path}`, { key: one.key })).status, 200);
    const { headers } = await get(`/log/${one.id}/${path}`, { key: one.key });
    assert.match(String(headers["cache-control"]), /^private/);
    assert.equal((await get(`/log/${one.id}/${path}`, { key: other.key })).status, 404);
    assert.equal((await get(`/log/${one.id}/${path}`)).status, 401);
    assert.equal((await get(`/log/ws_unknown/${path}`, { key: one.key })).status, 404);
    const stranger = one.key.replace(/.{4}$/, "0000");
    assert.equal((await get(`/log/${one.id}/${path}`, { key: stranger })).status, 401);
  }
});

test("what tlog-tiles doesn't name, and what no checkpoint covers, is not found", async () => {
  const { id, key } = await makeWorkspace(db);
  await addFacts(id, 300);
  await sequenceAll(db);
  const { size } = await readLog(`/log/${id}`, key);
  const rest = size - 256;
  // More entries, which are committed and not signed.
  await addFacts(id, 20);
  await sequenceLog({ db, keyring: testKeyring, origin: { publicUrl: testPublicUrl } }, id, 100);
  const status = async (path: string) => (await get(`/log/${id}/tile/${path}`, { key })).status;
  assert.equal(await status("0/000"), 200);
  assert.equal(await status("0/000.p/7"), 200, "a part of a full tile");
  assert.equal(await status(`0/001.p/${rest}`), 200);
  for (const path of [
    "0/001",
    `0/001.p/${rest + 1}`,
    `entries/001.p/${rest + 1}`,
    "0/002.p/1",
    "1/000",
    "1/000.p/2",
    "2/000.p/1",
    "0/0",
    "0/000.p/0",
    "0/000.p/256",
    "0/x000/000",
    "00/000",
    "64/000",
    "data/000",
    "0/000/..",
    "0/%2e%2e/000",
    "entries/x001/x000/000",
  ]) {
    assert.equal(await status(path), 404, path);
  }
  for (const path of ["/log", "/log/", `/log/${id}`, "/log/0/checkpoint", "/log/1/checkpoint"]) {
    assert.equal((await get(path, { key })).status, 404, path);
  }
  assert.equal((await get(`/log/${id}/01/checkpoint`, { key })).status, 404);
});

test("bundles of entries are compressed for callers who can take it", async () => {
  const { id, key } = await makeWorkspace(db);
  await addFacts(id, 300);
  await sequenceAll(db);
  const plain = await get(`/log/${id}/tile/entries/000`, { key });
  const packed = await get(`/log/${id}/tile/entries/000`, { key, "accept-encoding": "gzip" });
  assert.equal(packed.headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(packed.body), plain.body);
});

/** Reads a tlog-proof by the words of its specification. */
function readProof(text: string) {
  const [head = "", ...rest] = text.split("\n\n");
  const [version, extraLine = "", indexLine = "", ...hashes] = head.split("\n");
  assert.equal(version, "c2sp.org/tlog-proof@v1");
  const extra = JSON.parse(Buffer.from(extraLine.replace(/^extra /, ""), "base64").toString());
  const index = Number(indexLine.replace(/^index /, ""));
  const checkpoint = rest.join("\n\n");
  const [origin, size, root] = checkpoint.split("\n");
  const reached = rootFrom(index, Number(size), leafOf(extra.entry), [
    ...hashes.map((hash) => Buffer.from(hash, "base64")),
  ]);
  assert.equal(reached.toString("base64"), root, "the proof leads to the checkpoint's root");
  return { extra, origin, checkpoint, entry: JSON.parse(extra.entry) };
}

function rootFrom(index: number, size: number, leaf: Buffer, proof: Buffer[]): Buffer {
  if (size === 1) {
    assert.equal(proof.length, 0);
    return leaf;
  }
  let half = 1;
  while (half * 2 < size) half *= 2;
  const sibling = proof.pop() ?? assert.fail("the proof is too short");
  return index < half
    ? nodeOf(rootFrom(index, half, leaf, proof), sibling)
    : nodeOf(sibling, rootFrom(index - half, size - half, leaf, proof));
}

test("a decision has a proof once a checkpoint covers it, and the checkpoint one in the installation's log", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const other = await makeWorkspace(db);
  const { id } = await ask(key, minimalBody);
  const path = `/v1/requests/${id}/log-proof`;
  assert.equal((await get(path, { key })).status, 404);
  await vote(id, minimalBody.notify, { note: "fine" });
  await addFacts(workspaceId, 500);
  await sequenceLog(
    { db, keyring: testKeyring, origin: { publicUrl: testPublicUrl } },
    workspaceId,
    1_000,
  );
  assert.equal((await get(path, { key })).status, 404, "it isn't signed yet");
  await addFacts(workspaceId, 500);
  await sequenceAll(db);
  const reply = await get(path, { key });
  assert.equal(reply.status, 200, reply.body.toString());
  assert.equal(reply.headers["content-type"], "text/plain; charset=utf-8");
  const proof = readProof(reply.body.toString());
  assert.equal(proof.entry.kind, "request.approved");
  assert.equal(proof.entry.request, id);
  assert.equal(proof.origin, `approvals.example/countersign/log/${workspaceId}`);
  const salted = createHmac("sha256", Buffer.from(proof.extra.salt, "base64url"))
    .update(`fact\0${proof.extra.fact}`)
    .digest("base64url");
  assert.equal(proof.entry.salted.fact, salted);
  assert.equal(JSON.parse(proof.extra.fact).note, "fine");
  assert.equal((await get(path, { key: other.key })).status, 404);
  assert.equal((await get(path)).status, 401);
  const bundle = await readRequestProof(
    { db, origin: { publicUrl: testPublicUrl } },
    { workspaceId, approvalId: id },
  );
  assert.deepEqual(
    bundle?.entries.map(({ entry }) => JSON.parse(entry).kind),
    ["request.created", "request.approved"],
  );
  assert.equal(proof.extra.installation, bundle?.installation?.proof);
  const whole = readProof(bundle?.installation?.proof ?? "");
  assert.equal(whole.origin, "approvals.example/countersign/log");
  const label = createHash("sha256").update(`countersign log\0${proof.origin}`);
  assert.equal(whole.entry.id, label.digest("base64url"), "found by the origin, by nothing else");
  const { body } = JSON.parse(whole.extra.fact);
  assert.ok(bundle?.checkpoint.startsWith(`${body}\n`));
  assert.equal(readProof(bundle?.proof ?? "").checkpoint, bundle?.checkpoint);
});

test("cosignatures of witnesses stand below the checkpoint", async () => {
  const { rows } = await db.query<{ tree_id: number; size: string }>(
    `select c.tree_id, c.size from log_checkpoints c join log_trees t on t.id = c.tree_id
     where t.workspace_id is null order by c.size desc limit 1`,
  );
  const [newest] = rows;
  const line = "— witness.example AAAAAAAA";
  await db.query(
    "insert into log_cosignatures (tree_id, size, witness, line) values ($1, $2, 'witness.example', $3)",
    [newest?.tree_id, newest?.size, line],
  );
  const { body } = await get("/log/checkpoint");
  assert.ok(body.toString().endsWith(`\n${line}\n`));
});
