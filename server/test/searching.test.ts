// Requests are found by all that people know of them, soon after they were created or decided, however many there are.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Database, inTransaction, type Queryable } from "../src/database/database.ts";
import { approvalStatuses } from "../src/domain/approval/approval.ts";
import { searchGlance, searchQueueGlance, unindexedSearchedMax } from "../src/domain/limits.ts";
import { termsOf } from "../src/domain/search/words.ts";
import { everything, type ListFilter, list } from "../src/storage/approvals/approval-lists.ts";
import { findExcerpts, isBehind } from "../src/storage/approvals/approval-search.ts";
import { afterLastId, firstId } from "../src/storage/approvals/approvals.ts";
import * as searchIndex from "../src/storage/approvals/search-index.ts";
import { until } from "./patience.ts";
import { rowsLookedAt } from "./rows-looked-at.ts";
import { decide, findReviewer } from "./test-review.ts";
import { indexEverything } from "./test-search.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { startWorker } from "./test-worker.ts";
import { watchThread } from "./watch-thread.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());

const all = { from: firstId, until: afterLastId };

async function ask(key: string, body: object): Promise<string> {
  const reply = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, ...body },
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

async function found(
  workspaceId: string,
  filter: Partial<ListFilter> | string,
  through: Queryable = db,
): Promise<string[]> {
  const chosen = typeof filter === "string" ? wordsFilter(filter) : filter;
  const page = await list(through, workspaceId, { ...everything, ...chosen, limit: 50 });
  return page.found.map(({ id }) => id);
}

function wordsFilter(typed: string): Partial<ListFilter> {
  return { search: { kind: "words", typed } };
}

async function decideAs(id: string, verdict: "approve" | "reject", more: object = {}) {
  const { token } = await findReviewer(db, id);
  const reply = await decide(app, token, { verdict, ...more });
  assert.equal(reply.status, 200, reply.text);
}

test("a request is found by its payload, metadata, edit, agent, approver and decider, at once and once indexed", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const other = await makeWorkspace(db);
  const id = await ask(key, {
    summary: "Refund order",
    agentName: "Payer",
    notify: "ann.lee@example.com",
    payload: { customer: { name: "Zoë \u6771\u4eac\u90fd" }, amount: 1 },
    metadata: { trace: "trc-7781" },
  });
  await ask(other.key, { summary: "Zoe refund payer", payload: "zoe" });
  await ask(key, { summary: "Something else" });
  await decideAs(id, "approve", { edit: '{"customer":"Quist"}' });
  const searches = [
    "refund",
    "zoe",
    "東京",
    "京都",
    "trc-77",
    "quist",
    "payer",
    "ann.lee@ex",
    "lee zoë",
  ];
  for (const isIndexed of [false, true]) {
    if (isIndexed) await indexEverything(db);
    for (const typed of searches) {
      assert.deepEqual(await found(workspaceId, typed), [id], `${typed}, indexed: ${isIndexed}`);
    }
    assert.deepEqual(await found(workspaceId, { decidedBy: "Ann.Lee@example.com" }), [id]);
    assert.deepEqual(await found(workspaceId, { decidedBy: "bob@example.com" }), []);
    assert.deepEqual(await found(workspaceId, "customer"), [], "keys are not values");
  }
});

test("what JSON escapes, invisible characters or another form of a letter hide is found all the same", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const body = `{"summary":"Pay","notify":"ann@example.com",
    "payload":{"to":"\\u004dallory","iban":"DE89 3704","n":12345678901234567890.50,"x":"Mu\\u0308ller\\u0000\\ud800"}}`;
  const reply = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(reply.status, 201, reply.text);
  await indexEverything(db);
  for (const typed of ["mallory", "DE89 3704", "12345678901234567890.5", "müller", "MULLER"]) {
    assert.deepEqual(await found(workspaceId, typed), [reply.json.id], typed);
  }
});

test("a match inside JSON is shown with its place", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const id = await ask(key, { summary: "Refund", payload: { customer: { name: "Zoë Quist" } } });
  const excerpts = await findExcerpts(db, { workspaceId, ids: [id], words: termsOf("quist") });
  assert.deepEqual(excerpts.get(id), {
    field: "payload",
    path: "customer.name",
    text: "Zoë Quist",
  });
});

