// Requests that ended longer ago than their workspace keeps them go as a whole, and nothing else ever does.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inTransaction, openDatabase, type Queryable } from "../src/database/database.ts";
import { retentionBatch } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { overview, usage } from "../src/http/dashboard/figures.ts";
import type { DashboardCalls, MemberVisit } from "../src/http/dashboard/visit.ts";
import { cancelByMember } from "../src/operations/approvals/cancel-by-member.ts";
import { cancelMany } from "../src/operations/approvals/cancel-many.ts";
import { remindByMember } from "../src/operations/approvals/remind-by-member.ts";
import { mailAgain } from "../src/operations/deliveries/mail-again.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { deleteOldRequests } from "../src/operations/workspaces/delete-old-requests.ts";
import * as searchIndex from "../src/storage/approvals/search-index.ts";
import * as activity from "../src/storage/workspaces/activity.ts";
import { type AuditedEntry, auditLogs, sequenceAll } from "./log-audit.ts";
import { until } from "./patience.ts";
import { rowsLookedAt } from "./rows-looked-at.ts";
import { findReviewer, getReview } from "./test-review.ts";
import { indexEverything } from "./test-search.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { makeEndpoint, startWorker } from "./test-worker.ts";

const service = await startService();
const { db, servicePool } = service;
const voters = makeVoters(service);
after(() => service.stop());

/** The service itself, with its own rights. */
async function deleteOld(workspaceId: string, limit: number | null = 100): Promise<number> {
  const { rows } = await servicePool.query("select delete_old_requests($1, $2) as deleted", [
    workspaceId,
    limit,
  ]);
  return rows[0].deleted;
}

/** Nobody waits a month here: only the owner can let a workspace keep requests for less. */
await db.query("alter table workspaces drop constraint workspaces_retention_days_check");

async function keepFor(workspaceId: string, days: number | null): Promise<void> {
  await db.query("update workspaces set retention_days = $2 where id = $1", [workspaceId, days]);
}

/** As if the worker had written the log. */
async function logEverything(workspaceId: string): Promise<void> {
  await db.query("delete from log_pending where workspace_id = $1", [workspaceId]);
}

type Past = { resolvedAgoMs: number | null; createdAgoMs: number; count?: number };

/** Requests as the service would have written them then. */
async function makePast(workspaceId: string, past: Past): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `insert into approvals (workspace_id, id, status, summary, approver_email, created_at, expires_at, resolved_at,
       resolved_by_email)
     select $1, 'req_' || lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
         || right(replace(gen_random_uuid()::text, '-', ''), 20),
       case when $3::float8 is null then 'PENDING' else 'APPROVED' end, 'Refund', 'ann@example.com', at,
       at + interval '7 days', now() - $3::float8 * interval '1 ms',
       case when $3::float8 is not null then 'ann@example.com' end
     from (select now() - $2::float8 * interval '1 ms' as at) as it, generate_series(1, $4)
     returning id`,
    [workspaceId, past.createdAgoMs, past.resolvedAgoMs, past.count ?? 1],
  );
  await logEverything(workspaceId);
  return rows.map(({ id }) => id);
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

async function left(workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    "select id from approvals where workspace_id = $1 order by id",
    [workspaceId],
  );
  return rows.map(({ id }) => id);
}

