// How many requests wait for one person just now, in all workspaces: all that a push message says.

import type { Queryable } from "../../database/database.ts";
import { pushCountMax } from "../../domain/channels/push-limits.ts";
import { firstPendingReviewerId, mayStillDecide } from "../approvals/may-still-decide.ts";
import { isOwnerOfItsKey } from "../workspaces/key-owners.ts";

export type WaitingCount = {
  count: number;
  /** This one is among them. */
  isWaiting: boolean;
  /** When the last of them ends; null when none waits. */
  lastEndsAt: Date | null;
  /** The database's clock. */
  now: Date;
};

/** The rule of the inbox's list, of rows `a` and `r`. */
const waits = `(${mayStillDecide("a", "r")} and not ${isOwnerOfItsKey("r.email")})`;

/** `email` is in lower case. The person's places are walked by their index, newest first. */
export async function countWaiting(
  db: Queryable,
  email: string,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
): Promise<WaitingCount> {
  type Row = { count: number; is_waiting: boolean; last_ends_at: Date | null; now: Date };
  const { rows } = await db.query<Row>({
    name: "waitingCount.countWaiting",
    text: `
      with waiting as materialized (
        select a.workspace_id, a.id, a.expires_at
        from reviewers r
        cross join lateral (
          select a.workspace_id, a.id, a.key_id, a.status, a.created_at, a.expires_at, a.group_id, a.has_seats
          from approvals a
          where a.workspace_id = r.workspace_id and a.id = r.approval_id limit 1
        ) as a
        where lower(r.email) = $1 and r.id >= ${firstPendingReviewerId} and ${waits}
        order by lower(r.email) desc, r.id desc
        limit ${pushCountMax}
      )
      select count(*)::int as count, max(expires_at) as last_ends_at, now_ms() as now, exists (
        select from approvals a
        join reviewers r on r.workspace_id = a.workspace_id and r.approval_id = a.id and lower(r.email) = $1
        where a.workspace_id = $2 and a.id = $3 and ${waits}
      ) as is_waiting
      from waiting`,
    values: [email, workspaceId, approvalId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a count told nothing");
  const { count, is_waiting: isWaiting, last_ends_at: lastEndsAt, now } = row;
  return { count, isWaiting, lastEndsAt, now };
}
