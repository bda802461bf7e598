// The log_pending table: facts on their way into the log, a queue for each log. Triggers write it in the transaction of
// the fact; the sequencer takes what it moves into a tree, in the transaction that moves it.

import type { Queryable, Transaction } from "../../database/database.ts";

/** The log's owner: a workspace, or nothing for the installation. */
export type LogOwner = string;
export const installation: LogOwner = "";

/**
 * Where the fact is: e an event, a an activity, r a redemption, o a reviewer who opened their link, d in the detail,
 * c in an entry of the log before that no checkpoint covers, k a checkpoint of a workspace's log.
 */
export type FactSource = "e" | "a" | "r" | "o" | "d" | "c" | "k";

export type PendingFact = {
  owner: LogOwner;
  id: string;
  source: FactSource;
  subject: string;
  detail: Record<string, unknown> | null;
};

/** Owners of pending facts, in order, from the one after `after` on. Walks from owner to owner, however much each has. */
export async function listOwners(
  db: Queryable,
  { after, limit }: { after: LogOwner | null; limit: number },
): Promise<LogOwner[]> {
  const { rows } = await db.query<{ workspace_id: string }>({
    name: "logPending.listOwners",
    text: `
      with recursive walk (workspace_id, n) as (
        (
          select workspace_id, 1 from log_pending
          where $1::text is null or workspace_id > $1
          order by workspace_id, id limit 1
        )
        union all
        select (
          select p.workspace_id from log_pending p
          where p.workspace_id > walk.workspace_id
          order by p.workspace_id, p.id limit 1
        ), walk.n + 1
        from walk where walk.workspace_id is not null and walk.n <= $2
      )
      select workspace_id from walk where workspace_id is not null limit $2`,
    values: [after, limit],
  });
  return rows.map((row) => row.workspace_id);
}

/** Takes the oldest of each owner, up to `limit` of each. The caller holds the trees, so nobody else takes any. */
export async function take(
  tx: Transaction,
  { owners, limit }: { owners: readonly LogOwner[]; limit: number },
): Promise<PendingFact[]> {
  const { rows } = await tx.query<PendingFact>({
    name: "logPending.take",
    text: `
      delete from log_pending where ctid = any (array(
        select p.ctid from unnest($1::text[]) as asked (owner)
        cross join lateral (
          select ctid from log_pending where workspace_id = asked.owner order by id limit $2
        ) as p
      ))
      returning workspace_id as owner, id, source, subject, detail`,
    values: [owners, limit],
  });
  return rows;
}

/** Entries that no checkpoint covers go into the log that follows. */
export async function carryOver(
  tx: Transaction,
  { owner, treeId, from, to }: { owner: LogOwner; treeId: number; from: number; to: number },
): Promise<void> {
  await tx.query(
    `insert into log_pending (workspace_id, source, subject)
     select $1, 'c', $2::integer || ':' || index from log_entries
     where tree_id = $2 and index >= $3 and index < $4`,
    [owner, treeId, from, to],
  );
}

/** How many wait, up to a limit, and the one that has waited longest. */
export async function look(
  db: Queryable,
  { owner, limit }: { owner: LogOwner; limit: number },
): Promise<{ count: number; oldest: string | null }> {
  const { rows } = await db.query<{ count: number; oldest: string | null }>(
    `select count(*)::int as count, min(subject) filter (where source in ('e', 'a')) as oldest
     from (
       select subject, source from log_pending where workspace_id = $1 order by id limit $2
     ) as waiting`,
    [owner, limit],
  );
  return rows[0] ?? { count: 0, oldest: null };
}
