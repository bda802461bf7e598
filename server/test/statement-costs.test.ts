import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openDatabase, type Queryable, type Transaction } from "../src/database/database.ts";
import { attentionCountMax } from "../src/domain/limits.ts";
import { othersWaitingMax } from "../src/domain/shown/field-limits.ts";
import * as requestLists from "../src/storage/approvals/approval-lists.ts";
import * as approvalResolution from "../src/storage/approvals/approval-resolution.ts";
import * as approvals from "../src/storage/approvals/approvals.ts";
import { readPending } from "../src/storage/approvals/pending.ts";
import * as reviews from "../src/storage/approvals/reviews.ts";
import { completeAttempts } from "../src/storage/deliveries/attempts.ts";
import { readAttention } from "../src/storage/deliveries/attention.ts";
import { claim } from "../src/storage/deliveries/due-webhooks.ts";
import { resolveNow } from "./test-evidence.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

// The tests count the rows and pages that statements read; they time nothing. The counts must not follow from how much
// there is, nor grow with its square.

const many = 4_000;
const finished = 4_000;
const service = await startService();
const { db } = service;
const workerDb = openDatabase({
  connection: service.database.connection,
  connectionsMax: 1,
  walksIndexes: true,
  onIdleFault: () => {},
});
after(async () => {
  await workerDb.end();
  await service.stop();
});

type Node = {
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  "Actual Rows": number;
  "Rows Removed by Join Filter"?: number;
  Plans?: Node[];
};
type Query = { text: string; values?: unknown[] };

/** Runs the statements that are sent through it, and keeps their costs. */
function costing(through: Queryable) {
  const plans: Node[] = [];
  const query = async (asked: Query) => {
    const { text, values = [] } = asked;
    await through.query("begin");
    const explained = await through.query({
      text: `explain (analyze, buffers, format json) ${text}`,
      values,
    });
    await through.query("rollback");
    plans.push(explained.rows[0]["QUERY PLAN"][0].Plan);
    return through.query({ text, values });
  };
  return { queryable: { query } as unknown as Transaction, plans };
}

