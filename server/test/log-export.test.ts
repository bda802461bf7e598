// The log as a file: everything is in it, it is streamed, and only owners and admins take it.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import type { ExportSource } from "../../sdk/src/export/tools.ts";
import { verifyExport } from "../../sdk/src/export/verify-export.ts";
import { openNote, parseCheckpoint } from "../src/domain/proof/note.ts";
import {
  append,
  emptyFrontier,
  isIncluded,
  leafHash,
  rootOf,
  rootOver,
} from "../src/domain/proof/tree.ts";
import { exportLog } from "../src/operations/proof/export-log.ts";
import * as activity from "../src/storage/workspaces/activity.ts";
import { until } from "./patience.ts";
import { fromOurPage, makeMember, signIn } from "./test-dashboard.ts";
import { makeFolder } from "./test-log.ts";
import { LogRows } from "./test-log-rows.ts";
import { assertRefused, environmentOn, runCommand, runProcess } from "./test-program.ts";
import { decide, findReviewer } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { startWorker } from "./test-worker.ts";

const service = await startService();
const { db, servicePool, app } = service;
after(() => service.stop());

const run = (...words: string[]) => runCommand(environmentOn(service.database.url), words);

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines whose shape they check themselves
type Line = any;

async function exported(workspaceId: string, format: "jsonl" | "csv" = "jsonl"): Promise<string> {
  let text = "";
  for await (const piece of exportLog(servicePool, { workspaceId, format })) text += piece;
  return text;
}

async function linesOf(workspaceId: string): Promise<Line[]> {
  const text = await exported(workspaceId);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function ofType(lines: Line[], type: string): Line[] {
  return lines.filter((line) => line.type === type);
}

/** An entry of a request's fact, in the form of the sequencer's. */
function entryOf(kind: string, approvalId: string, more: object = {}) {
  const at = "2026-11-18T12:00:00.000Z";
  const entry = { v: 1, kind, id: `evt_${kind}`, at, request: approvalId, salted: {} };
  const fact = JSON.stringify({ kind, request: approvalId, at, ...more });
  return { entry: JSON.stringify(entry), approvalId, fact };
}

async function ask(key: string, body: object = {}): Promise<string> {
  const reply = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, ...body },
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

async function approve(id: string, more: object = {}): Promise<void> {
  const { token } = await findReviewer(db, id);
  const reply = await decide(app, token, { verdict: "approve", ...more });
  assert.equal(reply.status, 200, reply.text);
}

test("the file holds keys, checkpoints, tiles, entries with openings and today's rows, and its tree is the signed one", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  const text = '{"amount": 9007199254740993, "a":1.10}';
  const body = `{"summary":"Pay","notify":"ann@example.com","payload":${text}}`;
  const created = await service.call("POST", "/v1/requests", { key, body });
  const id = created.json.id as string;
  const many = Array.from({ length: 600 }, (_, at) => `{"v":1,"kind":"filler","id":"${at}"}`);
  await log.grow(...many);
  await log.add([entryOf("request.created", id)]);
  await approve(id);
  const note = await log.add([entryOf("request.approved", id, { by: "ann@example.com" })]);
  const lines = await linesOf(workspaceId);
  const [start] = ofType(lines, "export");
  assert.deepEqual(
    [start.v, start.workspace, start.origin, start.size],
    [1, workspaceId, log.origin, 602],
  );
  assert.equal(lines[0], start);
  assert.deepEqual(ofType(lines, "end"), [lines.at(-1)]);
  assert.deepEqual(lines.at(-1), { type: "end", entries: 602, requests: 1, later: 0 });
  const [jwk] = ofType(lines, "key");
  assert.equal(jwk.kty, "OKP");
  assert.equal(jwk.retiredAt, null);
  assert.deepEqual(ofType(lines, "tree"), [
    { type: "tree", origin: log.origin, size: 602, previous: null },
  ]);
  const checkpoints = ofType(lines, "checkpoint");
  assert.equal(checkpoints.length, 3);
  assert.equal(checkpoints[2].note, note);
  // The tree anew, from the file alone.
  const entries = ofType(lines, "entry");
  assert.deepEqual(
    entries.map(({ index }) => index),
    Array.from({ length: 602 }, (_, at) => at),
  );
  const leaves = entries.map(({ entry }) => leafHash(Buffer.from(entry)));
  const root = rootOf(append(emptyFrontier, leaves).frontier);
  assert.deepEqual(parseCheckpoint(openNote(note, [await log.key()]) ?? "")?.root, root);
  const tiles = ofType(lines, "tile");
  assert.deepEqual(
    tiles.map(({ level, index, hashes }) => [level, index, hashes.length]),
    [
      [0, 0, 256],
      [0, 1, 256],
      [0, 2, 90],
      [1, 0, 2],
    ],
  );
  const decode = (hashes: string[]) => hashes.map((hash) => Buffer.from(hash, "base64url"));
  assert.deepEqual(decode(tiles[1].hashes), leaves.slice(256, 512));
  assert.deepEqual(decode(tiles[3].hashes)[1], rootOver(leaves.slice(256, 512)));
  assert.equal(Buffer.from(entries[601].salt, "base64url").length, 32);
  assert.equal(JSON.parse(entries[601].fact).kind, "request.approved");
  const [request] = ofType(lines, "request");
  assert.deepEqual(
    { ...request, resolvedAt: typeof request.resolvedAt },
    {
      type: "request",
      id,
      status: "APPROVED",
      payload: text,
      effective: text,
      resolvedAt: "string",
      by: ["ann@example.com"],
      receipt: request.receipt,
      logged: true,
    },
  );
});

