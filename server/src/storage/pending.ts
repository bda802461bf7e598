// What waits in a workspace right now: how many approvals, and since when the oldest of them.

import { pendingCountMax } from "../domain/limits.ts";
import type { Queryable } from "./database.ts";

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
    // What is past its end waits for nobody, but is asked only of what was found: with that condition inside, the planner
    // reads all that is pending in every workspace, by its end. The status must stand there as it is for the same
    // reason: of a status that it does not know the planner expects many, and looks for them among all approvals.
    text: `
      with oldest as materialized (
        select created_at, expires_at
        from approvals
        where status = 'PENDING' and workspace_id = $1
        order by id
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
