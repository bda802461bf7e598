// What needs attention in a workspace, in one statement: endpoints in trouble, requests that expire soon, mails and
// callbacks that failed. Each part reads a bounded stretch of an index, because every open dashboard asks this twice a minute.

import type { Queryable } from "../../database/database.ts";
import { testEventKind } from "../../domain/approval/event.ts";
import {
  attentionCountMax,
  attentionDays,
  attentionReadMax,
  expiringSoonMinutesMax,
  expiringSoonShare,
  pendingCountMax,
} from "../../domain/limits.ts";
import { type PlanUse, type PlanUseRow, planUseSql, toPlanUse } from "../approvals/figures.ts";
import { mayStillDecide } from "../approvals/may-still-decide.ts";

export type EndpointInTrouble = {
  id: string;
  name: string | null;
  url: string;
  failingSince: Date | null;
  disabledAt: Date | null;
  /** Counted up to one more than `attentionCountMax`, like the others here. */
  missed: number;
  lastMissedAt: Date | null;
  waiting: number;
};

export type WorkspaceAttention = {
  now: Date;
  endpoints: EndpointInTrouble[];
  expiring: { count: number; isMore: boolean; firstId: string | null; firstAt: Date | null };
  /** Newest first, at most one more than `attentionCountMax`. */
  failedMails: { deliveryId: string; email: string; failedAt: Date }[];
  /** By host, newest first, with one delivery of each. Counted up to one more than `attentionCountMax` in all. */
  failedCallbacks: { deliveryId: string; host: string; failedAt: Date; count: number }[];
  /** Null when there is no such workspace. */
  planUse: PlanUse | null;
};

/** Dates in JSON are text. */
type AttentionRow = {
  now: Date;
  endpoints: {
    id: string;
    name: string | null;
    url: string;
    failing_since: string | null;
    disabled_at: string | null;
    missed: number;
    last_missed_at: string | null;
    waiting: number;
  }[];
  looked_at: number;
  expiring: number;
  first_id: string | null;
  first_at: Date | null;
  mails: { id: string; email: string; finished_at: string }[];
  callbacks: { id: string; host: string; finished_at: string; count: number }[];
  plan_use: PlanUseRow | null;
};