test("a request that the signed log does not know yet is left to the next file, and counted", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  const before = await ask(key);
  await log.grow('{"v":1,"kind":"log.opened","id":"1"}');
  const [known, decided, later] = [await ask(key), await ask(key), await ask(key)];
  await log.add([entryOf("request.created", known), entryOf("request.created", decided)]);
  await approve(decided);
  const lines = await linesOf(workspaceId);
  const requests = new Map(ofType(lines, "request").map((line) => [line.id, line]));
  assert.deepEqual([...requests.keys()].toSorted(), [before, known].toSorted());
  assert.equal(requests.get(before).logged, false);
  assert.equal(requests.get(known).status, "PENDING");
  assert.equal(lines.at(-1).later, 2);
  await log.add([entryOf("request.approved", decided), entryOf("request.created", later)]);
  const next = await linesOf(workspaceId);
  assert.equal(ofType(next, "request").length, 4);
  assert.equal(next.at(-1).later, 0);
});

test("a decision that the database's owner turned around is in the file, and not left to the next one", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  await log.grow('{"v":1,"kind":"log.opened","id":"1"}');
  const id = await ask(key);
  const { token } = await findReviewer(db, id);
  assert.equal((await decide(app, token, { verdict: "reject" })).status, 200);
  await log.add([entryOf("request.created", id), entryOf("request.rejected", id)]);
  await db.query("alter table approvals disable trigger user");
  await db.query("update approvals set status = 'APPROVED' where id = $1", [id]);
  await db.query("alter table approvals enable trigger user");
  const lines = await linesOf(workspaceId);
  assert.deepEqual(
    ofType(lines, "request").map(({ status }) => status),
    ["APPROVED"],
  );
  assert.equal(lines.at(-1).later, 0);
});

test("a decision of which the log will never hear is in the file, and not left to the next one", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  await log.grow('{"v":1,"kind":"log.opened","id":"1"}');
  const [decided, created] = [await ask(key), await ask(key)];
  await log.add([entryOf("request.created", decided)]);
  await approve(decided);
  assert.equal((await linesOf(workspaceId)).at(-1).later, 2);
  // The service's role may take facts out of the queue.
  await servicePool.query("delete from log_pending where workspace_id = $1", [workspaceId]);
  const lines = await linesOf(workspaceId);
  assert.deepEqual(
    new Map(ofType(lines, "request").map(({ id, status, logged }) => [id, [status, logged]])),
    new Map([
      [decided, ["APPROVED", false]],
      [created, ["PENDING", false]],
    ]),
  );
  const { findings } = await verified(lines, []);
  const found = findings.map(({ code, request }) => [code, request]);
  assert.ok(found.some(([code, request]) => code === "request_differs" && request === decided));
  assert.ok(found.some(([code]) => code === "request_unknown"));
});

test("entries of a deleted request have no opening, in both formats", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  const [gone, kept] = [await ask(key), await ask(key)];
  await log.add([
    entryOf("request.created", gone, { summary: "a secret of the deleted" }),
    entryOf("request.created", kept, { email: "ann@example.com" }),
  ]);
  await db.query("delete from log_openings where approval_id = $1", [gone]);
  const entries = ofType(await linesOf(workspaceId), "entry");
  assert.deepEqual(
    entries.map(({ salt, fact }) => [salt === null, fact === null]),
    [
      [true, true],
      [false, false],
    ],
  );
  const csv = await exported(workspaceId, "csv");
  const rows = csv.trimEnd().split("\r\n");
  assert.equal(rows.length, 3);
  assert.match(rows[1] ?? "", /"\(deleted\)",""$/);
  assert.match(rows[2] ?? "", /"ann@example\.com"/);
  assert.doesNotMatch(csv, /a secret of the deleted/);
});

