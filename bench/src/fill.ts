// Fills the service's tables with finished approvals, as the service itself would have left them after a year: each with
// its reviewer, its events, its deliveries and their attempts. All of it is made by PostgreSQL, from numbers: what an
// approval looks like follows from its number alone, so every table is written without looking at another.
//
// Nobody else may write at the same time: until the end the tables have neither indexes, foreign keys nor triggers. So
// these requests have no entries in the log, as those from before it.

import { randomInt } from "node:crypto";
import type { Database } from "../../server/src/database/database.ts";

export type Filling = {
  /** Without limits of their plans. They take turns. Those with endpoints get webhooks, which have all arrived. */
  workspaceIds: string[];
  count: number;
  /** Ends it at once, and leaves a database behind that is of no use any more. */
  signal: AbortSignal;
  progress(text: string): void;
};

/** So few that what was written is still in memory when it is vacuumed. */
const stepRows = 100_000;

const dayMs = 86_400_000;
const yearMs = 365 * dayMs;
/** As long as all of them were given: the last one has ended by now, whatever became of it. */
const ttlMs = dayMs;
const reminderMs = 0.9 * ttlMs;
const settlingMs = 600_000;

export async function fillWithFinished(db: Database, filling: Filling): Promise<void> {
  const { signal, progress, count } = filling;
  const loaders = await openLoaders(db, signal);
  try {
    const values = await sharedValues(loaders, filling);
    const dropped = await dropSlowParts(loaders);
    try {
      for (let from = 0; from < count; from += stepRows) {
        const until = Math.min(from + stepRows, count);
        await loadStep(loaders, [from, until, ...values]);
        progress(
          `${until.toLocaleString("en")} of ${count.toLocaleString("en")} finished requests`,
        );
      }
      progress("indexes and foreign keys of the finished requests");
    } finally {
      if (!signal.aborted) await restore(loaders, dropped);
    }
    // Nothing here searches, and a worker that indexes them would run beside everything that is measured.
    await share(loaders.slice(0, 1), ["truncate search_queue"]);
    await settle(loaders);
  } finally {
    for (const loader of loaders) loader.close();
  }
}

type Loader = {
  run<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  close(): void;
};

const loadingSettings = [
  "set statement_timeout = 0",
  "set synchronous_commit = off",
  "set maintenance_work_mem = '1GB'",
  "set work_mem = '256MB'",
  // The lanes use both processors of a small machine already.
  "set max_parallel_maintenance_workers = 0",
];

async function openLoaders(db: Database, signal: AbortSignal): Promise<Loader[]> {
  return Promise.all(lanes.map(() => openLoader(db, signal)));
}

/** A connection of the pool that is closed afterwards, and its settings with it. */
async function openLoader(db: Database, signal: AbortSignal): Promise<Loader> {
  const client = await db.connect();
  // The waiting caller hears of it, too; unheard it would end the process.
  client.on("error", () => {});
  let isOpen = true;
  function close(): void {
    signal.removeEventListener("abort", close);
    if (isOpen) client.release(true);
    isOpen = false;
  }
  signal.addEventListener("abort", close);
  for (const setting of loadingSettings) await client.query(setting);
  return {
    async run<Row>(text: string, values: unknown[] = []) {
      signal.throwIfAborted();
      // The pool's own limit is for calls, and would end this after some seconds.
      const query = { text, values, query_timeout: dayMs };
      try {
        return (await client.query(query)).rows as Row[];
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
    close,
  };
}

/** Runs each on whichever loader is free, in this order. */
async function share(loaders: Loader[], statements: string[]): Promise<void> {
  const waiting = [...statements];
  await Promise.all(
    loaders.map(async (loader) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await loader.run(next);
      }
    }),
  );
}

/** Statements that bring back what was dropped: in this order, and in any order within a list. */
type Dropped = { indexes: string[]; others: string[]; foreignKeys: string[]; checks: string[] };

