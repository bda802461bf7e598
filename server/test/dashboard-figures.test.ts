import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApprovalStatus } from "../src/domain/approval/approval.ts";
import { endpointSampleSize, figureAgentsMax, figureOpenIdsMax } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { overview, usage } from "../src/http/dashboard/figures.ts";
import type { DashboardCalls, MemberVisit } from "../src/http/dashboard/visit.ts";
import { readPending } from "../src/storage/approvals/pending.ts";
import { readEndpointDays } from "../src/storage/deliveries/endpoint-figures.ts";
import type { Overview, Usage } from "../src/wire/dashboard-contract.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint } from "./test-worker.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

function visitOf(workspaceId: string, query = ""): MemberVisit {
  return { workspaceId, call: { query: new URLSearchParams(query) } } as unknown as MemberVisit;
}

const calls = { db } as unknown as DashboardCalls;

async function look(workspaceId: string, query = ""): Promise<Overview> {
  const told = await overview(calls, visitOf(workspaceId, query));
  assert.ok(!isRefusal(told), JSON.stringify(told));
  return told;
}

async function lookAtUsage(workspaceId: string): Promise<Usage> {
  const told = await usage(calls, visitOf(workspaceId));
  assert.ok(!isRefusal(told), JSON.stringify(told));
  return told;
}

type Past = {
  /** How long ago it was created. */
  agoMs: number;
  status?: ApprovalStatus;
  agent?: string | null;
  /** From its creation. */
  resolvedMs?: number;
  expiresMs?: number;
  isEdited?: boolean;
  /** The number of such approvals. */
  count?: number;
};

/** Approvals as the service would have written them then. */
async function makePast(workspaceId: string, past: Past): Promise<string[]> {
  const { agoMs, status = "PENDING", agent = null, isEdited = false, count = 1 } = past;
  const { resolvedMs = hourMs, expiresMs = 7 * dayMs } = past;
  const { rows } = await db.query<{ id: string }>(
    `insert into approvals (workspace_id, id, status, summary, agent_name, approver_email, created_at, expires_at,
       resolved_at, resolved_by_email, edit)
     select $1, 'req_' || lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
         || right(replace(gen_random_uuid()::text, '-', ''), 20),
       $2, 'Refund', $3, 'ann@example.com', at, at + $6 * interval '1 ms',
       case $2 when 'PENDING' then null when 'EXPIRED' then at + $6 * interval '1 ms'
         else at + $5 * interval '1 ms' end,
       case when $2 in ('APPROVED', 'REJECTED') then 'ann@example.com' end,
       case when $7 then '{}' end
     from (select now_ms() - $4 * interval '1 ms' as at from generate_series(1, $8::int)) as past
     returning id`,
    [workspaceId, status, agent, agoMs, resolvedMs, expiresMs, isEdited, count],
  );
  return rows.map(({ id }) => id);
}

async function approve(ids: readonly string[], tookMs: number): Promise<void> {
  await db.query(
    `update approvals
     set status = 'APPROVED', resolved_at = created_at + $2 * interval '1 ms', resolved_by_email = 'ann@example.com'
     where id = any ($1)`,
    [ids, tookMs],
  );
}

async function countKept(workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ kept: number }>(
    "select count(*)::int as kept from daily_figures where workspace_id = $1",
    [workspaceId],
  );
  return rows[0]?.kept ?? 0;
}

/** Counts the rows anew, by nothing but SQL. */
async function countPlainly(workspaceId: string): Promise<Record<string, object>> {
  const { rows } = await db.query<{ day: string; counts: object }>(
    `select (created_at at time zone 'utc')::date::text as day, json_build_object(
       'asked', count(*),
       'pending', count(*) filter (where status = 'PENDING' and expires_at > now()),
       'approved', count(*) filter (where status = 'APPROVED'),
       'edited', count(*) filter (where edit is not null),
       'rejected', count(*) filter (where status = 'REJECTED'),
       'expired', count(*) filter (where status = 'EXPIRED' or status = 'PENDING' and expires_at <= now()),
       'cancelled', count(*) filter (where status = 'CANCELLED')) as counts
     from approvals where workspace_id = $1 group by 1`,
    [workspaceId],
  );
  return Object.fromEntries(rows.map(({ day, counts }) => [day, counts]));
}