test("no cell of the CSV is a formula", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  const fact = JSON.stringify({ kind: "=cmd()", email: "=HYPERLINK(1)", note: "a;=1+1\n@x" });
  const entry = JSON.stringify({ v: 1, kind: "=cmd()", id: "1", at: "2026-11-18T12:00:00.000Z" });
  await log.add([{ entry, approvalId: null, fact }]);
  const [, row = ""] = (await exported(workspaceId, "csv")).trimEnd().split("\r\n");
  assert.doesNotMatch(row, /(^|,)"[=+\-@\t]/);
  assert.match(row, /"'=cmd\(\)"/);
  assert.match(row, /"'=HYPERLINK\(1\)"/);
  assert.doesNotMatch(row, /;=1/);
});

test("a workspace without a log has a file, too, and an unknown one has none", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const lines = await linesOf(workspaceId);
  assert.deepEqual([lines[0].origin, lines[0].size], [null, 0]);
  assert.equal(lines.at(-1).type, "end");
  assertRefused(await run("log", "export", "--workspace", "ws_none", "--out", "x"), /ws_none/);
});

test("owners and admins take it on the dashboard, nobody else does, and the activity says so", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  await log.grow('{"v":1,"kind":"log.opened","id":"1"}');
  const take = async (role: "owner" | "admin" | "viewer", query: string, headers = fromOurPage) => {
    const email = `${role}@${workspaceId.replaceAll("_", "-")}.example`;
    await makeMember(db, { workspaceId, email, role }).catch(() => {});
    const cookie = await signIn(service, email);
    const url = `/app/api/workspaces/${workspaceId}/log/export${query}`;
    return app.inject({ method: "GET", url, headers: { ...headers, cookie } });
  };
  const mine = await take("owner", "?format=jsonl");
  assert.equal(mine.statusCode, 200);
  assert.match(String(mine.headers["content-disposition"]), /filename="log-[-\d]+\.jsonl"/);
  assert.equal(JSON.parse(mine.body.split("\n")[0] ?? "").type, "export");
  assert.equal((await take("admin", "?format=csv")).statusCode, 200);
  assert.equal((await take("viewer", "?format=csv")).statusCode, 403);
  assert.equal((await take("admin", "?format=xml")).statusCode, 400);
  const foreign = { ...fromOurPage, "sec-fetch-site": "cross-site" };
  assert.equal((await take("admin", "?format=csv", foreign)).statusCode, 403);
  const noted = (await activity.list(db, { workspaceId, beforeId: null, limit: 20 })).filter(
    ({ action }) => action === "log.exported",
  );
  assert.deepEqual(
    noted.map(({ subject }) => subject),
    ["CSV", "JSON Lines"],
  );
});

/** What the verifier says of such a file. */
function verified(lines: readonly Line[], checkpoints: readonly string[]) {
  const texts = lines.map((line) => JSON.stringify(line));
  const source: ExportSource = async function* ({ start, isWanted }) {
    yield texts.filter((text) => text.startsWith(start) === isWanted);
  };
  return verifyExport(source, { checkpoints });
}