test("a worker indexes what was created and decided, by itself and soon", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const worker = startWorker(service.database);
  try {
    const id = await ask(key, { summary: "Refund", payload: "zebra" });
    const words = async () => {
      const { rows } = await db.query<{ words: string }>(
        "select words::text from approval_words where workspace_id = $1 and approval_id = $2",
        [workspaceId, id],
      );
      return rows[0]?.words ?? "";
    };
    await until(async () => (await words()).includes("zebra"), "the worker indexes it");
    await decideAs(id, "reject");
    await until(async () => (await words()).includes("=decider"), "and who decided");
  } finally {
    await worker.stop();
  }
});

test("however much is to be indexed or looked through, the process goes on with other work", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  await indexEverything(db);
  const texts = ["a\u0316\u0300", "\ufdfa", "\u3300", "a."];
  const ids: string[] = [];
  for (const text of [...texts, ...texts]) {
    const json = Array.from({ length: 20 }, () => text.repeat(200));
    ids.push(await ask(key, { payload: json, metadata: json }));
  }
  const words = termsOf("zebra");
  for (const work of [
    () => found(workspaceId, "zebra"),
    () => findExcerpts(db, { workspaceId, ids, words }),
    () => indexAgain(workspaceId),
  ]) {
    await work();
    const busy = watchThread();
    const startedMs = performance.now();
    await work();
    const wholeMs = performance.now() - startedMs;
    const longestMs = busy.stop();
    assert.ok(longestMs < wholeMs / 3, `${work}: ${longestMs} ms at a stretch of ${wholeMs} ms`);
  }
});

async function indexAgain(workspaceId: string): Promise<void> {
  await db.query(
    `insert into search_queue (workspace_id, approval_id)
     select workspace_id, id from approvals where workspace_id = $1`,
    [workspaceId],
  );
  await indexEverything(db);
}

test("a request that can't be indexed keeps no other from being found, and is told", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const ids = [];
  for (const payload of ["okapi", "poison", "tapir"]) ids.push(await ask(key, { payload }));
  await db.query(`
    create function refuse_poison() returns trigger language plpgsql as $$
    begin
      if new.approval_id = '${ids[1]}' then raise 'too much for the index'; end if;
      return new;
    end $$;
    create trigger poison before insert on approval_words for each row execute function refuse_poison()`);
  const told: string[] = [];
  const worker = startWorker(service.database, {
    logDestination: { write: (line: string) => void told.push(line) },
  });
  try {
    await until(async () => (await queued(workspaceId)) === 0, "the queue is done");
  } finally {
    await worker.stop();
    await db.query("drop function refuse_poison() cascade");
  }
  assert.deepEqual(await found(workspaceId, "okapi"), [ids[0]]);
  assert.deepEqual(await found(workspaceId, "tapir"), [ids[2]]);
  const faults = told.filter((line) => line.includes("by its words"));
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? "", new RegExp(`${ids[1]}.*too much for the index`));
});

test("a worker that dies while it indexes loses nothing, and two at once index each request", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  await indexEverything(db);
  const ids = [await ask(key, { payload: "one" }), await ask(key, { payload: "two" })];
  const dies = inTransaction(db, async (tx) => {
    await searchIndex.writeWords(tx, await searchIndex.takeQueued(tx, 100));
    throw new Error("the worker dies");
  });
  await assert.rejects(dies, /the worker dies/);
  assert.equal(await queued(workspaceId), 2);
  const takeOne = () =>
    inTransaction(db, async (tx) => {
      await searchIndex.writeWords(tx, await searchIndex.takeQueued(tx, 1));
    });
  await Promise.all([takeOne(), takeOne()]);
  assert.equal(await queued(workspaceId), 0);
  assert.deepEqual(await found(workspaceId, "one"), [ids[0]]);
  assert.deepEqual(await found(workspaceId, "two"), [ids[1]]);
});

async function queued(workspaceId: string): Promise<number> {
  const { rows } = await db.query("select from search_queue where workspace_id = $1", [
    workspaceId,
  ]);
  return rows.length;
}