/** A request with everything that one can leave behind, in every table. */
async function makeWhole() {
  const { id: workspaceId, key } = await voters.workspaceWith();
  await makeEndpoint(db, workspaceId, "https://hooks.example/one");
  const { id } = await voters.ask(key, {
    summary: "Pay Zanzibar",
    quorum: 2,
    escalate: [{ afterMinutes: 60, notify: "boss@example.com" }],
  });
  const { token } = await findReviewer(db, id, { email: "ann@example.com" });
  assert.equal((await voters.vote(id, "ann@example.com", { edit: '{"amount":1}' })).status, 200);
  assert.equal((await voters.vote(id, "bob@example.com")).status, 200);
  const redeemed = await service.call("POST", `/v1/requests/${id}/redeem`, { key });
  assert.equal(redeemed.status, 200, redeemed.text);
  await indexEverything(db);
  await db.query(
    `with signed as (
       insert into signing_keys (id, public_key, secret_key_id, sealed, retired_at)
       values ($3, sha256('a'), 'k', '', now_ms()) returning id
     ), receipt as (
       insert into receipts (workspace_id, approval_id, signing_key_id, jws) select $1, $2, id, 'a.b.c' from signed
     ), message as (
       insert into channel_messages (workspace_id, approval_id, channel, target) values ($1, $2, 'slack', 'C1')
     ), news as (
       insert into channel_news (workspace_id, approval_id) values ($1, $2)
     ), found as (
       insert into search_queue (workspace_id, approval_id) values ($1, $2)
     ), checked as (
       insert into voting_checks (workspace_id, approval_id) values ($1, $2)
     ), tried as (
       insert into attempts (workspace_id, delivery_id, number)
       select $1, d.id, 1 from deliveries d join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
       where e.approval_id = $2
     ), tree as (
       insert into log_trees (workspace_id, origin, home, size, root) values ($1, $3, 'h', 2, sha256('r')) returning id
     ), entry as (
       insert into log_entries (tree_id, index, entry, leaf_hash)
       select id, n, 'entry ' || n, sha256('l') from tree, generate_series(0, 1) as n returning tree_id, index
     )
     insert into log_openings (tree_id, index, subject, approval_id, salt, fact)
     select tree_id, index, $2, case index when 0 then $2 end, sha256('s'), 'fact' from entry`,
    [workspaceId, id, `of ${id}`],
  );
  await logEverything(workspaceId);
  // The key is told in each log.
  await db.query("delete from log_pending where subject = $1", [`of ${id}`]);
  return { workspaceId, key, id, token };
}

/** Rows of each table in which one of these texts stands, whatever the columns are called. */
async function mentions(texts: readonly string[]): Promise<Record<string, number>> {
  const { rows: tables } = await db.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
  );
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await db.query<{ count: number }>(
      `select count(*)::int as count from ${name} t where t::text like any ($1)`,
      [texts.map((text) => `%${text}%`)],
    );
    if (rows[0] !== undefined && rows[0].count > 0) found[name] = rows[0].count;
  }
  return found;
}

/** Tables that know a request by a column, or lead to one by foreign keys. */
async function tablesOfRequests(): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `with recursive of_requests as (
       select 'approvals'::regclass::oid as table_oid
       union
       select attrelid from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relkind = 'r' and a.attname = 'approval_id'
       union
       select k.conrelid from pg_constraint k join of_requests r on k.confrelid = r.table_oid where k.contype = 'f'
     )
     select table_oid::regclass::text as name from of_requests order by 1`,
  );
  return rows.map(({ name }) => name);
}

test("a request goes with every row in every table, and its entries of the log stay, unreadable", async () => {
  const other = await makeWhole();
  const { workspaceId, id } = await makeWhole();
  const {
    rows: [ids],
  } = await db.query<{ its: string[] }>(
    `select array_agg(id) as its from (
       select $1 as id union all select id from events where approval_id = $1
       union all select id from reviewers where approval_id = $1
     ) as its`,
    [id],
  );
  const its = ids?.its ?? [];
  const before = await mentions(its);
  const tables = await tablesOfRequests();
  assert.deepEqual(
    tables.filter((name) => before[name] === undefined && name !== "attempts"),
    [],
    "let makeWhole fill it, and delete_old_requests empty it",
  );
  const untouched = await mentions([other.id]);
  await keepFor(workspaceId, -1);
  assert.equal(await deleteOld(workspaceId), 1);
  const { rows: told } = await db.query(
    "select source, subject, detail from log_pending where workspace_id = $1",
    [workspaceId],
  );
  assert.deepEqual(told, [
    { source: "d", subject: id, detail: { kind: "request.deleted", request: id } },
  ]);
  await logEverything(workspaceId);
  // The tree and the key of this test are named after the request.
  assert.deepEqual(Object.keys(await mentions(its)).toSorted(), [
    "log_openings",
    "log_trees",
    "signing_keys",
  ]);
  const { rows: log } = await db.query(
    `select e.entry, o.approval_id is null and o.fact is not null as is_open
     from log_trees t join log_entries e on e.tree_id = t.id
     left join log_openings o on o.tree_id = e.tree_id and o.index = e.index
     where t.workspace_id = $1 order by e.index`,
    [workspaceId],
  );
  assert.deepEqual(log, [
    { entry: "entry 0", is_open: false },
    { entry: "entry 1", is_open: true },
  ]);
  assert.equal(
    (await db.query("select from attempts where workspace_id = $1", [workspaceId])).rowCount,
    0,
  );
  assert.equal(
    (await db.query("select from deliveries where workspace_id = $1", [workspaceId])).rowCount,
    0,
  );
  assert.deepEqual(await mentions([other.id]), untouched);
});

