// Reads for exports of a workspace's log. Each is a page: however long a log is, only a page of it is in memory.

import type { Queryable } from "../../database/database.ts";
import { withSignatures } from "../../domain/proof/note.ts";

export type ExportedTree = {
  id: number;
  origin: string;
  /** Of its newest checkpoint, 0 without one. */
  size: number;
  openedAt: Date;
};

/** All trees of a workspace, oldest first, as far as they are signed. */
export async function listTrees(db: Queryable, workspaceId: string): Promise<ExportedTree[]> {
  const { rows } = await db.query<{ id: number; origin: string; size: string; created_at: Date }>(
    `select t.id, t.origin, t.created_at, coalesce((
       select c.size from log_checkpoints c where c.tree_id = t.id order by c.size desc limit 1
     ), 0) as size
     from log_trees t where coalesce(t.workspace_id, '') = $1 order by t.id`,
    [workspaceId],
  );
  return rows.map((row) => ({
    id: row.id,
    origin: row.origin,
    size: Number(row.size),
    openedAt: row.created_at,
  }));
}

/** Requests that were deleted, and of which these trees, as far as they are signed, don't say so yet; by id. */
export async function listDeletionsAhead(
  db: Queryable,
  workspaceId: string,
  { trees, after, limit }: { trees: readonly ExportedTree[]; after: string | null; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: "logExports.listDeletionsAhead",
    text: `
      with signed as materialized (
        select id, size from unnest($2::integer[], $3::bigint[]) as signed (id, size)
      ), ahead as (
        select p.subject as id from log_pending p
        where p.workspace_id = $1 and p.source = 'd' and p.detail ->> 'kind' = 'request.deleted'
        union
        select o.subject from log_trees t
        cross join lateral (
          select e.index from log_entries e
          where e.tree_id = t.id
            and e.index >= coalesce((select s.size from signed s where s.id = t.id), 0)
            and e.entry like '%"kind":"request.deleted"%'
        ) as e
        join log_openings o on o.tree_id = t.id and o.index = e.index
        where t.workspace_id = $1
      )
      select ahead.id from ahead
      where ($4::text is null or ahead.id > $4)
        -- What no checkpoint of an older tree covers is in the next one, too.
        and not exists (
          select from log_openings o join signed s on s.id = o.tree_id and o.index < s.size
          where o.approval_id is null and o.subject = ahead.id
            and starts_with(o.fact, '{"kind":"request.deleted"')
        )
      order by ahead.id limit $5`,
    values: [workspaceId, trees.map(({ id }) => id), trees.map(({ size }) => size), after, limit],
  });
  return rows.map(({ id }) => id);
}

/** Checkpoints in order of size, with the lines of their witnesses. */
export async function listCheckpoints(
  db: Queryable,
  { treeId, after, upTo, limit }: { treeId: number; after: number; upTo: number; limit: number },
): Promise<{ size: number; note: string }[]> {
  const { rows } = await db.query<{ size: string; note: string; lines: string[] }>({
    name: "logExports.listCheckpoints",
    text: `
      select c.size, c.note, array(
        select w.line from log_cosignatures w
        where w.tree_id = c.tree_id and w.size = c.size order by w.witness
      ) as lines
      from log_checkpoints c
      where c.tree_id = $1 and c.size > $2 and c.size <= $3
      order by c.size limit $4`,
    values: [treeId, after, upTo, limit],
  });
  return rows.map(({ size, note, lines }) => ({
    size: Number(size),
    note: withSignatures(note, lines),
  }));
}

/** What the log and its surroundings know of a request. */
export type ExportedBeside = {
  by: string[];
  receipt: string | null;
  /** The kinds of its facts, each with its place. */
  facts: { treeId: number; index: number; kind: string }[];
  /** Facts of it are on their way into the log. */
  isWaiting: boolean;
};

/** By the request's id. */
export async function readBeside(
  db: Queryable,
  workspaceId: string,
  { ids, treeIds }: { ids: readonly string[]; treeIds: readonly number[] },
): Promise<Map<string, ExportedBeside>> {
  const { rows } = await db.query<{
    id: string;
    by: string[];
    receipt: string | null;
    facts: ExportedBeside["facts"];
    waits: boolean;
  }>({
    name: "logExports.readBeside",
    text: `
      select asked.id, case when votes.by is not null then votes.by
          when a.resolved_by_email is not null then array[a.resolved_by_email]
          else '{}' end as by,
        receipt.jws as receipt, facts.facts, exists (
          select from log_pending p
          where p.workspace_id = $1 and p.source = 'e' and p.subject = any (array(
            select e.id from events e where e.workspace_id = $1 and e.approval_id = asked.id
          ))
        ) as waits
      from unnest($2::text[]) as asked (id)
      cross join lateral (
        select a.status, a.resolved_by_email from approvals a
        where a.workspace_id = $1 and a.id = asked.id limit 1
      ) as a
      cross join lateral (
        select array_agg(v.voter_email order by v.created_at, v.person) as by
        from votes v
        where v.workspace_id = $1 and v.approval_id = asked.id
          and v.verdict = case a.status when 'APPROVED' then 'approve' when 'REJECTED' then 'reject' end
          and v.revision = (
            select g.revision from votings g where g.workspace_id = $1 and g.approval_id = asked.id
          )
      ) as votes
      left join lateral (
        select r.jws from receipts r
        where r.workspace_id = $1 and r.approval_id = asked.id
        order by r.created_at desc limit 1
      ) as receipt on true
      cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object(
          'treeId', o.tree_id, 'index', o.index, 'kind', o.fact::json ->> 'kind'
        )), '[]') as facts
        from log_openings o where o.approval_id = asked.id and o.tree_id = any ($3::integer[])
      ) as facts`,
    values: [workspaceId, ids, treeIds],
  });
  return new Map(rows.map(({ id, waits, ...beside }) => [id, { ...beside, isWaiting: waits }]));
}