test("requests from before an upgrade are indexed step by step, and a search says so until then", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await fill(db, workspaceId, 300, { payload: `'{"name":"Zebra ' || i || '"}'` });
  await db.query("delete from search_queue where workspace_id = $1", [workspaceId]);
  await db.query("insert into search_backlog values ($1, 'req_g')", [workspaceId]);
  assert.deepEqual(await found(workspaceId, "zebra"), []);
  assert.equal(await isBehind(db, { workspaceId, ids: all }), true);
  const worker = startWorker(service.database);
  try {
    await until(
      async () => !(await isBehind(db, { workspaceId, ids: all })),
      "all of them are indexed",
    );
  } finally {
    await worker.stop();
  }
  assert.equal((await found(workspaceId, "zebra")).length, 50);
  assert.equal((await found(workspaceId, "1")).length, 50);
});

test("a search says so when more wait to be indexed than it reads", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const [other, third] = [await makeWorkspace(db), await makeWorkspace(db)];
  await indexEverything(db);
  await fill(db, workspaceId, unindexedSearchedMax);
  assert.equal(await isBehind(db, { workspaceId, ids: all }), false);
  await fill(db, other.id, searchQueueGlance);
  assert.equal(
    await isBehind(db, { workspaceId, ids: all }),
    true,
    "they are no longer among the newest",
  );
  await indexEverything(db);
  assert.equal(await isBehind(db, { workspaceId, ids: all }), false);
  await fill(db, third.id, unindexedSearchedMax + 1);
  assert.equal(await isBehind(db, { workspaceId: third.id, ids: all }), true);
  assert.equal(await isBehind(db, { workspaceId: other.id, ids: all }), false);
  await indexEverything(db);
});

test("a deleted request leaves no words behind", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await fill(db, workspaceId, 3);
  await indexEverything(db);
  await db.query("delete from approvals where workspace_id = $1", [workspaceId]);
  const { rows } = await db.query("select from approval_words where workspace_id = $1", [
    workspaceId,
  ]);
  assert.equal(rows.length, 0);
  await fill(db, workspaceId, 1);
  await db.query("delete from approvals where workspace_id = $1", [workspaceId]);
  await indexEverything(db);
  assert.equal(await queued(workspaceId), 0);
});

test("a list is sorted by age and by expiry, page by page, with a search and without", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  // The later it was created, the sooner it expires; and two end at the same moment.
  await fill(db, workspaceId, 120, {
    expires: "date_trunc('day', now()) + interval '3 days' - (i / 2) * interval '1 minute'",
    payload: `'"zebra"'`,
  });
  await indexEverything(db);
  for (const search of [{}, wordsFilter("zebra")]) {
    const newest = await everyPage(workspaceId, { ...search, order: "newest" });
    assert.deepEqual(newest, newest.toSorted().reverse());
    const oldest = await everyPage(workspaceId, { ...search, order: "oldest" });
    assert.deepEqual(oldest, newest.toReversed());
    const expiring = await everyPage(workspaceId, { ...search, order: "expiry" });
    assert.equal(new Set(expiring).size, 120);
    const ends = new Map(
      (
        await db.query("select id, expires_at from approvals where workspace_id = $1", [
          workspaceId,
        ])
      ).rows.map(({ id, expires_at: at }) => [id, at.toISOString()]),
    );
    const order = expiring.map((id) => `${ends.get(id)} ${id}`);
    assert.deepEqual(order, order.toSorted());
  }
  assert.deepEqual(await found(workspaceId, { order: "expiry", status: "APPROVED" }), []);
});

async function everyPage(workspaceId: string, filter: Partial<ListFilter>): Promise<string[]> {
  const ids: string[] = [];
  let after = null;
  do {
    const page = await list(db, workspaceId, { ...everything, ...filter, after, limit: 50 });
    ids.push(...page.found.map(({ id }) => id));
    after = page.last;
  } while (after !== null);
  return ids;
}

test("decisions are found by who made them and when, and nothing that nobody decided", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const early = await ask(key, { notify: "ann@example.com" });
  const late = await ask(key, { notify: "bob@example.com" });
  const cancelled = await ask(key, {});
  await decideAs(early, "approve");
  await service.call("POST", `/v1/requests/${cancelled}/cancel`, { key });
  await indexEverything(db);
  await decideAs(late, "reject");
  const { rows } = await db.query("select resolved_at from approvals where id = $1", [late]);
  const at: Date = rows[0].resolved_at;
  assert.deepEqual(await found(workspaceId, { decidedFrom: at }), [late]);
  assert.deepEqual(await found(workspaceId, { decidedBefore: at }), [early]);
  assert.deepEqual(await found(workspaceId, { decidedFrom: at, decidedBefore: at }), []);
  assert.deepEqual(await found(workspaceId, { decidedBy: "BOB@example.com" }), [late]);
  assert.deepEqual(await found(workspaceId, { decidedBy: "ann@example.com", decidedFrom: at }), []);
  assert.deepEqual(await found(workspaceId, { decidedFrom: new Date(0) }), [late, early]);
});

