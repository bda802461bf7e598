// The outcomes of a workspace's approvals, counted by day: the counting statements, the daily_figures table that keeps
// counted days, and how much of the plan was used.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import {
  type AlikeApprovals,
  type CountedDay,
  endOfDay,
  noTally,
  startOfDay,
  type Tally,
} from "../../domain/approval/figures.ts";
import { keyOf, noStageFigures, type StageFigures } from "../../domain/approval/stage-figures.ts";
import { bucketStarts, type Times } from "../../domain/approval/times.ts";
import { figureAgentsMax, figureOpenIdsMax, figureSettlingSeconds } from "../../domain/limits.ts";
import { firstIdAt } from "./approvals.ts";

/** An id begins with the millisecond of created_at, so a day is a stretch of the primary key. */
export function idsOfDay(day: string): { fromId: string; untilId: string } {
  return {
    fromId: firstIdAt(startOfDay(day).getTime()),
    untilId: firstIdAt(endOfDay(day).getTime()),
  };
}

/** Every smaller id of the day is committed or never will be. It is the day's end once that has settled. */
export function settledId(day: string, now: Date): string {
  const settledMs = now.getTime() - figureSettlingSeconds * 1_000;
  const from = startOfDay(day).getTime();
  return firstIdAt(Math.max(from, Math.min(settledMs, endOfDay(day).getTime())));
}