function countsOf({ perDay }: Overview): Record<string, object> {
  const asked = perDay.filter((each) => each.asked > 0);
  return Object.fromEntries(
    asked.map(({ day, medianMs: _median, p90Ms: _p90, ...counts }) => [day, counts]),
  );
}

async function agrees(workspaceId: string): Promise<Overview> {
  const told = await look(workspaceId, "days=90");
  assert.deepEqual(countsOf(told), await countPlainly(workspaceId));
  return told;
}

test("an empty workspace has figures of nothing, for every day of the period", async () => {
  const { id } = await makeWorkspace(db);
  const told = await look(id);
  assert.equal(told.days, 30);
  assert.equal(told.perDay.length, 30);
  assert.deepEqual(told.perAgent, []);
  assert.deepEqual(told.pending, { count: 0, isMore: false, oldestCreatedAt: null });
  assert.equal(told.total.asked, 0);
  assert.equal(told.total.medianMs, null);
});

test("the days end with today, oldest first, and a period is one of three", async () => {
  const { id } = await makeWorkspace(db);
  for (const days of [7, 30, 90]) {
    const told = await look(id, `days=${days}`);
    const expected = Array.from({ length: days }, (_, index) =>
      new Date(Date.parse(told.now) - (days - 1 - index) * dayMs).toISOString().slice(0, 10),
    );
    assert.deepEqual(
      told.perDay.map(({ day }) => day),
      expected,
    );
  }
  for (const days of ["8", "", "30.0", "-7"]) {
    const told = await overview(calls, visitOf(id, `days=${days}`));
    assert.ok(isRefusal(told));
    assert.equal(told.refusal, "validation_error");
  }
});

test("figures count each request by what became of it, with the time that people took", async () => {
  const { id } = await makeWorkspace(db);
  const agoMs = 3 * dayMs;
  await makePast(id, { agoMs, status: "APPROVED", resolvedMs: 1_000, count: 6 });
  await makePast(id, { agoMs, status: "APPROVED", resolvedMs: 1_000, isEdited: true, count: 2 });
  await makePast(id, { agoMs, status: "REJECTED", resolvedMs: hourMs, count: 2 });
  await makePast(id, { agoMs, status: "CANCELLED", resolvedMs: 5, count: 3 });
  await makePast(id, { agoMs, status: "EXPIRED", expiresMs: hourMs, count: 4 });
  await makePast(id, { agoMs, status: "PENDING", expiresMs: hourMs, count: 5 });
  await makePast(id, { agoMs, status: "PENDING", count: 6 });
  const { total, perDay } = await agrees(id);
  const { medianMs, p90Ms, ...counts } = total;
  assert.deepEqual(counts, {
    asked: 28,
    pending: 6,
    approved: 8,
    edited: 2,
    rejected: 2,
    expired: 9,
    cancelled: 3,
  });
  assert.ok(Math.abs((medianMs as number) - 1_000) <= 25);
  assert.ok(Math.abs((p90Ms as number) - hourMs) <= hourMs * 0.025);
  assert.equal(perDay.find(({ asked }) => asked > 0)?.medianMs, medianMs);
});