/** Makes many approvals at once, a few seconds apart, from the year 2020 on. */
async function fill(
  through: Database,
  workspaceId: string,
  count: number,
  columns: { payload?: string; expires?: string; agent?: string; spacing?: string } = {},
): Promise<void> {
  const { payload = "null", expires = "now() + interval '1 day'", agent = "null" } = columns;
  await through.query(
    `insert into approvals (workspace_id, id, summary, approver_email, payload, agent_name, created_at, expires_at)
     select $1, 'req_' || lpad(to_hex(1600000000000 + i * ${columns.spacing ?? "5000"}::bigint), 12, '0') || repeat('0', 20),
       'Filler', 'ann@example.com', ${payload}, ${agent}, now_ms(), ${expires}
     from generate_series(1, $2::int) as i`,
    [workspaceId, count],
  );
}

/** Runs work on one connection, and tells how many rows of each table it looked at and how many statements it took. */
async function costOf(work: (through: Queryable) => Promise<unknown>) {
  const client = await db.connect();
  let statements = 0;
  const through = {
    query: (...args: Parameters<typeof client.query>) => {
      statements += 1;
      return client.query(...args);
    },
  } as unknown as Queryable;
  try {
    const { counts } = await rowsLookedAt(client, () => work(through));
    return { approvals: counts.approvals ?? 0, words: counts.approval_words ?? 0, statements };
  } finally {
    client.release();
  }
}

test("a search looks at no more rows than it must, however many there are", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const many = 6_000;
  await fill(db, workspaceId, many, {
    payload: `jsonb_build_object('name', case when i = 7 then 'zebra' else 'horse' end,
      'old', case when i < 500 then 'mammoth' end)::text`,
    agent: "case when i % 2 = 0 then 'even' else 'odd' end",
    spacing: "40000",
  });
  await indexEverything(db);
  await db.query("analyze");
  const glance = searchGlance + 200;
  for (const [typed, filter, count] of [
    ["zebra", {}, 1],
    ["nowhere", {}, 0],
    ["horse", {}, 50],
    ["mammoth", {}, 50],
    ["zebra horse", {}, 0],
    ["zebra", { agentName: "odd" }, 1],
    // As common as can be, and never together.
    ["mammoth", { agentName: "even", order: "oldest" }, 50],
    ["z", {}, 1],
    ["horse", { order: "oldest" }, 50],
  ] as const) {
    const { approvals, words, statements } = await costOf(async (through) => {
      const filtered = { ...wordsFilter(typed), ...filter } as Partial<ListFilter>;
      assert.equal((await found(workspaceId, filtered, through)).length, count, typed);
    });
    assert.ok(approvals <= glance + 600, `${typed}: ${approvals} approvals`);
    assert.ok(words <= glance + 600, `${typed}: ${words} entries`);
    assert.ok(statements <= 6, `${typed}: ${statements} statements`);
  }
});

test("a search of requests that lie years apart asks only for the times in which there were any", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await fill(db, workspaceId, searchGlance + 1, { spacing: "600000000" });
  await indexEverything(db);
  const { statements, words } = await costOf((through) => found(workspaceId, "nowhere", through));
  assert.ok(statements <= 6, `${statements} statements`);
  assert.ok(words <= searchGlance + 600, `${words} entries, also of others`);
});

test("lists by expiry and by decision look at few rows", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await fill(db, workspaceId, 4_000);
  const byExpiry = await costOf((through) => found(workspaceId, { order: "expiry" }, through));
  assert.ok(byExpiry.approvals <= 200, `${byExpiry.approvals} approvals`);
  // All were created in 2020, so none can have been decided since.
  const decidedFrom = new Date("2024-01-01");
  const decided = await costOf((through) => found(workspaceId, { decidedFrom }, through));
  assert.ok(decided.approvals <= 10, `${decided.approvals} approvals`);
});