/** To make an index of all rows at once takes a fraction of the time that growing it takes. */
async function dropSlowParts([loader]: Loader[]): Promise<Dropped> {
  if (loader === undefined) throw new Error("there is no connection to fill with");
  const indexes = await loader.run<Index>(indexesSql, [tables]);
  const keys = await loader.run<ForeignKey>(foreignKeysSql, [tables]);
  const options = await loader.run<{ table: string; options: string }>(optionsSql, [tables]);
  const drops = [
    ...keys.map(({ table, name }) => `alter table ${table} drop constraint ${name}`),
    ...indexes.map(({ table, name, isPrimary }) =>
      isPrimary ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`,
    ),
    // Pages with room for changes are no use to rows that will never change. And they are vacuumed here.
    ...tables.map(
      (table) => `alter table ${table} set (fillfactor = 100, autovacuum_enabled = off)`,
    ),
    // They look things up by the indexes that are gone, for each row.
    ...tables.map((table) => `alter table ${table} disable trigger user`),
  ];
  // As one statement, so that it is done as a whole or not at all.
  await loader.run(`do $$ begin ${drops.join("; ")}; end $$`);
  return {
    indexes: indexes.map(({ definition }) => definition),
    others: [
      ...indexes.flatMap(({ table, name, isPrimary }) =>
        isPrimary
          ? [`alter table ${table} add constraint ${name} primary key using index ${name}`]
          : [],
      ),
      ...tables.map((table) => `alter table ${table} enable trigger user`),
      ...tables.map((table) => `alter table ${table} reset (fillfactor, autovacuum_enabled)`),
      ...options.map((each) => `alter table ${each.table} set (${each.options})`),
    ],
    foreignKeys: keys.map(
      ({ table, name, definition }) =>
        `alter table ${table} add constraint ${name} ${definition} not valid`,
    ),
    checks: keys.map(({ table, name }) => `alter table ${table} validate constraint ${name}`),
  };
}

type Index = { table: string; name: string; definition: string; isPrimary: boolean };

/** Those that take longest first, so that in the end nobody waits long for the other. */
const indexesSql = `
  select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as name,
    pg_get_indexdef(i.indexrelid) as definition, i.indisprimary as "isPrimary"
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  join pg_am on pg_am.oid = c.relam
  where i.indrelid = any ($1::regclass[])
  order by pg_am.amname = 'gin' desc, i.indpred is not null, array_position($1, i.indrelid::regclass) desc`;

type ForeignKey = { table: string; name: string; definition: string };

const foreignKeysSql = `
  select conrelid::regclass::text as table, quote_ident(conname) as name,
    pg_get_constraintdef(oid) as definition
  from pg_constraint
  where contype = 'f' and (conrelid = any ($1::regclass[]) or confrelid = any ($1::regclass[]))
  order by array_position($1, conrelid::regclass) desc`;

const optionsSql = `
  select oid::regclass::text as table, array_to_string(reloptions, ', ') as options
  from pg_class
  where oid = any ($1::regclass[]) and reloptions is not null`;

async function restore(
  loaders: Loader[],
  { indexes, others, foreignKeys, checks }: Dropped,
): Promise<void> {
  await share(loaders, indexes);
  // Checked with the statistics at hand: with plans for empty tables it would take hours.
  await share(
    loaders,
    tables.map((table) => `analyze ${table}`),
  );
  await share(loaders.slice(0, 1), [...others, ...foreignKeys]);
  await share(loaders, checks);
}

/**
 * Vacuumed at once, while the pages are in memory and were written since the last checkpoint: later, each of them would
 * be written again, and once more into the log. For that nobody may be in the middle of a statement, so lanes keep step.
 */
async function loadStep(loaders: Loader[], values: unknown[]): Promise<void> {
  await Promise.all(loaders.map((loader, at) => loader.run(lanes[at]?.load ?? "", values)));
  await share(
    loaders,
    tables.map((table) => `vacuum (freeze, truncate off) ${table}`),
  );
}

/** So that the planner knows the tables, and what was written is not still to be written while others measure. */
async function settle(loaders: Loader[]): Promise<void> {
  await share(
    loaders,
    [...tables, "monthly_usage"].map((table) => `vacuum (freeze) ${table}`),
  );
  // Only a superuser may ask for a checkpoint. To drop a database makes one.
  await share(loaders.slice(0, 1), [
    "create database countersign_checkpoint",
    "drop database countersign_checkpoint",
  ]);
}

/** $3 and so on: the workspaces, the first millisecond, how many there are, for how many rows, and a seed. */
async function sharedValues(
  [loader]: Loader[],
  { workspaceIds, count }: Filling,
): Promise<unknown[]> {
  const known = await loader?.run("select from workspaces where id = any ($1)", [workspaceIds]);
  if (known?.length !== workspaceIds.length) throw new Error("there are no such workspaces");
  // Counted days are kept, and would not learn of what was added to them.
  await loader?.run("delete from daily_figures where workspace_id = any ($1)", [workspaceIds]);
  const lastMs = Date.now() - ttlMs - settlingMs;
  return [workspaceIds, lastMs - yearMs, yearMs, count, randomInt(2 ** 40)];
}

/**
 * An id as new_id() makes it: the millisecond in 12 hex digits (the first is 0 for centuries), and 20 more. The first
 * 16 of these are random and the same in all rows of one approval. The last 4 tell rows in one table apart.
 */
function id(prefix: string, ms: string, last = "'0000'"): string {
  return `'${prefix}_0' || to_hex(${ms}) || random_digits || ${last}`;
}

function time(ms: string): string {
  return `to_timestamp((${ms}) / 1000.0::float8)`;
}

/** `offset 0` has the planner compute each column once, however often it is used. */
const approvals = `
  select n, workspace_id, created_ms, status, luck, random_digits,
    case status when 'EXPIRED' then created_ms + ${ttlMs}
      -- Most are decided soon, and all before the reminder.
      else created_ms + 20000 + 70 * (luck / 1000 % 1000) * (luck / 1000000 % 1000) end as resolved_ms,
    ${id("req", "created_ms")} as id, ${id("rev", "created_ms")} as reviewer_id,
    'reviewer-' || luck / 1000000000 % 40 || '@example.com' as email
  from (
    select n, luck, ($3::text[])[1 + n % cardinality($3::text[])] as workspace_id,
      $4::bigint + n * $5::bigint / $6::bigint as created_ms,
      case when luck % 100 < 72 then 'APPROVED' when luck % 100 < 86 then 'REJECTED'
        when luck % 100 < 95 then 'EXPIRED' else 'CANCELLED' end as status,
      -- With the first bit set there are 16 digits.
      to_hex(hashint8extended(n, $7::bigint + 1) | (1::bigint << 63)) as random_digits
    from (
      select n, hashint8extended(n, $7::bigint) & 9223372036854775807 as luck
      from generate_series($1::bigint, $2::bigint - 1) as n
      offset 0
    ) as numbered
    offset 0
  ) as rolled`;

/** A sweep writes its results a moment after they happened, and their ids tell when they were written. */
const events = `
  select *, ${id("evt", "written_ms", "'000' || digit")} as id
  from (
    select workspace_id, id as approval_id, reviewer_id, luck, random_digits, 'request.created' as kind,
      created_ms as at_ms, created_ms as written_ms, '0' as digit, true as is_mailed, true as is_posted
    from approval
    union all
    select workspace_id, id, reviewer_id, luck, random_digits, 'request.expiring',
      created_ms + ${reminderMs} + luck % 300, created_ms + ${reminderMs} + luck % 300, '1', true, false
    from approval
    where status = 'EXPIRED'
    union all
    select workspace_id, id, reviewer_id, luck, random_digits, 'request.' || lower(status), resolved_ms,
      case when status = 'EXPIRED' then resolved_ms + luck % 300 else resolved_ms end, '2', false, true
    from approval
  ) as happened`;

/** To endpoints that are told of everything. */
const deliveries = `
  select e.workspace_id, e.id as event_id, null as endpoint_id, e.reviewer_id, written_ms, luck,
    ${id("dlv", "written_ms", "'000' || digit")} as id
  from event e
  where is_mailed
  union all
  select e.workspace_id, e.id, p.id, null, written_ms, luck, ${id("dlv", "written_ms", "p.digits || digit")}
  from event e
  join (
    select workspace_id, id, lpad((row_number() over (partition by workspace_id order by id))::text, 3, '0') as digits
    from endpoints
    where workspace_id = any ($3::text[]) and event_kinds is null and disabled_at is null
  ) as p on p.workspace_id = e.workspace_id
  where is_posted`;

const payload = (amount: string) => `
  '{"tool":"payments.refund","arguments":{"orderId":"' || n || '","customerId":' || 10000 + luck % 100000
  || ',"amount":{"value":"' || ${amount} || '.00","currency":"EUR"},"reason":"damaged_on_arrival","lines":[{"sku":"LMP-'
  || luck % 5000 || '-BR","title":"Desk lamp, brass","quantity":1}],"notifyCustomer":true}}'`;

const writeApprovals = `
  insert into approvals (
    workspace_id, id, status, summary, payload, metadata, edit, reasoning, recent_actions, agent_name, approver_email,
    idempotency_key, body_digest, created_at, expires_at, remind_at, resolved_at, resolved_by_email, resolution_note
  )
  select workspace_id, id, status,
    'Refund ' || luck % 500 || ' EUR for order ' || n || ', '
      || (array['arrived damaged', 'never arrived', 'sent back', 'charged twice', 'wrong size'])[1 + luck % 5],
    ${payload("luck % 500")},
    '{"conversation":"conv_' || random_digits || '","traceId":"' || right(id, 32) || '"}',
    case when status = 'APPROVED' and luck % 20 = 0 then ${payload("luck % 400")} end,
    'The order was delivered three days ago, within the 30 days of the returns policy. The amount is above my limit.',
    '["Looked up order ' || n || '","Asked the customer for photographs and received two"]',
    'agent-' || luck % 12, email,
    case when luck % 2 = 0 then right(id, 32) end,
    case when luck % 2 = 0 then sha256(id::bytea) end,
    ${time("created_ms")}, ${time(`created_ms + ${ttlMs}`)},
    case when status <> 'EXPIRED' then ${time(`created_ms + ${reminderMs}`)} end, ${time("resolved_ms")},
    case when status in ('APPROVED', 'REJECTED') then email end,
    case when status = 'REJECTED' and luck % 3 > 0 then 'Please ask for photographs first.' end
  from approval`;

const writeReviewers = `
  insert into reviewers (
    workspace_id, id, approval_id, email, secret_key_id, token_nonce, token_digest, created_at, opened_at
  )
  select workspace_id, reviewer_id, id, email, 'benchmark', decode(right(id, 32), 'hex'), sha256(reviewer_id::bytea),
    ${time("created_ms")}, case when status in ('APPROVED', 'REJECTED') then ${time("resolved_ms - 15000")} end
  from approval`;

/** Each approval counts in the month of its creation. */
const countUse = `
  insert into monthly_usage as u (workspace_id, month, requests, granted)
  select workspace_id, date_trunc('month', ${time("created_ms")} at time zone 'utc')::date, count(*), 1
  from approval
  group by 1, 2
  on conflict (workspace_id, month) do update set requests = u.requests + excluded.requests`;

const writeEvents = `
  insert into events (workspace_id, id, approval_id, kind, created_at)
  select workspace_id, id, approval_id, kind, ${time("at_ms")} from event`;

const writeDeliveries = `
  insert into deliveries (
    workspace_id, id, event_id, channel, endpoint_id, reviewer_id, state, due_at, attempts, created_at, finished_at
  )
  select workspace_id, id, event_id, case when endpoint_id is null then 'mail' else 'webhook' end, endpoint_id, reviewer_id, 'delivered', ${time("written_ms")}, 1,
    ${time("written_ms")}, ${time("written_ms + 15 + luck % 150")}
  from delivery`;

const writeAttempts = `
  insert into attempts (
    workspace_id, delivery_id, number, started_at, finished_at, outcome, http_status, response_start, duration_ms
  )
  select workspace_id, id, 1, ${time("written_ms + 5")}, ${time("written_ms + 15 + luck % 150")}, 'delivered',
    case when endpoint_id is not null then 200 end,
    case when endpoint_id is not null then '{"received":true}' else '250 2.0.0 Ok: queued' end, 8 + luck % 150
  from delivery`;

/** The work of two connections, side by side, so that both have about as much to do. */
const lanes: { tables: string[]; load: string }[] = [
  {
    tables: ["approvals", "reviewers"],
    load: `
      with approval as materialized (${approvals}),
      reviewer as (${writeReviewers}),
      usage as (${countUse})
      ${writeApprovals}`,
  },
  {
    tables: ["events", "deliveries", "attempts"],
    load: `
      with approval as materialized (${approvals}),
      event as materialized (${events}),
      delivery as materialized (${deliveries}),
      written_event as (${writeEvents}),
      written_delivery as (${writeDeliveries})
      ${writeAttempts}`,
  },
];
const tables = lanes.flatMap((lane) => lane.tables);