test("nobody sees the figures of another workspace", async () => {
  const [one, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  await makePast(other.id, { agoMs: 2 * dayMs, status: "APPROVED", agent: "spy", count: 3 });
  await makePast(other.id, { agoMs: 2 * dayMs, count: 3 });
  await agrees(other.id);
  const told = await look(one.id);
  assert.equal(told.total.asked, 0);
  assert.equal(told.pending.count, 0);
  assert.deepEqual(told.perAgent, []);
  const { days } = await lookAtUsage(one.id);
  assert.ok(days.every(({ requests }) => requests === 0));
});

test("requests that the service has just created are in the figures", async () => {
  const { id, key } = await makeWorkspace(db);
  for (let made = 0; made < 3; made += 1) {
    await service.call("POST", "/v1/requests", { key, body: { ...minimalBody, agentName: "bot" } });
    const told = await agrees(id);
    assert.equal(told.total.asked, made + 1);
    assert.equal(told.perAgent[0]?.agentName, "bot");
  }
});

test("a day that is over and has nothing pending is counted once", async () => {
  const { id } = await makeWorkspace(db);
  await makePast(id, { agoMs: 5 * dayMs, status: "APPROVED", agent: "bot", count: 3 });
  const first = await look(id);
  const kept = await countKept(id);
  assert.ok(kept >= 1);
  const second = await look(id);
  assert.deepEqual({ ...second, now: "" }, { ...first, now: "" });
  assert.equal(await countKept(id), kept);
  // The kept figures are told: the rows are not read again.
  await db.query(
    `update daily_figures set figures = jsonb_set(figures, '{total,0}', '1000')
     where workspace_id = $1 and figures->'total'->>0 = '3'`,
    [id],
  );
  assert.equal((await look(id)).total.approved, 1_000);
});

test("a request that was pending when its day was counted is counted by what becomes of it", async () => {
  const { id } = await makeWorkspace(db);
  await makePast(id, { agoMs: 3 * dayMs, status: "REJECTED", agent: "bot", count: 5 });
  const open = await makePast(id, { agoMs: 3 * dayMs, agent: "slow bot", count: 4 });
  assert.equal((await agrees(id)).total.pending, 4);
  await approve(open.slice(0, 1), 2 * dayMs);
  assert.equal((await agrees(id)).total.approved, 1);
  await approve(open.slice(1), 2 * dayMs);
  const told = await agrees(id);
  assert.equal(told.total.pending, 0);
  assert.equal(told.perAgent.find(({ agentName }) => agentName === "slow bot")?.approved, 4);
  assert.deepEqual({ ...(await agrees(id)), now: "" }, { ...told, now: "" });
});

/** A stage that asked these approvals' people at once, and took this long. */
async function makeStage(ids: readonly string[], tookMs: number, notify = "cfo@example.com") {
  // Some were decided long ago, and nobody adds a stage to those.
  const triggers = (what: "disable" | "enable") =>
    db.query(`alter table votings ${what} trigger user; alter table stages ${what} trigger user`);
  await triggers("disable");
  await db.query(
    `with voting as (
       insert into votings (workspace_id, approval_id, approver_limit, escalated_at)
       select workspace_id, id, 'anybody', now_ms() from approvals where id = any ($1)
     )
     insert into stages (workspace_id, approval_id, number, notify, required, entered_at, completed_at)
     select workspace_id, id, 1, $3, 1, created_at, created_at + $2 * interval '1 ms'
     from approvals where id = any ($1)`,
    [ids, tookMs, notify],
  );
  await triggers("enable");
}

test("the stages of a day that is over are kept with it, and counted once, when their request ends", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const agoMs = 3 * dayMs;
  await makeStage(await makePast(workspaceId, { agoMs, status: "APPROVED", count: 3 }), hourMs);
  const open = await makePast(workspaceId, { agoMs });
  await makeStage(open, 5 * hourMs, "Boss@example.com");
  const before = (await look(workspaceId)).stages;
  assert.deepEqual(
    [before?.escalated, before?.perApprover.map(({ name, stages }) => [name, stages])],
    [4, [["cfo@example.com", 3]]],
  );
  assert.deepEqual((await look(workspaceId)).stages, before, "kept figures say the same");
  await approve(open, 6 * hourMs);
  for (const time of ["first", "second"]) {
    const { stages } = await look(workspaceId);
    assert.equal(stages?.escalated, 4, time);
    assert.deepEqual(
      stages?.perApprover.map(({ name, stages: count }) => [name, count]),
      [
        ["cfo@example.com", 3],
        ["boss@example.com", 1],
      ],
      time,
    );
  }
  await db.query("delete from stages where workspace_id = $1", [workspaceId]);
  assert.equal((await look(workspaceId)).stages?.perApprover.length, 2, "it is not counted again");
});