export async function readAttention(
  db: Queryable,
  workspaceId: string,
): Promise<WorkspaceAttention> {
  const { rows } = await db.query<AttentionRow>({
    name: "attention.read",
    text: attentionSql,
    values: [workspaceId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the statement answers one row");
  return {
    now: row.now,
    endpoints: row.endpoints.map((each) => ({
      id: each.id,
      name: each.name,
      url: each.url,
      failingSince: toDate(each.failing_since),
      disabledAt: toDate(each.disabled_at),
      missed: each.missed,
      lastMissedAt: toDate(each.last_missed_at),
      waiting: each.waiting,
    })),
    expiring: {
      count: row.expiring,
      isMore: row.looked_at > pendingCountMax,
      firstId: row.first_id,
      firstAt: row.first_at,
    },
    failedMails: row.mails.map(({ id, email, finished_at }) => ({
      deliveryId: id,
      email,
      failedAt: new Date(finished_at),
    })),
    failedCallbacks: row.callbacks.map(({ id, host, finished_at, count }) => ({
      deliveryId: id,
      host,
      failedAt: new Date(finished_at),
      count,
    })),
    planUse: row.plan_use === null ? null : toPlanUse(row.plan_use),
  };
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

/** An id begins with the millisecond of its row, so days are a stretch of an index. */
const firstIdOfDays = `'dlv_' || lpad(to_hex(
  floor(extract(epoch from now() - interval '${attentionDays} days') * 1000)::bigint), 12, '0')`;

// Sub-selects with a limit look rows up, because plain joins, planned while the tables were small, would walk through
// all rows of a workspace. The ends of pending approvals are compared with sub-selects for the same reason: the planner
// can't look into them and expects few rows in between, so the index by end seems best also while its figures say that
// everything is pending.
const attentionSql = `
  with pending as materialized (
    select id, created_at, expires_at
    from approvals
    where status = 'PENDING' and workspace_id = $1 and expires_at > (select now())
      and expires_at <= (select now() + interval '${expiringSoonMinutesMax} minutes')
    order by workspace_id, expires_at, id
    limit ${pendingCountMax + 1}
  ),
  expiring as materialized (
    select id, expires_at from pending
    where expires_at - now() <= (expires_at - created_at) * ${expiringSoonShare}
  ),
  endpoint as materialized (
    select id, name, url, failing_since, disabled_at from endpoints
    where workspace_id = $1 and (disabled_at is null or is_given_up)
  ),
  trouble as (
    select e.*, missed.count as missed, missed.last_at as last_missed_at,
      case when e.disabled_at is null then waiting.count else 0 end as waiting
    from endpoint e
    cross join lateral (
      select count(*)::int as count, max(each.at) as last_at
      from (
        select newest.at
        from (
          select d.workspace_id, d.event_id, d.state, coalesce(d.finished_at, d.due_at) as at
          from deliveries d
          where d.endpoint_id = e.id and d.workspace_id = $1 and d.state in ('failed', 'skipped')
            and d.id >= ${firstIdOfDays}
          order by d.endpoint_id desc, d.id desc
          limit ${attentionReadMax}
        ) as newest
        cross join lateral (
          select ev.kind from events ev
          where ev.workspace_id = newest.workspace_id and ev.id = newest.event_id limit 1
        ) as ev
        where (newest.state = 'failed' or e.disabled_at is not null) and ev.kind <> '${testEventKind}'
        limit ${attentionCountMax + 1}
      ) as each
    ) as missed
    cross join lateral (
      select count(*)::int as count
      from (
        select from deliveries d
        where d.endpoint_id = e.id and d.workspace_id = $1 and d.state = 'due' and e.failing_since is not null
        order by d.endpoint_id, d.due_at, d.id
        limit ${attentionCountMax + 1}
      ) as due
    ) as waiting
    where e.failing_since is not null or e.disabled_at is not null or missed.count > 0
  ),
  mail as (
    select d.id, d.finished_at, r.email
    from (
      select d.workspace_id, d.id, d.finished_at, d.event_id, d.reviewer_id
      from deliveries d
      where d.workspace_id = $1 and d.state = 'failed' and d.channel = 'mail' and d.reviewer_id is not null
        and d.id >= ${firstIdOfDays}
      order by d.workspace_id desc, d.id desc
      limit ${attentionReadMax}
    ) as d
    cross join lateral (
      select r.id, r.workspace_id, r.email, r.approval_id from reviewers r
      where r.workspace_id = d.workspace_id and r.id = d.reviewer_id limit 1
    ) as r
    cross join lateral (
      select a.workspace_id, a.id, a.status, a.expires_at, a.group_id, a.has_seats from approvals a
      where a.workspace_id = d.workspace_id and a.id = r.approval_id limit 1
    ) as a
    where ${mayStillDecide("a", "r")}
    order by d.id desc
    limit ${attentionCountMax + 1}
  ),
  -- An action that was redeemed was told of its outcome some other way.
  callback as (
    select untold.host, count(*)::int as count, max(untold.id) as id, max(untold.finished_at) as finished_at
    from (
      select d.id, d.recipient as host, d.finished_at
      from (
        select d.workspace_id, d.id, d.finished_at, d.event_id, d.recipient
        from deliveries d
        where d.workspace_id = $1 and d.state = 'failed' and d.channel = 'callback' and d.id >= ${firstIdOfDays}
        order by d.workspace_id desc, d.id desc
        limit ${attentionReadMax}
      ) as d
      cross join lateral (
        select ev.approval_id from events ev
        where ev.workspace_id = d.workspace_id and ev.id = d.event_id limit 1
      ) as ev
      left join lateral (
        select true as is_redeemed from redemptions done
        where done.workspace_id = d.workspace_id and done.approval_id = ev.approval_id limit 1
      ) as done on true
      where done.is_redeemed is null
      order by d.id desc
      limit ${attentionCountMax + 1}
    ) as untold
    group by untold.host
  )
  select now_ms() as now,
    coalesce((select jsonb_agg(to_jsonb(trouble)) from trouble), '[]') as endpoints,
    (select count(*)::int from pending) as looked_at,
    (select count(*)::int from expiring) as expiring,
    first.id as first_id, first.expires_at as first_at,
    coalesce((select jsonb_agg(to_jsonb(mail) order by mail.id desc) from mail), '[]') as mails,
    coalesce((select jsonb_agg(to_jsonb(callback) order by callback.id desc) from callback), '[]') as callbacks,
    (select to_jsonb(use) from (${planUseSql}) as use) as plan_use
  from (select) as one
  left join lateral (select id, expires_at from expiring order by expires_at, id limit 1) as first on true`;