test("in a log that was really written, the tree still verifies and tells only that it was deleted", async () => {
  const { id: workspaceId, key } = await voters.workspaceWith();
  const { id } = await voters.ask(key, { summary: "Pay Zanzibar", quorum: 1 });
  const kept = await voters.ask(key, { summary: "Pay Rome" });
  assert.equal((await voters.vote(id, "ann@example.com")).status, 200);
  await keepFor(workspaceId, -1);
  assert.equal(await deleteOld(workspaceId), 0, "the log comes first");
  await sequenceAll(servicePool);
  const [before] = await auditLogs(db, workspaceId);
  const its = before?.entries.filter(({ entry }) => entry.request === id) ?? [];
  assert.ok(its.length >= 2, "created and approved");
  assert.equal(await deleteOld(workspaceId), 1);
  await sequenceAll(servicePool);
  const [later] = await auditLogs(db, workspaceId);
  assert.equal(later?.size, (before?.size ?? 0) + 1);
  for (const { index, text } of its) {
    const now: AuditedEntry | undefined = later?.entries[index];
    assert.deepEqual([now?.text, now?.fact, now?.salt], [text, null, null]);
  }
  const last = later?.entries.at(-1);
  assert.equal(last?.entry.kind, "request.deleted");
  assert.equal(last?.fact.request, id);
  const others = later?.entries.filter(({ entry }) => entry.request === kept.id) ?? [];
  assert.ok(others.length > 0 && others.every(({ fact }) => fact !== null));
});

test("what members did to a request stays, without anything that the request said", async () => {
  const { id: workspaceId, key } = await voters.workspaceWith();
  const actor = "owner@example.com";
  await addMember(db, { workspaceId, email: actor, role: "owner" });
  const ask = async () => (await voters.ask(key, { summary: "Pay Ouagadougou" })).id as string;
  const reminded = await ask();
  const together = [await ask(), await ask()];
  const by = { workspaceId, actor };
  assert.ok(!isRefusal(await remindByMember(db, reminded, by)));
  assert.ok(!isRefusal(await mailAgain(db, reminded, by)));
  assert.ok(!isRefusal(await cancelByMember(db, reminded, by)));
  assert.ok(!isRefusal(await cancelMany(db, { ids: [await ask()] }, by)));
  assert.ok(!isRefusal(await cancelMany(db, { ids: together }, by)));
  await sequenceAll(servicePool);
  await keepFor(workspaceId, -1);
  assert.equal(await deleteOld(workspaceId), 4);
  await sequenceAll(servicePool);
  assert.deepEqual(await mentions(["Ouagadougou"]), {});
  const noted = await activity.list(db, { workspaceId, beforeId: null, limit: 10 });
  const subjects = noted.filter(({ detail }) => detail.request === reminded);
  assert.deepEqual(
    subjects.map(({ action, subject }) => [action, subject]),
    [
      ["request.withdrawn", reminded],
      ["request.mailed_again", reminded],
      ["request.reminded", reminded],
    ],
  );
});