test("figures stay right however looks, new requests and decisions follow each other", async () => {
  const { id } = await makeWorkspace(db);
  const open: string[] = [];
  // More pending than a day's row names, on a day that is over and on one that goes on.
  for (const agoMs of [2 * dayMs, 2 * 60_000]) {
    await makePast(id, { agoMs: agoMs + 1, status: "REJECTED", resolvedMs: 10, count: 700 });
    open.push(...(await makePast(id, { agoMs, agent: "bot", count: figureOpenIdsMax + 500 })));
    await makePast(id, { agoMs: agoMs - 1, status: "APPROVED", resolvedMs: 10, count: 700 });
  }
  for (const step of [1, 500, 2_500, 1_000]) {
    await Promise.all([agrees(id), agrees(id), agrees(id)]);
    await approve(open.splice(0, step), 1_000);
    await agrees(id);
    open.push(...(await makePast(id, { agoMs: 0, agent: "new bot", count: 3 })));
  }
  await approve(open, 1_000);
  assert.equal((await agrees(id)).total.pending, 0);
  assert.equal((await agrees(id)).total.pending, 0);
});

test("names that are new each time count in the total and cost no more than so many agents", async () => {
  const { id } = await makeWorkspace(db);
  await makePast(id, { agoMs: dayMs, status: "APPROVED", agent: "bot", count: 3 });
  await makePast(id, { agoMs: dayMs, status: "APPROVED", agent: null, count: 2 });
  const many = figureAgentsMax + 50;
  for (let name = 0; name < many; name += 1) {
    await makePast(id, { agoMs: dayMs, status: "APPROVED", agent: `name ${name}` });
  }
  for (let times = 0; times < 2; times += 1) {
    const told = await agrees(id);
    assert.equal(told.total.asked, many + 5);
    assert.equal(told.perAgent.length, 10);
    assert.deepEqual(
      told.perAgent.slice(0, 2).map(({ agentName, asked }) => [agentName, asked]),
      [
        ["bot", 3],
        [null, 2],
      ],
    );
  }
  const { rows } = await db.query<{ agents: number }>(
    `select max(jsonb_array_length(figures->'agents')) as agents from daily_figures
     where workspace_id = $1`,
    [id],
  );
  assert.equal(rows[0]?.agents, figureAgentsMax);
});

test("pending now is what can still be decided, and since when the oldest waits", async () => {
  const { id } = await makeWorkspace(db);
  await makePast(id, { agoMs: 5 * dayMs, expiresMs: dayMs });
  await makePast(id, { agoMs: 4 * dayMs, status: "APPROVED" });
  const [oldest] = await makePast(id, { agoMs: 3 * dayMs });
  await makePast(id, { agoMs: hourMs, count: 2 });
  const { rows } = await db.query<{ created_at: Date }>(
    "select created_at from approvals where id = $1",
    [oldest],
  );
  const expected = { count: 3, isMore: false, oldestCreatedAt: rows[0]?.created_at };
  assert.deepEqual(await readPending(db, id), expected);
  const { pending } = await look(id);
  assert.equal(pending.oldestCreatedAt, rows[0]?.created_at.toISOString());
});

test("usage tells the plan's numbers, and the workspace's own before them", async () => {
  const plain = await makeWorkspace(db, { plan: "pro" });
  const own = await makeWorkspace(db, { plan: "pro", included: 7, cap: 9 });
  const unlimited = await makeWorkspace(db);
  const numbersOf = async (id: string) => {
    const { plan, included, cap, hasOverage } = await lookAtUsage(id);
    return { plan, included, cap, hasOverage };
  };
  assert.deepEqual(await numbersOf(plain.id), {
    plan: "pro",
    included: 2_000,
    cap: 20_000,
    hasOverage: true,
  });
  assert.deepEqual(await numbersOf(own.id), {
    plan: "pro",
    included: 7,
    cap: 9,
    hasOverage: true,
  });
  assert.deepEqual(await numbersOf(unlimited.id), {
    plan: "unlimited",
    included: null,
    cap: null,
    hasOverage: false,
  });
});

test("usage counts requests of each day of this month and the last, and what this month used", async () => {
  const { id, key } = await makeWorkspace(db);
  for (let made = 0; made < 2; made += 1) {
    await service.call("POST", "/v1/requests", { key, body: minimalBody });
  }
  const { now } = await look(id);
  await makePast(id, { agoMs: 20 * dayMs, status: "APPROVED", count: 3 });
  const told = await lookAtUsage(id);
  assert.equal(told.used, 2);
  assert.match(told.month, /^\d{4}-\d\d$/);
  const today = told.days.at(-1);
  assert.ok(
    today !== undefined && today.day >= now.slice(0, 10) && today.day.startsWith(told.month),
  );
  assert.ok(told.days[0]?.day.endsWith("-01"));
  assert.equal(new Set(told.days.map(({ day }) => day.slice(0, 7))).size, 2);
  assert.equal(
    told.days.reduce((sum, { requests }) => sum + requests, 0),
    5,
  );
});

