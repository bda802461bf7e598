// The log_tellings table: which checkpoint the owners of a workspace were told last.

import type { Transaction } from "../../database/database.ts";
import { checkpointKind } from "../../domain/approval/event.ts";
import { mailToOwners } from "../deliveries/new-deliveries.ts";

/**
 * Tells the newest checkpoint of logs that grew, a day after the last time or after the log began: an event, a mail to
 * each owner, and a webhook to each endpoint that names it, in one statement. Of racing processes one tells. Answers
 * how many workspaces were told.
 */
export async function tellDue(tx: Transaction, limit: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: "logTellings.tellDue",
    text: `
      with due as materialized (
        select t.id as tree_id, t.workspace_id, newest.size, newest.note
        from log_trees t
        left join log_tellings told on told.tree_id = t.id
        cross join lateral (
          select c.size, c.note from log_checkpoints c where c.tree_id = t.id order by c.size desc limit 1
        ) as newest
        where t.closed_at is null and t.workspace_id is not null
          and t.size > coalesce(told.size, 0) and newest.size > coalesce(told.size, 0)
          and coalesce(told.told_at, t.created_at) <= now() - interval '1 day'
        order by coalesce(told.told_at, t.created_at)
        limit $1
      ), claimed as (
        insert into log_tellings as told (tree_id, size)
        select tree_id, size from due order by tree_id
        on conflict (tree_id) do update set size = excluded.size, told_at = now_ms()
          where told.told_at <= now() - interval '1 day' and told.size < excluded.size
        returning told.tree_id
      ), event as (
        insert into events (workspace_id, kind, detail)
        select due.workspace_id, '${checkpointKind}', jsonb_build_object('checkpoint', due.note)
        from claimed join due on due.tree_id = claimed.tree_id
        returning workspace_id, id
      ), webhook as (
        insert into deliveries (workspace_id, event_id, channel, endpoint_id, state)
        select event.workspace_id, event.id, 'webhook', e.id,
          case when e.disabled_at is null then 'due' else 'skipped' end
        from event
        join endpoints e on e.workspace_id = event.workspace_id and e.deleted_at is null
          and '${checkpointKind}' = any (e.event_kinds)
      ), mail as (
        ${mailToOwners}
      )
      select count(*)::int as count from event`,
    values: [limit],
  });
  return rows[0]?.count ?? 0;
}
