// After a restore from a backup a log goes on under another name, and names the last checkpoint that it knows of.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { openDatabase } from "../src/database/database.ts";
import { openNote, parseVerifierKey } from "../src/domain/proof/note.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { mendLogs } from "../src/operations/proof/mend-logs.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { auditLogs, sequenceAll } from "./log-audit.ts";
import { makeTestDatabase, testDatabaseUrl, withDatabase } from "./test-database.ts";
import { environmentOn, runCommand } from "./test-program.ts";
import {
  makeWorkspace,
  minimalBody,
  startNode,
  startService,
  testKeyring,
  testPublicUrl,
} from "./test-service.ts";

const folder = mkdtempSync(join(tmpdir(), "cs-log-"));
after(() => rmSync(folder, { recursive: true }));
const origin = { publicUrl: testPublicUrl };

async function asAdministrator(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: testDatabaseUrl() });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

test("a database that was restored elsewhere opens the next log, and carries what no checkpoint covered", async () => {
  const database = await makeTestDatabase();
  const service = await startNode(database);
  const { id, key } = await makeWorkspace(service.db);
  await sequenceAll(service.db);
  const [before] = await auditLogs(service.db, id);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  // The backup is made between commit and signature.
  assert.equal(
    (await sequenceLog({ db: service.db, keyring: testKeyring, origin }, id, 10))?.count,
    1,
  );
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const from = new URL(database.url).pathname.slice(1);
  const name = `${from}_restored`;
  await service.stop();
  await asAdministrator(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}' and backend_type = 'client backend'`,
  );
  await asAdministrator(`create database ${name} template ${from}`);
  const connection = { connectionString: withDatabase(testDatabaseUrl(), name) };
  const db = openDatabase({ connection, connectionsMax: 4, onIdleFault: () => {} });
  try {
    await sequenceAll(db);
    const [old, next, ...more] = await auditLogs(db, id);
    assert.equal(more.length, 0);
    assert.ok(old?.isClosed);
    assert.deepEqual(old?.signed, before?.signed, "the old log signs nothing more");
    assert.equal(next?.origin, `${old?.origin}/2`);
    assert.equal(next?.signed.at(-1), next?.size);
    const [opened, carried, created] = next?.entries ?? [];
    const { rows } = await db.query<{ note: string }>(
      "select note from log_checkpoints where tree_id = $1 order by size desc limit 1",
      [old?.id],
    );
    assert.equal(opened?.fact.kind, "log.opened");
    assert.equal(opened?.fact.previous, rows[0]?.note);
    assert.equal(carried?.text, old?.entries.at(-1)?.text, "the entry that was never signed");
    assert.equal(created?.entry.kind, "request.created");
    const whole = (await auditLogs(db)).filter(({ workspaceId }) => workspaceId === null);
    assert.deepEqual(
      whole.map((tree) => [tree.origin, tree.isClosed]),
      [
        ["approvals.example/countersign/log", true],
        ["approvals.example/countersign/log/2", false],
      ],
    );
    await sequenceAll(db);
    assert.equal((await auditLogs(db, id)).length, 2, "it happens once");
  } finally {
    await db.end();
    await asAdministrator(`drop database ${name} with (force)`);
    await database.drop();
  }
});