/** The database's time, and the workspace's first approval: before it there is nothing to count. */
export async function readStart(
  db: Queryable,
  workspaceId: string,
): Promise<{ now: Date; firstId: string | null }> {
  const { rows } = await db.query<{ now: Date; first_id: string | null }>({
    name: "figures.readStart",
    text: `
      select now() as now,
        (select id from approvals where workspace_id = $1 order by id limit 1) as first_id`,
    values: [workspaceId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the database told no time");
  return { now: row.now, firstId: row.first_id };
}

export type Recount = {
  day: string;
  /** Every approval of the day from this id on is counted, and before it only `earlierIds`. */
  fromId: string;
  earlierIds: readonly string[];
  /** Every approval with a smaller id is committed, or never will be. */
  settledId: string;
};

export type Recounted = {
  final: AlikeApprovals[];
  open: AlikeApprovals[];
  /** Every approval of the day with a smaller id is final or among the open ones. */
  untilId: string;
  openIds: string[];
};

/**
 * Counts alike approvals of a day in one statement, the final ones apart from those that may still change. An approval
 * pending past its end counts as expired. Agents beyond the most asking are counted as one. With very many pending,
 * final approvals count only up to the first pending one that does not fit into the list of open ones.
 */
export async function recount(
  db: Queryable,
  workspaceId: string,
  { day, fromId, earlierIds, settledId }: Recount,
): Promise<Recounted> {
  const bounds = idsOfDay(day);
  const { rows } = await db.query<CountedRow | EdgeRow>({
    name: "figures.recount",
    text: recountSql,
    values: [
      workspaceId,
      fromId,
      bounds.untilId,
      earlierIds,
      settledId,
      bounds.fromId,
      bucketStarts,
    ],
  });
  const edge = rows.find((row) => row.until_id !== null);
  if (edge === undefined) throw new Error(`the count of ${day} told no end`);
  const counted = rows.filter((row) => row.until_id === null);
  return {
    final: counted.filter((row) => row.is_final).map(toAlike),
    open: counted.filter((row) => !row.is_final).map(toAlike),
    untilId: edge.until_id,
    openIds: edge.open_ids,
  };
}

type CountedRow = {
  agent: string | null;
  status: ApprovalStatus;
  is_edited: boolean;
  bucket: number | null;
  is_final: boolean;
  count: number;
  until_id: null;
};

/** One more row, so that one statement, and so one moment, answers everything. */
type EdgeRow = { until_id: string; open_ids: string[] };

function toAlike({ agent, status, is_edited, bucket, count }: CountedRow): AlikeApprovals {
  return { agent, status, isEdited: is_edited, bucket, count };
}

const recountSql = `
  with edge as materialized (
    select coalesce((
      select id
      from approvals
      where status = 'PENDING' and workspace_id = $1 and id >= $6 and id < $5
      order by id
      offset ${figureOpenIdsMax}
      limit 1
    ), $5) as id
  ),
  counted as (
    ${countedIn("a.id >= $2 and a.id < $3")}
    union all
    ${countedIn("a.id = any ($4)")}
  ),
  alike as materialized (
    select agent, status, is_edited, bucket, is_final, count(*) as count
    from counted
    group by agent, status, is_edited, bucket, is_final
  ),
  most_asking as materialized (
    select agent
    from alike
    group by agent
    order by sum(count) desc, agent
    limit ${figureAgentsMax}
  )
  select m.agent, alike.status, is_edited, bucket, is_final, sum(count)::int as count,
    null as until_id, null as open_ids
  from alike
  left join most_asking m on m.agent = alike.agent
  group by m.agent, alike.status, is_edited, bucket, is_final
  union all
  select null, null, null, null, null, null, edge.id, array(
    select id
    from approvals
    where status = 'PENDING' and workspace_id = $1 and id >= $6 and id < edge.id
    order by id
  )
  from edge`;

// The domain's own list gives the bucket, so that there is one rule. The list begins with 1 ms, and PostgreSQL
// counts from 1: a decision within the first millisecond falls into the first bucket.
function countedIn(condition: string): string {
  return `
    select coalesce(a.agent_name, '') as agent,
      case when a.status = 'PENDING' and a.expires_at <= now() then 'EXPIRED' else a.status end as status,
      a.edit is not null as is_edited,
      case when a.status in ('APPROVED', 'REJECTED') then greatest(0, width_bucket(
        round(extract(epoch from a.resolved_at - a.created_at)::float8 * 1000), $7::float8[]) - 1) end as bucket,
      a.status <> 'PENDING' and a.id < (select id from edge) as is_final
    from approvals a
    where a.workspace_id = $1 and ${condition}`;
}

/** The counts of a tally that are kept: nothing that is kept is pending. */
type KeptTally = [
  approved: number,
  edited: number,
  rejected: number,
  expired: number,
  cancelled: number,
  times: string,
];

/** The content of the column. It is compact, because one request reads three months of it. */
type KeptFigures = {
  until: string;
  open: string[];
  total: KeptTally;
  agents: [agent: string, ...KeptTally][];
  /** Only where there are any. */
  stages?: KeptStages;
};

type KeptStages = [
  escalated: number,
  ...approvers: [isGroup: 0 | 1, name: string, times: string][],
];

export async function listKept(
  db: Queryable,
  workspaceId: string,
  firstDay: string,
): Promise<CountedDay[]> {
  const { rows } = await db.query<{ day: string; figures: KeptFigures }>({
    name: "figures.listKept",
    text: `
      select day::text as day, figures
      from daily_figures
      where workspace_id = $1 and day >= $2`,
    values: [workspaceId, firstDay],
  });
  return rows.map(({ day, figures }) => ({
    day,
    untilId: figures.until,
    openIds: figures.open,
    figures: {
      total: toTally(figures.total),
      agents: new Map(figures.agents.map(([agent, ...tally]) => [agent, toTally(tally)])),
      stages: toStages(figures.stages),
    },
  }));
}

/** Every count is right about the approvals it counted, early or late: of two at a time either may stay. */
export async function keep(
  tx: Transaction,
  workspaceId: string,
  { day, untilId, openIds, figures }: CountedDay,
): Promise<void> {
  const kept: KeptFigures = {
    until: untilId,
    open: [...openIds],
    total: toKept(figures.total),
    agents: [...figures.agents].map(([agent, tally]) => [agent, ...toKept(tally)]),
    ...toKeptStages(figures.stages),
  };
  await tx.query({
    name: "figures.keep",
    text: `
      insert into daily_figures (workspace_id, day, figures)
      values ($1, $2, $3)
      on conflict (workspace_id, day) do update set figures = excluded.figures`,
    values: [workspaceId, day, JSON.stringify(kept)],
  });
}

function toKept({ approved, edited, rejected, expired, cancelled, times }: Tally): KeptTally {
  return [approved, edited, rejected, expired, cancelled, times];
}

function toTally([approved, edited, rejected, expired, cancelled, times]: KeptTally): Tally {
  return { ...noTally, approved, edited, rejected, expired, cancelled, times: times as Times };
}

function toKeptStages({ escalated, approvers }: StageFigures): { stages?: KeptStages } {
  if (escalated === 0 && approvers.size === 0) return {};
  const each = [...approvers.values()].map(({ isGroup, name, times }): [0 | 1, string, string] => [
    isGroup ? 1 : 0,
    name,
    times,
  ]);
  return { stages: [escalated, ...each] };
}

function toStages(kept: KeptStages | undefined): StageFigures {
  if (kept === undefined) return noStageFigures;
  const [escalated, ...each] = kept;
  const approvers = each.map(([flag, name, times]) => {
    const approver = { isGroup: flag === 1, name, times: times as Times };
    return [keyOf(approver), approver] as const;
  });
  return { escalated, approvers: new Map(approvers) };
}

export type PlanUse = {
  plan: string;
  /** As 2026-03. */
  month: string;
  used: number;
  /** The workspace's own numbers override its plan's; null is no limit. */
  included: number | null;
  cap: number | null;
  hasOverage: boolean;
};

/** A statement that answers how much of its plan a workspace, `$1`, has used this UTC month. */
export const planUseSql = `
  select w.plan, to_char(this.month, 'YYYY-MM') as month, coalesce(u.requests, 0) as used,
    coalesce(w.included, p.included) as included, coalesce(w.cap, p.cap) as cap, p.has_overage
  from workspaces w
  join plans p on p.name = w.plan
  cross join (select date_trunc('month', now() at time zone 'utc')::date as month) as this
  left join monthly_usage u on u.workspace_id = w.id and u.month = this.month
  where w.id = $1`;

export type PlanUseRow = Omit<PlanUse, "hasOverage"> & { has_overage: boolean };

/** Null when there is no such workspace. */
export async function readPlanUse(db: Queryable, workspaceId: string): Promise<PlanUse | null> {
  const { rows } = await db.query<PlanUseRow>({
    name: "figures.readPlanUse",
    text: planUseSql,
    values: [workspaceId],
  });
  return rows.map(toPlanUse)[0] ?? null;
}

export function toPlanUse({ has_overage: hasOverage, ...use }: PlanUseRow): PlanUse {
  return { ...use, hasOverage };
}