type PastDelivery = {
  workspaceId: string;
  endpointId: string;
  agoMs: number;
  outcomes: (string | null)[];
  durationMs?: number;
  count?: number;
};

async function makeDeliveries(past: PastDelivery): Promise<void> {
  const { workspaceId, endpointId, agoMs, outcomes, durationMs = 20, count = 1 } = past;
  await db.query(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind)
       select $1, $2, 'webhook.test' from generate_series(1, $6::int)
       returning id
     ), delivery as (
       insert into deliveries (workspace_id, id, event_id, endpoint_id, state, created_at, finished_at)
       select $1, 'dlv_' || lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
           || right(replace(gen_random_uuid()::text, '-', ''), 20),
         event.id, $2, 'delivered', at, at
       from event, (select now_ms() - $3 * interval '1 ms' as at) as past
       returning id, created_at
     )
     insert into attempts (workspace_id, delivery_id, number, started_at, finished_at, outcome, http_status,
       duration_ms)
     select $1, delivery.id, tried.number, created_at, case when tried.outcome is not null then created_at end,
       tried.outcome, case when tried.outcome in ('delivered', 'http_status') then 200 end,
       case when tried.outcome is not null then $5::int end
     from delivery, unnest($4::text[]) with ordinality as tried (outcome, number)`,
    [workspaceId, endpointId, agoMs, outcomes, durationMs, count],
  );
}

test("an endpoint's days count attempts that ended well and badly, and time those that were answered", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const { id: endpointId } = await makeEndpoint(db, workspaceId, "https://hooks.example/one");
  const its = { workspaceId, endpointId };
  await makeDeliveries({ ...its, agoMs: 2 * dayMs, outcomes: ["delivered"], count: 8 });
  const durationMs = 900;
  await makeDeliveries({ ...its, agoMs: 2 * dayMs, outcomes: ["http_status"], durationMs });
  await makeDeliveries({ ...its, agoMs: 2 * dayMs, outcomes: ["interrupted", "timed_out", null] });
  await makeDeliveries({ ...its, agoMs: 40 * dayMs, outcomes: ["delivered"] });
  const days = await readEndpointDays(db, { ...its, days: 14 });
  assert.equal(days.length, 14);
  assert.deepEqual(
    days.map(({ day }) => day),
    days.map(({ day }) => day).sort(),
  );
  const { day: _, ...told } = days.find(({ succeeded }) => succeeded > 0) ?? { day: "" };
  assert.deepEqual(told, { succeeded: 8, failed: 2, medianMs: 20, p90Ms: 900 });
  assert.equal(days.filter(({ medianMs }) => medianMs !== null).length, 1);
});

test("an endpoint's days tell nothing to another workspace", async () => {
  const [one, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  const { id: endpointId } = await makeEndpoint(db, one.id, "https://hooks.example/one");
  await makeDeliveries({ workspaceId: one.id, endpointId, agoMs: dayMs, outcomes: ["delivered"] });
  const told = await readEndpointDays(db, { workspaceId: other.id, endpointId, days: 14 });
  assert.ok(told.every(({ succeeded, failed }) => succeeded + failed === 0));
});

test("of a busy day a sample is looked at, and its counts are scaled up to the whole", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const { id: endpointId } = await makeEndpoint(db, workspaceId, "https://hooks.example/one");
  const count = endpointSampleSize * 4;
  await makeDeliveries({ workspaceId, endpointId, agoMs: dayMs, outcomes: ["delivered"], count });
  const look = () => readEndpointDays(db, { workspaceId, endpointId, days: 14 });
  const days = await look();
  assert.equal(
    days.reduce((sum, { succeeded }) => sum + succeeded, 0),
    count,
  );
  assert.deepEqual(await look(), days);
});
