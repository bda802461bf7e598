// The activity table: who changed what in a workspace, and when. Written in the transaction of the change.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ActivityAction, Actor } from "../../domain/workspace/activity.ts";

export type NewActivity = {
  workspaceId: string;
  actor: Actor;
  action: ActivityAction;
  /** The object of the action, by its current name; of a request its id, because its words may be deleted. */
  subject: string;
  detail?: Record<string, string>;
};

export type Activity = {
  id: string;
  at: Date;
  actor: Actor;
  action: ActivityAction;
  subject: string;
  detail: Record<string, string>;
};

type ActivityRow = {
  id: string;
  created_at: Date;
  actor_email: string | null;
  action: ActivityAction;
  subject: string;
  detail: Record<string, string>;
};

export async function insert(tx: Transaction, entry: NewActivity): Promise<void> {
  const { workspaceId, actor, action, subject, detail = {} } = entry;
  await tx.query(
    `insert into activity (workspace_id, actor_email, action, subject, detail) values ($1, $2, $3, $4, $5)`,
    [workspaceId, actor, action, subject, detail],
  );
}

/** How often something was done within the last day. Ids sort by time, so only that day is read. */
export async function countOfDay(
  db: Queryable,
  { workspaceId, action }: { workspaceId: string; action: ActivityAction },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from activity
     where workspace_id = $1 and action = $2
       and id > 'act_' || lpad(
         to_hex(floor(extract(epoch from now() - interval '1 day') * 1000)::bigint), 12, '0')`,
    [workspaceId, action],
  );
  return rows[0]?.count ?? 0;
}

/** Newest first. A request is called by its summary for as long as it is there. */
export async function list(
  db: Queryable,
  { workspaceId, beforeId, limit }: { workspaceId: string; beforeId: string | null; limit: number },
): Promise<Activity[]> {
  const { rows } = await db.query<ActivityRow>(
    `select t.id, t.created_at, t.actor_email, t.action, coalesce(a.summary, t.subject) as subject, t.detail
     from (
       select id, created_at, actor_email, action, subject, detail from activity
       where workspace_id = $1 and ($2::text is null or id < $2)
       order by id desc limit $3
     ) as t
     left join lateral (
       select a.summary from approvals a
       where a.workspace_id = $1 and a.id = t.subject and t.detail->>'request' = t.subject limit 1
     ) as a on true
     order by t.id desc`,
    [workspaceId, beforeId, limit],
  );
  return rows.map((row) => ({
    id: row.id,
    at: row.created_at,
    actor: row.actor_email,
    action: row.action,
    subject: row.subject,
    detail: row.detail,
  }));
}