test("deleting a few looks at few rows, however many there are", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  // PostgreSQL's figures are of a time when no words waited any more.
  await makePast(workspaceId, { createdAgoMs: 2 * dayMs, resolvedAgoMs: dayMs });
  await db.query("delete from search_queue");
  await db.query("analyze search_queue");
  await makePast(workspaceId, { createdAgoMs: 9 * dayMs, resolvedAgoMs: 8 * dayMs, count: 3_000 });
  for (let n = 0; n < 5; n += 1) {
    const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  }
  await logEverything(workspaceId);
  const client = await servicePool.connect();
  try {
    await keepFor(workspaceId, 30);
    const none = await rowsLookedAt(client, () =>
      client.query("select delete_old_requests($1, 100)", [workspaceId]),
    );
    assert.ok((none.counts.approvals ?? 0) < 10, JSON.stringify(none.counts));
    await keepFor(workspaceId, 8);
    const few = await rowsLookedAt(client, () =>
      client.query("select delete_old_requests($1, 5) as deleted", [workspaceId]),
    );
    assert.deepEqual(few.result.rows, [{ deleted: 5 }]);
    for (const [table, count] of Object.entries(few.counts)) {
      assert.ok(count < 100, `${count} rows of ${table}`);
    }
  } finally {
    client.release();
  }
});

/** A log with an entry of each request, and two of nobody's. */
async function fillLog(workspaceId: string): Promise<void> {
  await db.query(
    `with tree as (
       insert into log_trees (workspace_id, origin, home, root)
       values ($1, 'origin of ' || $1, '-/-/-', sha256(''))
       returning id
     ), fact as (
       select tree.id as tree_id, row_number() over (order by a.id, n) as index, n, a.id as approval_id
       from tree, approvals a, generate_series(1, 3) n
       where a.workspace_id = $1
     ), entry as (
       insert into log_entries (tree_id, index, entry, leaf_hash) select tree_id, index, '', sha256('') from fact
     )
     insert into log_openings (tree_id, index, subject, approval_id, salt, fact)
     select tree_id, index, approval_id, case n when 1 then approval_id end, sha256(''), '' from fact`,
    [workspaceId],
  );
}

test("deleting looks at the logs of what it deletes, however many there are, and whenever it was planned", async () => {
  const many = 2_000;
  const { id: workspaceId } = await makeWorkspace(db);
  const workerDb = openDatabase({
    ...{ connection: service.database.connection, connectionsMax: 1, walksIndexes: true },
    onIdleFault: () => {},
  });
  const [call, worker] = [await servicePool.connect(), await workerDb.connect()];
  const deleteFive = (client: Queryable) =>
    rowsLookedAt(client, () =>
      client.query("select delete_old_requests($1, 5) as deleted", [workspaceId]),
    );
  try {
    await makePast(workspaceId, { createdAgoMs: 40 * dayMs, resolvedAgoMs: 39 * dayMs, count: 10 });
    await keepFor(workspaceId, 30);
    // Plans of nearly empty tables are kept.
    for (let times = 0; times < 8; times += 1) {
      for (const client of [call, worker]) await deleteFive(client);
    }
    await makePast(workspaceId, {
      ...{ createdAgoMs: 38 * dayMs, resolvedAgoMs: 37 * dayMs, count: many },
    });
    await fillLog(workspaceId);
    await db.query(
      `with other as (
         insert into workspaces (name) select 'Other' from generate_series(1, $1) returning id
       )
       insert into log_trees (workspace_id, origin, home, root) select id, id, '-/-/-', sha256('') from other`,
      [many],
    );
    for (const when of ["before PostgreSQL has looked", "after"]) {
      for (const [who, client] of Object.entries({ call, worker })) {
        const { result, counts } = await deleteFive(client);
        assert.deepEqual(result.rows, [{ deleted: 5 }]);
        const dear = Object.entries(counts).filter(([, count]) => count >= 100);
        assert.deepEqual(dear, [], `${when}, ${who}`);
      }
      await db.query("analyze");
    }
  } finally {
    call.release();
    worker.release();
    await workerDb.end();
  }
});

test("nobody finds it any more: not by its id, in the list, by words, nor by its link", async () => {
  const { workspaceId, key, id, token } = await makeWhole();
  await keepFor(workspaceId, -1);
  assert.equal(await deleteOld(workspaceId), 1);
  for (const path of [`/v1/requests/${id}`, `/v1/requests/${id}/effective-payload`]) {
    assert.equal((await service.call("GET", path, { key })).status, 404);
  }
  assert.equal((await service.call("POST", `/v1/requests/${id}/redeem`, { key })).status, 404);
  const { json } = await service.call("GET", "/v1/requests", { key });
  assert.deepEqual(json.data, []);
  const { rowCount } = await db.query("select from approval_words where workspace_id = $1", [
    workspaceId,
  ]);
  assert.equal(rowCount, 0);
  assert.equal((await getReview(service.app, token)).status, 404);
  // A worker that still has it in its hands finds nothing to write.
  await db.query("insert into search_queue (workspace_id, approval_id) values ($1, $2)", [
    workspaceId,
    id,
  ]);
  await indexEverything(db);
});