function pagesOf(plan: Node | undefined): number {
  return (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
}

function comparedInVain(plan: Node | undefined): number {
  const own = plan?.["Rows Removed by Join Filter"] ?? 0;
  return (plan?.Plans ?? []).reduce((sum, child) => sum + comparedInVain(child), own);
}

/** The most rows of any step of a plan. */
function mostRows(plan: Node | undefined): number {
  return Math.max(plan?.["Actual Rows"] ?? 0, ...(plan?.Plans ?? []).map(mostRows));
}

/** PostgreSQL last saw as many finished requests and none pending, as is usual. */
async function workspaceWithMany(columns = "null, now() + interval '1 day'") {
  const { id: workspaceId, key } = await makeWorkspace(db);
  await insertMany(workspaceId, finished, "'EXPIRED', now_ms(), null, now_ms()");
  await db.query("analyze");
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  await insertMany(workspaceId, many, `'PENDING', null, ${columns}`);
  return { workspaceId, id: json.id as string };
}

async function insertMany(workspaceId: string, count: number, columns: string): Promise<void> {
  await db.query(
    `insert into approvals
       (workspace_id, id, summary, approver_email, status, resolved_at, agent_name, expires_at)
     select $1, new_id('req_'), 'Refund', 'ann@example.com', ${columns}
     from generate_series(1, $2)`,
    [workspaceId, count],
  );
}

async function onOneConnection<Result>(
  pool: typeof db,
  work: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

const anything = {
  status: null,
  agentName: null,
  createdAfter: null,
  createdBefore: null,
  beforeId: null,
  limit: 20,
};

test("a decision looks at its own request, however many are pending", async () => {
  const where = await workspaceWithMany();
  const decision = { status: "REJECTED", byEmail: "ann@example.com", note: null } as const;
  const pages = await onOneConnection(db, async (client) => {
    const { queryable, plans } = costing(client);
    assert.notEqual(await resolveNow(queryable, where, decision), null);
    return pagesOf(plans[0]);
  });
  assert.ok(pages < 150, `${pages} pages`);
});

test("a page of pending requests costs a page, however many there are", async () => {
  const { workspaceId } = await workspaceWithMany();
  const pages = await onOneConnection(db, async (client) => {
    const { queryable, plans } = costing(client);
    const page = await approvals.list(queryable, workspaceId, { ...anything, status: "PENDING" });
    assert.equal(page.found.length, 20);
    return pagesOf(plans[0]);
  });
  assert.ok(pages < 300, `${pages} pages`);
});

test("a page of one agent costs a page, however much others do, in any status", async () => {
  const { workspaceId } = await workspaceWithMany("'busy', now() + interval '1 day'");
  for (const [agentName, expected] of [
    ["nobody", 0],
    ["busy", 20],
  ] as const) {
    const pages = await onOneConnection(db, async (client) => {
      const { queryable, plans } = costing(client);
      const page = await approvals.list(queryable, workspaceId, { ...anything, agentName });
      assert.equal(page.found.length, expected);
      return pagesOf(plans[0]);
    });
    assert.ok(pages < 300, `${agentName}: ${pages} pages`);
  }
});

/** Every pending request asks Bob, who can vote on each; one has escalated, and one has nobody left. */
async function seatBob(workspaceId: string): Promise<void> {
  await db.query(
    `with voted as (
       update approvals set has_seats = true where workspace_id = $1 and status = 'PENDING' and summary = 'Refund'
       returning workspace_id, id
     ), voting as (
       insert into votings (workspace_id, approval_id, approver_limit, escalated_at, stuck_at)
       select workspace_id, id, 'anybody', case n when 1 then now_ms() end, case n when 2 then now_ms() end
       from (select *, row_number() over (order by id) as n from voted) as numbered
     ), stage as (
       insert into stages (workspace_id, approval_id, number, notify, required, entered_at)
       select workspace_id, id, 1, 'bob@example.com', 1, now_ms() from voted
     ), link as (
       insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
       select workspace_id, id, 'bob@example.com', 'k', '', sha256(id::bytea) from voted
       returning workspace_id, approval_id, id
     )
     insert into seats (workspace_id, approval_id, stage, person, voter, person_email, reviewer_id, reason)
     select workspace_id, approval_id, 1, 'bob@example.com', 'bob@example.com', 'bob@example.com', id, 'asked'
     from link`,
    [workspaceId],
  );
}

test("what waits for somebody, and what escalated or is stuck, costs a page, however much else waits", async () => {
  const { workspaceId } = await workspaceWithMany();
  const { everything } = requestLists;
  const costs: Record<string, number> = {};
  const look = async (name: string, filter: Partial<requestLists.ListFilter>, expected: number) => {
    costs[name] = await onOneConnection(db, async (client) => {
      const { queryable, plans } = costing(client);
      const terms = { ...everything, ...filter, limit: 20 };
      const { found } = await requestLists.list(queryable, workspaceId, terms);
      assert.equal(found.length, expected, name);
      return pagesOf(plans[0]);
    });
  };
  await look("asked by name", { waitingFor: "ann@example.com" }, 20);
  await seatBob(workspaceId);
  await look("seats, unknown to statistics", { waitingFor: "bob@example.com" }, 20);
  await db.query("analyze");
  await look("seats", { waitingFor: "bob@example.com" }, 20);
  await look("seats, oldest first", { waitingFor: "bob@example.com", order: "oldest" }, 20);
  await look("nobody", { waitingFor: "nobody@example.com" }, 0);
  await look("escalated", { isEscalated: true }, 1);
  await look("stuck", { isUnreachable: true, status: "PENDING" }, 1);
  await look("both", { isUnreachable: true, isEscalated: true }, 0);
  const dear = Object.entries(costs).filter(([, pages]) => pages >= 700);
  assert.deepEqual(dear, [], JSON.stringify(costs));
});

test("pending requests of a workspace are counted without a look at those of others", async () => {
  const busy = await workspaceWithMany();
  const { id: workspaceId, key } = await makeWorkspace(db);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const pages = await onOneConnection(db, async (client) => {
    const { queryable, plans } = costing(client);
    assert.equal((await readPending(queryable, workspaceId)).count, 1);
    return pagesOf(plans[0]);
  });
  assert.ok(pages < 20, `${pages} pages`);
  assert.equal((await readPending(db, busy.workspaceId)).count, many + 1);
});

test("what needs attention is read without a look at other workspaces, and at few rows of its own", async () => {
  const busy = await workspaceWithMany("null, now() + interval '1 minute'");
  await db.query(
    "update approvals set created_at = now_ms() - interval '1 day' where workspace_id = $1 and status = 'PENDING'",
    [busy.workspaceId],
  );
  await addUnsuccessful(busy.workspaceId);
  const { id: workspaceId, key } = await makeWorkspace(db);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const costOf = (asked: string) =>
    onOneConnection(db, async (client) => {
      const { queryable, plans } = costing(client);
      return { found: await readAttention(queryable, asked), plan: plans[0] };
    });
  for (const when of ["before PostgreSQL has looked", "after"]) {
    const calm = await costOf(workspaceId);
    assert.deepEqual([calm.found.endpoints, calm.found.failedMails], [[], []]);
    assert.ok(pagesOf(calm.plan) < 40, `${when}: ${pagesOf(calm.plan)} pages`);
    const { found, plan } = await costOf(busy.workspaceId);
    assert.equal(found.expiring.count, many);
    assert.equal(found.endpoints[0]?.missed, attentionCountMax + 1);
    assert.equal(found.failedMails.length, attentionCountMax + 1);
    assert.equal(found.failedCallbacks[0]?.count, attentionCountMax + 1);
    // Pending ones are read up to a limit of their own, like their number on the overview.
    assert.ok(mostRows(plan) <= many + 1, `${when}: ${mostRows(plan)} rows`);
    assert.ok(pagesOf(plan) < 3 * many, `${when}: ${pagesOf(plan)} pages`);
    await db.query("analyze");
  }
});

/** A webhook, a mail and a callback that failed, for each pending request. */
async function addUnsuccessful(workspaceId: string): Promise<void> {
  await db.query(
    `with endpoint as (
       insert into endpoints (workspace_id, url) values ($1, 'https://example.com/failing') returning id
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.expiring' from approvals where workspace_id = $1 and status = 'PENDING'
       returning workspace_id, id, approval_id
     ), reviewer as (
       insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
       select workspace_id, approval_id, 'ben@example.com', 'a key', '', sha256(id::bytea) from event
       returning id, approval_id
     )
     insert into deliveries (workspace_id, event_id, channel, endpoint_id, reviewer_id, recipient, state, finished_at)
     select event.workspace_id, event.id, 'webhook', endpoint.id, null, null, 'failed', now_ms() from event, endpoint
     union all
     select workspace_id, id, 'callback', null, null, 'workflows.example', 'failed', now_ms() from event
     union all
     select event.workspace_id, event.id, 'mail', null, reviewer.id, null, 'failed', now_ms()
     from event join reviewer on reviewer.approval_id = event.approval_id`,
    [workspaceId],
  );
}

test("how many others wait for a reviewer is counted up to a limit, however many there are", async () => {
  const { workspaceId, id } = await workspaceWithMany();
  // Others have little to decide each, so PostgreSQL expects the same of this one.
  await db.query(
    `insert into approvals (workspace_id, id, summary, approver_email, expires_at)
     select $1, new_id('req_'), 'Refund', 'p' || n % 20 || '@example.com', now() + interval '1 day'
     from generate_series(1, 500) n`,
    [workspaceId],
  );
  const { rows: found } = await db.query(
    "select token_digest from reviewers where workspace_id = $1 and approval_id = $2",
    [workspaceId, id],
  );
  for (const when of ["before PostgreSQL has looked", "after"]) {
    const rows = await onOneConnection(db, async (client) => {
      const { queryable, plans } = costing(client);
      const digest = found[0].token_digest;
      const link = await reviews.findLink(
        queryable,
        { kind: "link", tokenDigest: digest },
        { countsOthers: true },
      );
      assert.equal(link?.othersWaiting, othersWaitingMax);
      return mostRows(plans[0]);
    });
    assert.ok(rows <= othersWaitingMax + 1, `${when}: ${rows} rows`);
    await db.query("analyze");
  }
});

test("neither a sweep nor its webhooks compare each row with each other", async () => {
  const { workspaceId } = await workspaceWithMany("null, now() - interval '1 second'");
  await db.query(
    "insert into endpoints (workspace_id, url) values ($1, 'https://example.com/hook')",
    [workspaceId],
  );
  await onOneConnection(workerDb, async (client) => {
    const sweep = costing(client);
    const { expired } = await approvalResolution.expireOverdue(sweep.queryable, {
      from: null,
      limit: 500,
    });
    assert.equal(expired, 500);
    assert.ok(comparedInVain(sweep.plans[0]) < 1_000);
    const room = { limit: 512, quickEndpointIds: [] };
    const { webhooks: jobs } = await claim(client as Transaction, room);
    assert.ok(jobs.length >= 16);
    const end = costing(client);
    const held = await completeAttempts(
      end.queryable,
      jobs.map((lease) => ({
        lease,
        outcome: "delivered",
        httpStatus: 200,
        responseStart: "",
        durationMs: 1,
        next: { state: "delivered" },
      })),
    );
    assert.ok(held.every((each) => each));
    assert.equal(comparedInVain(end.plans[0]), 0);
  });
});