test("the real log of a request is in the file: each fact opens its entry, and the installation's log holds its checkpoint", async () => {
  const own = await startService();
  const { stop } = startWorker(own.database);
  try {
    const { id: workspaceId, key } = await makeWorkspace(own.db);
    const body = { ...minimalBody, payload: { amount: 49 } };
    const id = (await own.call("POST", "/v1/requests", { key, body })).json.id as string;
    const { token } = await findReviewer(own.db, id);
    const verdict = { verdict: "approve", edit: '{"amount":48}' } as const;
    assert.equal((await decide(own.app, token, verdict)).status, 200);
    const lines = await until(async () => {
      let text = "";
      const wanted = { workspaceId, format: "jsonl" } as const;
      for await (const piece of exportLog(own.servicePool, wanted)) text += piece;
      const found: Line[] = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      const isWhole = found.at(-1).later === 0 && ofType(found, "installation").length === 1;
      return isWhole && ofType(found, "request")[0]?.status === "APPROVED" ? found : null;
    });
    const entries = ofType(lines, "entry");
    for (const { entry, salt, fact } of entries) {
      const mac = createHmac("sha256", Buffer.from(salt, "base64url")).update("fact\0");
      assert.equal(JSON.parse(entry).salted.fact, mac.update(fact).digest("base64url"));
    }
    const [request] = ofType(lines, "request");
    assert.deepEqual(
      [request.payload, request.effective, request.by, request.logged],
      ['{"amount":49}', '{"amount":48}', [minimalBody.notify], true],
    );
    const approved = entries.find(({ entry }) => JSON.parse(entry).kind === "request.approved");
    const mac = createHmac("sha256", Buffer.from(approved.salt, "base64url")).update("effective\0");
    const { effective } = JSON.parse(approved.entry).salted;
    assert.equal(effective, mac.update(request.effective).digest("base64url"));
    const [installed] = ofType(lines, "installation")[0].entries;
    const { checkpoint } = ofType(lines, "installation")[0];
    const [, hashLines = ""] = /\nindex \d+\n([\s\S]*?)\n?\n\n/.exec(`${installed.proof}`) ?? [];
    const signed = parseCheckpoint(checkpoint.slice(0, checkpoint.indexOf("\n\n") + 1));
    const proof = hashLines.split("\n").filter((line) => line !== "");
    const isThere = isIncluded({
      index: installed.index,
      size: signed?.size ?? 0,
      leaf: leafHash(Buffer.from(installed.entry)),
      proof: proof.map((line) => Buffer.from(line, "base64")),
      root: signed?.root ?? Buffer.alloc(0),
    });
    assert.ok(isThere);
    const named = JSON.parse(installed.fact).body as string;
    assert.ok(ofType(lines, "checkpoint").some(({ note }) => note.startsWith(named)));
    const kept = ofType(lines, "checkpoint").at(-1).note as string;
    const report = await verified(lines, [kept]);
    assert.deepEqual(report.findings, []);
    assert.equal(report.isValid, true);
    assert.deepEqual([report.counts.entries, report.counts.requests], [entries.length, 1]);
    const changed = lines.map((line) =>
      line.type === "request" ? { ...line, effective: '{"amount":480}' } : line,
    );
    assert.equal((await verified(changed, [kept])).isValid, false);
    const without = lines.filter((line) => line.index !== 1 || line.type !== "entry");
    assert.equal((await verified(without, [kept])).isValid, false);
  } finally {
    await stop();
    await own.stop();
  }
});

test("100,000 facts are written in the memory of a few", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const log = new LogRows(db, workspaceId);
  await log.grow('{"v":1,"kind":"log.opened","id":"1"}');
  const count = 100_000;
  // As if much was written since PostgreSQL has looked: a plan over whole tables would take minutes.
  for (const table of ["log_entries", "log_openings"]) {
    await db.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await db.query(`analyze ${table}`);
  }
  // Only the tree's hashes are made up: nobody signs it, the checkpoint just names the size.
  for (let from = 0; from < count; from += 5_000) {
    await db.query(
      `with entry as (
         insert into log_entries (tree_id, index, entry, leaf_hash)
         select $1, n, '{"v":1,"kind":"filler","id":"' || n || '","at":"2026-11-18T12:00:00.000Z"}', sha256(n::text::bytea)
         from generate_series($2::bigint, $3::bigint) n
       )
       insert into log_openings (tree_id, index, subject, salt, fact)
       select $1, n, 's' || n, sha256(n::text::bytea),
         '{"kind":"filler","email":"ann@example.com","note":"' || repeat('x', 700) || '"}'
       from generate_series($2::bigint, $3::bigint) n`,
      [log.treeId, Math.max(from, 1), from + 4_999],
    );
  }
  await db.query("update log_trees set size = $2 where id = $1", [log.treeId, count]);
  await db.query(
    `insert into log_checkpoints (tree_id, size, note, signing_key_id)
     select tree_id, $2, note, signing_key_id from log_checkpoints where tree_id = $1 limit 1`,
    [log.treeId, count],
  );
  const out = join(makeFolder(), "log.jsonl");
  // The file is more than twice as large as all the memory that the program may take, and 28 MB are enough for it.
  const environment = {
    ...environmentOn(service.database.url),
    NODE_OPTIONS: "--max-old-space-size=40",
  };
  const outcome = await runProcess(environment, [
    ...["log", "export", "--workspace", workspaceId, "--out", out],
  ]);
  assert.deepEqual([outcome.code, outcome.stderr], [0, ""]);
  assert.ok(statSync(out).size > 90_000_000);
  let [entries, last] = [0, ""];
  for await (const line of createInterface({ input: createReadStream(out) })) {
    if (line.startsWith('{"type":"entry"')) entries += 1;
    last = line;
  }
  assert.equal(entries, count);
  assert.equal(JSON.parse(last).type, "end");
});
