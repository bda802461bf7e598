// How far several people are with each request of a list. Only rows whose people have seats are asked for.

import type { Queryable } from "../../database/database.ts";

export type Progress = {
  /** Several people or stages were asked for, so answers tell of them. */
  isTold: boolean;
  stage: number;
  stages: number;
  /** Of the current revision, in the open stage. */
  approved: number;
  required: number;
  isEscalated: boolean;
  isStuck: boolean;
  isUnreachable: boolean;
};

type Row = {
  id: string;
  is_told: boolean;
  stage: number;
  stages: number;
  approved: number;
  required: number;
  is_escalated: boolean;
  is_stuck: boolean;
  is_unreachable: boolean;
};

export async function list(
  db: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, Progress>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<Row>(
    `select asked.id, v.is_told, v.stage, v.stages, v.approved, v.required, v.is_escalated, v.is_stuck,
       v.is_unreachable
     from unnest($2::text[]) as asked (id)
     cross join lateral (
       select v.stage::int as stage, s.required::int as required, a.voting is not null as is_told,
         (select count(*)::int from stages each
          where each.workspace_id = v.workspace_id and each.approval_id = v.approval_id) as stages,
         (select count(*)::int from votes x
          where x.workspace_id = v.workspace_id and x.approval_id = v.approval_id and x.revision = v.revision
            and x.stage = v.stage and x.verdict = 'approve') as approved,
         v.escalated_at is not null as is_escalated, v.stuck_at is not null as is_stuck,
         v.unreachable_at is not null as is_unreachable
       from votings v
       join stages s on s.workspace_id = v.workspace_id and s.approval_id = v.approval_id and s.number = v.stage
       join approvals a on a.workspace_id = v.workspace_id and a.id = v.approval_id
       where v.workspace_id = $1 and v.approval_id = asked.id
       limit 1
     ) as v`,
    [workspaceId, ids],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        ...{ isTold: row.is_told, stage: row.stage, stages: row.stages },
        ...{ approved: row.approved, required: row.required },
        ...{ isEscalated: row.is_escalated, isStuck: row.is_stuck },
        isUnreachable: row.is_unreachable,
      },
    ]),
  );
}
