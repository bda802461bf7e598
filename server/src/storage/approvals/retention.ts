// Requests that ended longer ago than their workspace keeps them. The database's own function deletes them, and checks
// the age itself: the service has no right to.

import type { Queryable, Transaction } from "../../database/database.ts";

/** Workspaces that don't keep their requests for ever. */
export async function listWorkspaces(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: "retention.listWorkspaces",
    text: "select id from workspaces where retention_days is not null order by id",
  });
  return rows.map(({ id }) => id);
}

/** The UTC days, as 2026-03-31, of the requests that are deleted next. */
export async function listDaysOfOld(
  db: Queryable,
  workspaceId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ day: string }>({
    name: "retention.listDaysOfOld",
    text: `
      select distinct to_char(old.created_at at time zone 'utc', 'YYYY-MM-DD') as day
      from (
        select now() - retention_days * interval '1 day' as cutoff from workspaces where id = $1
      ) as kept
      cross join lateral (
        select a.created_at from approvals a
        where a.workspace_id = $1 and a.status <> 'PENDING' and a.resolved_at < kept.cutoff
          and a.id < 'req_' || lpad(to_hex(ceil(extract(epoch from kept.cutoff) * 1000)::bigint), 12, '0')
        order by a.id limit $2
      ) as old
      order by day`,
    values: [workspaceId, limit],
  });
  return rows.map(({ day }) => day);
}

/** Answers how many were deleted; fewer than the limit when no more are old enough, or others are at it. */
export async function deleteOld(
  tx: Transaction,
  workspaceId: string,
  limit: number,
): Promise<number> {
  const { rows } = await tx.query<{ deleted: number }>({
    name: "retention.deleteOld",
    text: "select delete_old_requests($1, $2) as deleted",
    values: [workspaceId, limit],
  });
  return rows[0]?.deleted ?? 0;
}