test("a request goes while a worker is about to write its words, and none are left", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const old = { createdAgoMs: 40 * dayMs, resolvedAgoMs: 39 * dayMs, count: 3 };
  await indexEverything(db);
  await makePast(workspaceId, old);
  await keepFor(workspaceId, 30);
  await inTransaction(servicePool, async (tx) => {
    const refs = await searchIndex.takeQueued(tx, 100);
    assert.equal(refs.length, 3);
    // It would wait for the worker, and the worker for it.
    assert.equal(await deleteOld(workspaceId), 3);
    await searchIndex.writeWords(tx, refs);
  });
  assert.deepEqual(await wordsAndQueued(workspaceId), { words: 0, queued: 0 });
});

test("a request whose words are just being written waits, and goes the next time", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const old = { createdAgoMs: 40 * dayMs, resolvedAgoMs: 39 * dayMs, count: 3 };
  await makePast(workspaceId, old);
  await indexEverything(db);
  await keepFor(workspaceId, 30);
  const [first = "", ...others] = await left(workspaceId);
  await inTransaction(servicePool, async (tx) => {
    await searchIndex.writeWords(tx, [{ workspaceId, id: first }]);
    assert.equal(await deleteOld(workspaceId), others.length);
    assert.deepEqual(await left(workspaceId), [first]);
  });
  await logEverything(workspaceId);
  assert.equal(await deleteOld(workspaceId), 1);
  assert.deepEqual(await wordsAndQueued(workspaceId), { words: 0, queued: 0 });
});

test("however a request is deleted, its words go with it", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await makePast(workspaceId, { createdAgoMs: 40 * dayMs, resolvedAgoMs: 39 * dayMs });
  await indexEverything(db);
  assert.deepEqual(await wordsAndQueued(workspaceId), { words: 1, queued: 0 });
  await db.query("delete from approvals where workspace_id = $1", [workspaceId]);
  assert.deepEqual(await wordsAndQueued(workspaceId), { words: 0, queued: 0 });
});

async function wordsAndQueued(workspaceId: string) {
  const { rows } = await db.query(
    `select (select count(*)::int from approval_words where workspace_id = $1) as words,
       (select count(*)::int from search_queue where workspace_id = $1) as queued`,
    [workspaceId],
  );
  return rows[0];
}

test("only what ended before the time of retention goes, whatever the caller asks for", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const { id: forEver } = await makeWorkspace(db);
  const old = { createdAgoMs: 31 * dayMs, resolvedAgoMs: 30 * dayMs + minuteMs };
  const [first] = await makePast(workspaceId, old);
  const young = await makePast(workspaceId, { ...old, resolvedAgoMs: 30 * dayMs - minuteMs });
  const pending = await makePast(workspaceId, { createdAgoMs: 400 * dayMs, resolvedAgoMs: null });
  await makePast(forEver, old);
  for (const limit of [1_000_000_000, 100, 1, 0, -5, null]) {
    assert.equal(await deleteOld(workspaceId, limit), 0, "no time of retention is set");
  }
  await keepFor(workspaceId, 30);
  for (const limit of [0, -5]) assert.equal(await deleteOld(workspaceId, limit), 0);
  assert.equal(await deleteOld(workspaceId, 1_000_000_000), 1);
  assert.deepEqual(await left(workspaceId), [...pending, ...young].toSorted());
  assert.ok(!(await left(workspaceId)).includes(first ?? ""));
  assert.equal((await left(forEver)).length, 1);
  assert.equal(await deleteOld("ws_unknown"), 0);
});

