// The approvals that wait in a workspace right now: how many, and since when the oldest of them.

import type { Queryable } from "../../database/database.ts";
import { pendingCountMax } from "../../domain/limits.ts";

/** `isMore` when there are more than were looked at: with that many waiting the exact number helps nobody. */
export async function readPending(
  db: Queryable,
  workspaceId: string,
): Promise<{ count: number; isMore: boolean; oldestCreatedAt: Date | null }> {
  const { rows } = await db.query<{
    looked_at: number;
    waiting: number;
    oldest_created_at: Date | null;
  }>({
    name: "pending.read",
    // Approvals past their end wait for nobody, but only the rows found are checked for that. Status and workspace are
    // compared as a pair, which only the index of statuses knows: by itself the planner reads everything pending in
    // every workspace, by its end, since it expects to find nothing.
    text: `
      with oldest as materialized (
        select created_at, expires_at
        from approvals
        where (status, workspace_id) >= ('PENDING', $1) and (status, workspace_id) <= ('PENDING', $1)
        order by status, workspace_id, id
        limit ${pendingCountMax + 1}
      )
      select count(*)::int as looked_at,
        count(*) filter (where expires_at > now())::int as waiting,
        min(created_at) filter (where expires_at > now()) as oldest_created_at
      from oldest`,
    values: [workspaceId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a count told nothing");
  return {
    count: Math.min(row.waiting, pendingCountMax),
    isMore: row.looked_at > pendingCountMax,
    oldestCreatedAt: row.oldest_created_at,
  };
}
