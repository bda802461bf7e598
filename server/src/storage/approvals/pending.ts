// The approvals that wait right now: how many in a workspace, since when the oldest of them, and those for one approver.

import type { Queryable } from "../../database/database.ts";
import { createsAwaitedLooks, createsAwaitedSeconds } from "../../domain/access/key-limits.ts";
import {
  awaitingCountMax,
  deletedGroupWatchMinutes,
  lateCreateMs,
  pendingCountMax,
} from "../../domain/limits.ts";
import { cancelledAtOnceMax } from "../../domain/shown/field-limits.ts";
import { pending } from "./approvals.ts";
import { isStillAsked } from "./may-still-decide.ts";

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

/**
 * The pending approvals that a key has created, of so many that wait in its workspace from a place on. `last` is the
 * place after these; null when there are no more. No index knows the keys: revoking is rare, and creating is not.
 */
export async function listPendingOfKey(
  db: Queryable,
  { workspaceId, keyId, after }: { workspaceId: string; keyId: string; after: string },
): Promise<{ ids: string[]; last: string | null }> {
  const { rows } = await db.query<{ ids: string[]; looked_at: number; last: string | null }>(
    `with waiting as materialized (
       select id, key_id, expires_at
       from approvals
       where (status, workspace_id, id) > ('PENDING', $1, $2) and (status, workspace_id) <= ('PENDING', $1)
       order by status, workspace_id, id
       limit ${cancelledAtOnceMax}
     )
     select coalesce(array_agg(id order by id) filter (where key_id = $3 and expires_at > now()), '{}') as ids,
       count(*)::int as looked_at, max(id) as last
     from waiting`,
    [workspaceId, after, keyId],
  );
  const { ids = [], looked_at = 0, last = null } = rows[0] ?? {};
  return { ids, last: looked_at < cancelledAtOnceMax ? null : last };
}

/**
 * Waits until every create that is under way has ended, for some seconds at most: it looked at its key before now, and
 * writes afterwards. Those that begin later know of every change that was committed before this call.
 */
export async function awaitCreatesUnderWay(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ next: string }>(
    "select (pg_snapshot_xmax(pg_current_snapshot())::text::numeric % 4294967296)::text as next",
  );
  for (let look = 0; look < createsAwaitedLooks; look += 1) {
    const { rowCount } = await db.query(
      `select pg_sleep(${createsAwaitedSeconds}) from (
         select from pg_locks l
         join pg_stat_activity s on s.pid = l.pid
         where l.relation = 'approvals'::regclass and l.mode = 'RowExclusiveLock' and l.pid <> pg_backend_pid()
           and l.database = (select oid from pg_database where datname = current_database())
           and age(s.backend_xmin) > age($1::text::xid)
         limit 1
       ) as under_way`,
      [rows[0]?.next],
    );
    if (rowCount === 0) return;
  }
}

/** `isMore` when more wait in the workspace than were looked at. */
export async function countPendingOfKey(
  db: Queryable,
  { workspaceId, keyId }: { workspaceId: string; keyId: string },
): Promise<{ count: number; isMore: boolean }> {
  const { rows } = await db.query<{ count: number; looked_at: number }>(
    `with waiting as materialized (
       select key_id, expires_at
       from approvals
       where (status, workspace_id) >= ('PENDING', $1) and (status, workspace_id) <= ('PENDING', $1)
       order by status, workspace_id, id
       limit ${pendingCountMax + 1}
     )
     select count(*) filter (where key_id = $2 and expires_at > now())::int as count,
       count(*)::int as looked_at
     from waiting`,
    [workspaceId, keyId],
  );
  const { count = 0, looked_at = 0 } = rows[0] ?? {};
  return { count, isMore: looked_at > pendingCountMax };
}

/** A group's id, or an address. */
type Awaited = { workspaceId: string; approver: string };

/**
 * The oldest approvals that wait for one group, or for one person who was asked by address. Where the people of a group
 * have seats, others may decide in their place or in another stage.
 */
export async function listIdsAwaiting(
  db: Queryable,
  { workspaceId, approver, limit }: Awaited & { limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from approvals
     where coalesce(group_id, lower(approver_email)) = lower($2) and status = ${pending}
       and workspace_id = $1 and expires_at > now() and (group_id is null or not has_seats)
     order by id
     limit $3`,
    [workspaceId, approver, limit],
  );
  return rows.map(({ id }) => id);
}

export async function countAwaiting(
  db: Queryable,
  awaited: Awaited,
): Promise<{ count: number; isMore: boolean }> {
  const ids = await listIdsAwaiting(db, { ...awaited, limit: awaitingCountMax + 1 });
  return { count: Math.min(ids.length, awaitingCountMax), isMore: ids.length > awaitingCountMax };
}

/** Approvals that wait for a group which was deleted. `group` is the name it had then. */
export type Stranded = {
  workspaceId: string;
  group: string;
  deletedBy: string | null;
  ids: string[];
};

/**
 * Approvals that nobody can decide: they were being created while their group was deleted. The group may have been made
 * again since, with other members. Only groups that were deleted a short while ago are looked at, since each looks at
 * the approvals of one.
 */
export async function listStranded(db: Queryable, limit: number): Promise<Stranded[]> {
  type Row = { workspace_id: string; name: string; deleted_by: string | null; ids: string[] };
  const lateMs = `(extract(epoch from g.last_deleted_at) * 1000)::bigint + ${lateCreateMs}`;
  const { rows } = await db.query<Row>({
    name: "pending.listStranded",
    text: `
      select g.workspace_id, coalesce(deletion.name, g.name) as name, deletion.deleted_by, waiting.ids
      from groups g
      cross join lateral (
        select array(
          select a.id from approvals a
          where coalesce(a.group_id, lower(a.approver_email)) = g.id and a.status = ${pending}
            and a.workspace_id = g.workspace_id and a.expires_at > now()
            and a.id < case when g.deleted_at is null then 'req_' || lpad(to_hex(${lateMs}), 12, '0') else 'req_g' end
            and not exists (
              select from reviewers r
              where r.workspace_id = a.workspace_id and r.approval_id = a.id and ${isStillAsked("a", "r")}
            )
          order by a.id
          limit $1
        ) as ids
      ) waiting
      left join lateral (
        select actor_email as deleted_by, subject as name from activity
        where workspace_id = g.workspace_id and action = 'group.deleted' and detail ->> 'key' = g.key
        order by id desc
        limit 1
      ) deletion on true
      where g.last_deleted_at > now() - interval '${deletedGroupWatchMinutes} minutes' and waiting.ids <> '{}'`,
    values: [limit],
  });
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    group: row.name,
    deletedBy: row.deleted_by,
    ids: row.ids,
  }));
}