test("a create writes no words: they are written afterwards", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { rows: before } = await db.query("select count(*)::int as count from approval_words");
  await ask(key, { payload: { name: "zebra" } });
  const { rows } = await db.query("select count(*)::int as count from approval_words");
  assert.deepEqual(rows, before);
  assert.equal(await queued(workspaceId), 1);
});

test("a search with a status is right whatever has happened since a request was indexed", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const zebra = () => ask(key, { payload: "zebra" });
  const [PENDING, APPROVED, REJECTED] = [await zebra(), await zebra(), await zebra()];
  const [EXPIRED, CANCELLED, overdue] = [await zebra(), await zebra(), await zebra()];
  await fillGlance(workspaceId);
  const foundBy = async () => {
    const answers = await Promise.all(
      approvalStatuses.map(async (status) => [
        status,
        await found(workspaceId, { ...wordsFilter("zebra"), status }),
      ]),
    );
    return Object.fromEntries(answers);
  };
  await indexEverything(db);
  const six = [PENDING, APPROVED, REJECTED, EXPIRED, CANCELLED, overdue].toSorted().toReversed();
  const before = { PENDING: six, APPROVED: [], REJECTED: [], EXPIRED: [], CANCELLED: [] };
  assert.deepEqual(await foundBy(), before);
  await decideAs(APPROVED, "approve");
  await decideAs(REJECTED, "reject");
  await service.call("POST", `/v1/requests/${CANCELLED}/cancel`, { key });
  await db.query("update approvals set expires_at = now_ms() where id = any ($1)", [
    [EXPIRED, overdue],
  ]);
  await service.call("GET", `/v1/requests/${EXPIRED}`, { key });
  const after = {
    PENDING: [PENDING],
    APPROVED: [APPROVED],
    REJECTED: [REJECTED],
    EXPIRED: [overdue, EXPIRED].toSorted().toReversed(),
    CANCELLED: [CANCELLED],
  };
  assert.deepEqual(await foundBy(), after, "before the worker has come");
  await indexEverything(db);
  assert.deepEqual(await foundBy(), after, "and afterwards");
  // As an upgrade leaves it: words without statuses, to be indexed once more.
  await db.query(
    `update approval_words set words = (
       select array_to_tsvector(array_agg(lexeme)) from unnest(tsvector_to_array(words)) as lexeme
       where lexeme not like '% =status %'
     ) where workspace_id = $1`,
    [workspaceId],
  );
  await db.query("insert into search_backlog values ($1, 'req_g', true)", [workspaceId]);
  assert.deepEqual(await foundBy(), after, "after an upgrade");
  assert.equal(await isBehind(db, { workspaceId, ids: all }), false);
  await indexEverything(db);
  assert.deepEqual(await foundBy(), after, "and once that is done");
});

/** More newer requests of each status than a search looks at by itself, so that it asks the index. */
async function fillGlance(workspaceId: string): Promise<void> {
  const count = searchGlance + 10;
  for (const [at, status] of approvalStatuses.entries()) {
    await db.query(
      `insert into approvals (workspace_id, id, summary, approver_email, status, resolved_by_email, expires_at, resolved_at)
       select $1, 'req_' || lpad(to_hex(4000000000000 + i), 12, '0') || lpad($3::text, 20, '0'), 'Filler',
         'ann@example.com', $4::text, case when $4::text in ('APPROVED', 'REJECTED') then 'ann@example.com' end,
         now_ms() + interval '1 day', case $4::text when 'PENDING' then null else now_ms() + interval '1 day' end
       from generate_series(1, $2::int) as i`,
      [workspaceId, count, String(at), status],
    );
  }
}

test("a search for a common word with a status that it never has looks at few rows", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await fill(db, workspaceId, 5_000, { payload: `'"horse"'` });
  await fillGlance(workspaceId);
  await indexEverything(db);
  const filter = { ...wordsFilter("horse"), status: "CANCELLED" } as const;
  const { approvals, words } = await costOf(async (through) => {
    assert.deepEqual(await found(workspaceId, filter, through), []);
  });
  assert.ok(approvals <= searchGlance + 600, `${approvals} approvals`);
  assert.ok(words <= searchGlance + 600, `${words} entries`);
});
