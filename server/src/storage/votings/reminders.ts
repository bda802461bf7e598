// When a request may be reminded of again, and who is asked about a plain one.

import type { Transaction } from "../../database/database.ts";
import { remindPauseMinutes } from "../../domain/approval/voting-limits.ts";
import { isStillAsked } from "../approvals/may-still-decide.ts";
import type { Where } from "./votings.ts";

/** The database's clock, and how long the last reminder keeps the next one back. The caller holds the request's lock. */
export async function findPause(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
): Promise<{ now: Date; retryAfterSeconds: number }> {
  const { rows } = await tx.query<{ now: Date; seconds: number | null }>(
    `select date_trunc('milliseconds', clock_timestamp()) as now,
       (select ceil(extract(epoch from max(ev.created_at) + interval '${remindPauseMinutes} minutes' - clock_timestamp()))::int
        from events ev
        where ev.approval_id = $2 and ev.workspace_id = $1 and ev.kind = 'request.reminded') as seconds`,
    [workspaceId, approvalId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a clock told nothing");
  return { now: row.now, retryAfterSeconds: Math.max(0, row.seconds ?? 0) };
}

/** The links of those who may decide about a request without seats. */
export async function listAsked(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select r.id
     from reviewers r
     join approvals a on a.workspace_id = r.workspace_id and a.id = r.approval_id
     where r.approval_id = $2 and r.workspace_id = $1 and ${isStillAsked("a", "r")}
     order by r.id`,
    [workspaceId, approvalId],
  );
  return rows.map(({ id }) => id);
}
