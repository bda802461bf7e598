// A synchronous standby that doesn't answer: what was not replicated is not acknowledged, and leaves nothing behind.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { inTransaction, type Transaction } from "../src/database/database.ts";
import { NotReplicated } from "../src/database/database-client.ts";
import {
  type EmbeddedPostgres,
  useEmbeddedPostgres,
} from "../src/database/embedded-postgres/embedded-postgres.ts";
import { findReplicated } from "../src/operations/find-replicated.ts";
import * as approvalResolution from "../src/storage/approvals/approval-resolution.ts";
import { migrateAsOwner } from "../src/storage/service-rights.ts";
import { until } from "./patience.ts";
import { decisionBody, findReviewer, openReview, postReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, startNode, type TestNode } from "./test-service.ts";
import { asSuperuser, letOwnerWatch } from "./test-superuser.ts";

let folder: string;
let postgres: EmbeddedPostgres;
let node: TestNode;
let key: string;
const lines: Record<string, unknown>[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "cs-standby-"));
  const log = { info: () => {}, warn: () => {} };
  const started = await useEmbeddedPostgres({ dataDir: folder, purpose: "command", log });
  assert.ok(!("inUseBy" in started));
  postgres = started;
  const { connection, ownerConnection } = postgres;
  await migrateAsOwner(ownerConnection, connection.user);
  await asSuperuser(folder, connection, letOwnerWatch);
  node = await startNode(
    { connection: ownerConnection, serviceConnection: connection },
    {
      shortOutageMs: 60_000,
      logDestination: { write: (line) => void lines.push(JSON.parse(line)) },
    },
  );
  ({ key } = await makeWorkspace(node.db));
});
after(async () => {
  await setStandby("");
  await node.stop();
  await postgres.release();
  await rm(folder, { recursive: true });
});

/** Commits wait for a standby of this name. There is none. An empty name lets all of them go on. */
async function setStandby(name: string): Promise<void> {
  const sql = `alter system set synchronous_standby_names = '${name}'`;
  await asSuperuser(folder, postgres.connection, sql, "select pg_reload_conf()");
  // Each process reads it in its own time.
  await until(async () => {
    const { rows } = await node.db.query<{ names: string }>(
      "select current_setting('synchronous_standby_names') as names",
    );
    return rows[0]?.names === name;
  }, "the setting");
  if (name !== "") await until(doesCommitWait, "a commit to wait");
}

