// The checkpoints of a workspace's log as signed decisions name them.

import type { Queryable } from "../../database/database.ts";

/**
 * Whether it was the newest at some time within the last day: a page may have been open that long. Null was, if the open
 * log's first one was signed since.
 */
export async function wasNewest(
  db: Queryable,
  workspaceId: string,
  body: string | null,
): Promise<boolean> {
  const { rows } = await db.query<{ was_newest: boolean }>({
    name: "statementCheckpoints.wasNewest",
    text: `
      with checkpoint as (
        select c.tree_id, c.size from log_trees t
        cross join lateral (
          select c.tree_id, c.size from log_checkpoints c
          -- The whole text of the note, up to the empty line before its signatures.
          where c.tree_id = t.id and split_part(c.note, E'\\n\\n', 1) || E'\\n' = $2
            -- The second line of a checkpoint is its size, by which it is found.
            and c.size = case when split_part($2, E'\\n', 2) ~ '^[0-9]{1,18}$'
              then split_part($2, E'\\n', 2)::bigint end
          limit 1
        ) as c
        where t.workspace_id = $1
      )
      select ($2::text is null or exists (select from checkpoint)) and not exists (
        select from log_trees t
        cross join lateral (
          select from log_checkpoints c
          where c.tree_id = t.id and c.signed_at < now() - interval '1 day'
            and case when $2::text is null then t.closed_at is null
              else (t.id, c.size) > (select tree_id, size from checkpoint) end
          limit 1
        ) as later
        where t.workspace_id = $1
      ) as was_newest`,
    values: [workspaceId, body],
  });
  return rows[0]?.was_newest ?? false;
}