test("the key by which a witness knows the log is told before there is a witness, and anew after a rotation", async () => {
  const service = await startService();
  after(() => service.stop());
  const { db, database } = service;
  const environment = { ...environmentOn(database.url), PUBLIC_URL: testPublicUrl };
  const run = (...words: string[]) => runCommand(environment, words);
  const keyShown = async () => {
    const { stdout } = await run("log", "status");
    const [, vkey = ""] = /--log (\S+)/.exec(stdout) ?? [];
    const [log] = JSON.parse((await run("log", "status", "--json")).stdout);
    assert.equal(log.verifierKey, vkey, stdout);
    const key = parseVerifierKey(vkey);
    assert.ok(key !== null);
    return key;
  };
  assert.doesNotMatch((await run("log", "status")).stdout, /--log/);
  const { id } = await makeWorkspace(db);
  await sequenceAll(db);
  const first = await keyShown();
  const checkpoint = async () => (await service.app.inject({ url: "/log/checkpoint" })).body;
  assert.ok(openNote(await checkpoint(), [first]) !== null);
  const rotated = await run("receipt-key", "rotate");
  assert.match(rotated.stdout, /witnesses need the log's new key: countersign log status/i);
  await addMember(db, { workspaceId: id, email: "ann@example.com", role: "viewer" });
  await sequenceAll(db);
  assert.equal(openNote(await checkpoint(), [first]), null);
  assert.ok(openNote(await checkpoint(), [await keyShown()]) !== null);
});

test("the operator reopens a log by hand, after a checkpoint that somebody has kept, and looks at all of them", async () => {
  const service = await startService();
  after(() => service.stop());
  const { db, database } = service;
  const { id, key } = await makeWorkspace(db);
  await sequenceAll(db);
  const environment = { ...environmentOn(database.url), PUBLIC_URL: testPublicUrl };
  const run = (...words: string[]) => runCommand(environment, ["log", ...words]);
  const { rows } = await db.query<{ note: string }>(
    `select c.note from log_checkpoints c join log_trees t on t.id = c.tree_id
     where t.workspace_id = $1 order by c.size desc limit 1`,
    [id],
  );
  const kept = join(folder, "checkpoint");
  writeFileSync(kept, rows[0]?.note ?? "");
  const forged = join(folder, "forged");
  writeFileSync(forged, (rows[0]?.note ?? "").replace(/\n(\d+)\n/, "\n999\n"));
  const refused = await run("reopen", "--workspace", id, "--after", forged);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /holds no checkpoint of .* that a key of this service has signed/);
  assert.match((await run("reopen", "--after", join(folder, "none"))).stderr, /can't be read/);
  const reopened = await run("reopen", "--workspace", id, "--after", kept, "--json");
  assert.equal(reopened.code, 0, reopened.stderr);
  const { closed, opened } = JSON.parse(reopened.stdout);
  assert.equal(opened, `${closed}/2`);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const waiting = JSON.parse((await run("status", "--json")).stdout);
  const log = waiting.find((each: { origin: string }) => each.origin === opened);
  assert.deepEqual([log.size, log.checkpoint, log.waiting], [1, null, 1]);
  assert.ok(log.lagMs >= 0 && log.lagMs < 600_000);
  await sequenceAll(db);
  const [, next] = await auditLogs(db, id);
  assert.equal(next?.entries[0]?.fact.previous, rows[0]?.note);
  assert.equal(next?.entries[1]?.entry.kind, "request.created");
  const shown = await run("status");
  assert.match(shown.stdout, /LOG +ENTRIES +CHECKPOINT +SIGNED +WAITING +LAG/);
  assert.match(shown.stdout, new RegExp(`log/${id} \\(closed\\)`));
  const get = async (path: string) =>
    (await service.app.inject({ url: path, headers: { authorization: `Bearer ${key}` } })).body;
  assert.ok((await get(`/log/${id}/checkpoint`)).startsWith(`${closed}\n`), "at its own address");
  assert.ok((await get(`/log/${id}/2/checkpoint`)).startsWith(`${opened}\n2\n`));
});

test("a log that can't be reopened keeps no other from it, and is named", async () => {
  const service = await startService();
  after(() => service.stop());
  const { db } = service;
  const [stuck, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  await sequenceAll(db);
  await db.query("update log_trees set home = 'elsewhere:1:1' where closed_at is null");
  // The name of the next one is taken.
  await db.query(
    `insert into log_trees (workspace_id, origin, home, root, closed_at)
     select workspace_id, origin || '/3', home, root, now() from log_trees where workspace_id = $1`,
    [stuck.id],
  );
  const { treeIds, faults } = await mendLogs({ db, keyring: testKeyring, origin });
  const openOf = async (workspaceId: string) => {
    const { rows } = await db.query<{ id: number; origin: string }>(
      "select id, origin from log_trees where workspace_id = $1 and closed_at is null",
      [workspaceId],
    );
    return rows[0] ?? assert.fail("it has no log");
  };
  const [left, next] = [await openOf(stuck.id), await openOf(other.id)];
  assert.match(next.origin, /\/2$/);
  assert.ok(treeIds.includes(next.id) && !treeIds.includes(left.id));
  assert.deepEqual(
    faults.map(({ message }) => message.includes(left.origin)),
    [true],
  );
});
