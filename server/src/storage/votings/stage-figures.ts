// Counts how long the stages of a day's requests took, and how many requests escalated.

import type { Queryable } from "../../database/database.ts";
import { countStages, type StageFigures } from "../../domain/approval/stage-figures.ts";
import { bucketStarts } from "../../domain/approval/times.ts";

/** What `figures.recount` looked at, and what it found. */
export type CountedApprovals = {
  fromId: string;
  beforeId: string;
  earlierIds: readonly string[];
  /** Approvals with a smaller id are final, but for the open ones. */
  untilId: string;
  openIds: readonly string[];
};

type Row = {
  is_group: boolean;
  name: string | null;
  bucket: number;
  is_final: boolean;
  count: number;
};

/**
 * The same approvals as the count of their outcomes, the final ones apart. What became final in between was open then,
 * and is left for the next count. A final approval's stages don't change any more.
 */
export async function recount(
  db: Queryable,
  workspaceId: string,
  { fromId, beforeId, earlierIds, untilId, openIds }: CountedApprovals,
): Promise<{ final: StageFigures; open: StageFigures }> {
  const { rows } = await db.query<Row>({
    name: "stageFigures.recount",
    text: recountSql,
    values: [workspaceId, fromId, beforeId, earlierIds, untilId, openIds, bucketStarts],
  });
  return {
    final: toFigures(rows.filter((row) => row.is_final)),
    open: toFigures(rows.filter((row) => !row.is_final)),
  };
}

/** The row without a name counts the requests that escalated. */
function toFigures(rows: readonly Row[]): StageFigures {
  const stages = rows.flatMap(({ is_group: isGroup, name, bucket, count }) =>
    name === null ? [] : [{ isGroup, name, bucket, count }],
  );
  const escalated = rows.find(({ name }) => name === null)?.count ?? 0;
  return countStages(stages, escalated);
}

const votedIn = (condition: string) => `
  select v.approval_id as id, v.escalated_at is not null as is_escalated, a.is_over,
    a.is_over and v.approval_id < $5 and v.approval_id <> all ($6::text[]) as is_final
  from votings v
  cross join lateral (
    select a.status <> 'PENDING' as is_over from approvals a
    where a.workspace_id = $1 and a.id = v.approval_id
    limit 1
  ) as a
  where v.workspace_id = $1 and ${condition}`;

const recountSql = `
  with voted as materialized (
    ${votedIn("v.approval_id >= $2 and v.approval_id < $3")}
    union all
    ${votedIn("v.approval_id = any ($4::text[])")}
  )
  select s.is_group, s.name, s.bucket, voted.is_final, count(*)::int as count
  from voted
  cross join lateral (
    select s.group_id is not null as is_group, coalesce(s.group_name, lower(s.notify)) as name,
      greatest(0, width_bucket(
        round(extract(epoch from s.completed_at - s.entered_at)::float8 * 1000), $7::float8[]) - 1) as bucket
    from stages s
    where s.workspace_id = $1 and s.approval_id = voted.id and s.completed_at is not null
    offset 0
  ) as s
  where voted.is_over
  group by 1, 2, 3, 4
  union all
  select false, null, 0, is_final, count(*)::int from voted where is_escalated group by is_final`;