test("a request with a fact that waits for the log is kept until it is there", async () => {
  const { workspaceId, id } = await makeWhole();
  await keepFor(workspaceId, -1);
  const facts = {
    e: "select max(id) as subject from events where approval_id = $1",
    o: "select max(id) as subject from reviewers where approval_id = $1",
    r: "select $1 as subject",
  };
  for (const [source, sql] of Object.entries(facts)) {
    const { rows } = await db.query(sql, [id]);
    await db.query("insert into log_pending (workspace_id, source, subject) values ($1, $2, $3)", [
      workspaceId,
      source,
      rows[0].subject,
    ]);
    assert.equal(await deleteOld(workspaceId), 0, source);
    await logEverything(workspaceId);
  }
  assert.equal(await deleteOld(workspaceId), 1);
});

test("the function runs with fixed names, and nobody but the service may call it", async () => {
  const { rows } = await db.query(
    `select prosecdef, proconfig, has_function_privilege('public', oid, 'execute') as is_public
     from pg_proc where proname = 'delete_old_requests'`,
  );
  assert.deepEqual(rows, [
    {
      prosecdef: true,
      proconfig: ["search_path=pg_catalog, public, pg_temp"],
      is_public: false,
    },
  ]);
  const { rows: others } = await db.query(
    "select proname from pg_proc where prosecdef and pronamespace = 'public'::regnamespace",
  );
  assert.deepEqual(others, [{ proname: "delete_old_requests" }]);
});

test("the worker deletes all that is old, of every workspace, and the figures stay", async () => {
  const calls = { db: servicePool } as unknown as DashboardCalls;
  const look = async (workspaceId: string) => {
    const query = new URLSearchParams("days=90");
    const visit = { workspaceId, call: { query } } as unknown as MemberVisit;
    const told = { ...(await overview(calls, visit)), ...(await usage(calls, visit)) };
    return JSON.stringify(told, (name, value) =>
      ["now", "oldestCreatedAt"].includes(name) ? null : value,
    );
  };
  const [busy, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  // As many again in a workspace whose figures somebody has looked at: those of the first were never counted before.
  const many = 2 * retentionBatch + 30;
  const pasts = [
    { createdAgoMs: 40 * dayMs, resolvedAgoMs: 39 * dayMs, count: many },
    { createdAgoMs: 35 * dayMs, resolvedAgoMs: 33 * dayMs, count: 3 },
    { createdAgoMs: 31 * dayMs, resolvedAgoMs: 29 * dayMs, count: 2 },
  ];
  for (const past of pasts) {
    await makePast(busy.id, past);
    await makePast(other.id, past);
  }
  await service.call("POST", "/v1/requests", { key: busy.key, body: minimalBody });
  await service.call("POST", "/v1/requests", { key: other.key, body: minimalBody });
  const before = await look(other.id);
  for (const { id } of [busy, other]) {
    await logEverything(id);
    await keepFor(id, 30);
  }
  const { stop } = startWorker(service.database);
  try {
    await until(
      async () => (await left(busy.id)).length === 3 && (await left(other.id)).length === 3,
      "everything old to be deleted",
    );
  } finally {
    await stop();
  }
  assert.equal(await look(other.id), before);
  assert.equal(await look(busy.id), before, "two workspaces alike have the same figures");
});

test("several at once delete each request once, and a decision or opening at the same time is safe", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  await makePast(workspaceId, { createdAgoMs: 40 * dayMs, resolvedAgoMs: 39 * dayMs, count: 300 });
  await keepFor(workspaceId, 30);
  const deleting = Array.from({ length: 8 }, async () => {
    let sum = 0;
    for (;;) {
      const { deleted, wereOld } = await deleteOldRequests(servicePool, workspaceId, 20);
      sum += deleted;
      if (!wereOld) return sum;
      await logEverything(workspaceId);
    }
  });
  const creating = Array.from({ length: 20 }, () =>
    service.call("POST", "/v1/requests", { key, body: minimalBody }),
  );
  const sums = await Promise.all(deleting);
  assert.equal(
    sums.reduce((sum, each) => sum + each, 0),
    300,
  );
  assert.deepEqual(
    new Set((await Promise.all(creating)).map(({ status }) => status)),
    new Set([201]),
  );
  assert.equal((await left(workspaceId)).length, 20);
});