/** A session may know of the standby before PostgreSQL makes commits wait for it. */
async function doesCommitWait(): Promise<boolean> {
  const { host, port, user, password, database } = postgres.ownerConnection;
  const probe = new pg.Client({ host, port, user, password, database });
  await probe.connect();
  try {
    const { rows } = await probe.query<{ pid: number }>("select pg_backend_pid() as pid");
    const isWaiting = async () => {
      const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
        where wait_event = 'SyncRep' and pid = $1`;
      return (await node.db.query(cancel, [rows[0]?.pid])).rowCount === 1;
    };
    let isOver = false;
    const commit = probe.query("select pg_logical_emit_message(true, 'probe', '')");
    const committed = commit.finally(() => (isOver = true));
    let hasWaited = false;
    const waited = async () => (hasWaited = await isWaiting());
    await until(async () => (await waited()) || isOver, "the probe to wait or to end");
    await committed;
    return hasWaited;
  } finally {
    await probe.end();
  }
}

/** Commits that wait, except the note that a key was used: it is part of no call, and comes once a minute. */
const waitingSql =
  "from pg_stat_activity where wait_event = 'SyncRep' and query not like '%update api_keys%'";

async function countWaiting(): Promise<number> {
  const { rows } = await node.db.query<{ n: number }>(`select count(*)::int as n ${waitingSql}`);
  return rows[0]?.n ?? 0;
}

/** Ends waits as an administrator does, or the time limit of a session. */
async function cancelWaits(): Promise<void> {
  await until(async () => (await countWaiting()) > 0, "a commit to wait for the standby");
  await node.db.query(`select pg_cancel_backend(pid) ${waitingSql}`);
}

const create = (idempotencyKey: string) =>
  node.call("POST", "/v1/requests", {
    key,
    body: minimalBody,
    headers: { "idempotency-key": idempotencyKey },
  });

test("a create whose wait for the standby was cancelled is 503, and the retry finds the one request", async () => {
  await setStandby("nobody");
  const creating = create("cancelled");
  await cancelWaits();
  const reply = await creating;
  assert.deepEqual([reply.status, reply.json.error?.code], [503, "unavailable"], reply.text);
  assert.ok(lines.some(({ msg }) => /standby did not confirm/.test(String(msg))));
  // The row is there by now, and may still be lost with the primary: a retry waits for the standby, too.
  const retrying = create("cancelled");
  await cancelWaits();
  assert.equal((await retrying).status, 503);
  await setStandby("");
  const again = await create("cancelled");
  assert.equal(again.status, 201, again.text);
  const { json } = await node.call("GET", "/v1/requests", { key });
  assert.equal(json.data.filter(({ id }: { id: string }) => id === again.json.id).length, 1);
});

test("a transaction whose wait for the standby was cancelled is not taken for done", async () => {
  await setStandby("nobody");
  const renaming = inTransaction(node.servicePool, (tx) =>
    tx.query("update workspaces set name = name"),
  );
  renaming.catch(() => {});
  await cancelWaits();
  await assert.rejects(renaming, NotReplicated);
  await setStandby("");
  assert.equal((await create("afterwards")).status, 201);
});

/** The session ends without a word while its commit waits, and the next one may wait, too, until no standby is needed. */
async function cutWhileWaiting<Reply>(call: () => Promise<Reply>): Promise<Reply> {
  await setStandby("nobody");
  const calling = call();
  await until(async () => (await countWaiting()) > 0, "a commit to wait for the standby");
  await node.db.query(`select pg_terminate_backend(pid) ${waitingSql}`);
  await setStandby("");
  return calling;
}

async function countOf(table: "events" | "evidence", id: string): Promise<number> {
  const { rows } = await node.db.query<{ n: number }>(
    `select count(*)::int as n from ${table} where approval_id = $1`,
    [id],
  );
  return rows[0]?.n ?? 0;
}

test("a session that ends while its commit waits fails no create under a key, no decision and no cancel", async () => {
  const made = await cutWhileWaiting(() => create("cut"));
  assert.equal(made.status, 201, made.text);
  assert.equal((await create("cut")).json.id, made.json.id);
  for (const verdict of ["approve", "reject"] as const) {
    const { json } = await create(`to ${verdict}`);
    const { token } = await findReviewer(node.db, json.id);
    const body = decisionBody(await openReview(node.app, token), { verdict });
    const decided = await cutWhileWaiting(() => postReview(node.app, `${token}/decision`, body));
    assert.equal(decided.status, 200, decided.text);
    assert.deepEqual(
      [await countOf("events", json.id), await countOf("evidence", json.id)],
      [2, 1],
    );
    const late = await node.call("POST", `/v1/requests/${json.id}/cancel`, { key });
    assert.equal(late.status, 409, late.text);
  }
  const { json } = await create("to cancel");
  const cancel = () => node.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  const cancelled = await cutWhileWaiting(cancel);
  assert.deepEqual([cancelled.status, cancelled.json.status], [200, "CANCELLED"]);
  assert.equal(await countOf("events", json.id), 2);
  assert.equal((await cancel()).status, 409);
});

test("whether it was done is found out only when whoever may still do it has ended", async () => {
  const { json } = await create("slow");
  const { rows } = await node.db.query<{ workspace_id: string }>(
    "select workspace_id from approvals where id = $1",
    [json.id],
  );
  const where = { workspaceId: rows[0]?.workspace_id ?? "", id: json.id };
  const how = { status: "CANCELLED" } as const;
  const client = await node.db.connect();
  await client.query("begin");
  assert.ok(await approvalResolution.resolve(client as unknown as Transaction, where, how));
  const finding = findReplicated(node.servicePool, (tx) =>
    approvalResolution.findDone(tx, where, how),
  );
  const isWaiting = async () => {
    const { rowCount } = await node.db.query(
      "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%resolution_note%'",
    );
    return rowCount === 1;
  };
  await Promise.race([finding, until(isWaiting, "the look to wait")]);
  await client.query("commit");
  client.release();
  assert.ok(await finding);
});

test("a session that ends while a create without a key waits is 503: nobody knows whether it was done", async () => {
  const reply = await cutWhileWaiting(() =>
    node.call("POST", "/v1/requests", { key, body: minimalBody }),
  );
  assert.equal(reply.status, 503, reply.text);
});

test("calls that waited in vain for the standby are 503, and leave no backend that waits on", async () => {
  await setStandby("nobody");
  const replies = await Promise.all(["a", "b"].map((name) => create(name)));
  for (const { status } of replies) assert.equal(status, 503);
  await until(async () => (await countWaiting()) === 0, "the last of them to end");
  await setStandby("");
  for (const name of ["a", "b"]) assert.ok([200, 201].includes((await create(name)).status));
});
