// Deliveries that are held after a restore: they were due when the backup was made, and may have been sent since. They
// are skipped, and their last attempt says why.

import type { Transaction } from "../../database/database.ts";
import { heldByRestore } from "../../domain/shown/attempt.ts";
import { cutShort } from "./claims.ts";
import { beginRound } from "./resending.ts";

/** Up to `limit`, under way or not: no worker runs. Answers how many. */
export async function holdDue(tx: Transaction, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: "heldDeliveries.holdDue",
    text: `
      with due as materialized (
        select d.workspace_id, d.id, d.attempts from deliveries d
        where d.state = 'due'
        limit $1
        for update
      ), cut_short as (${cutShort("due")}
      ), noted as (
        insert into attempts (workspace_id, delivery_id, number, finished_at, outcome)
        select workspace_id, id, attempts + 1, now_ms(), '${heldByRestore}' from due
      )
      update deliveries d
      set state = 'skipped', due_at = now_ms(), attempts = d.attempts + 1, lease_token = null, leased_until = null,
        -- A delivery that was sent again has left in its digest before, and stays on its list.
        mailbox = case when d.round > 1 then d.mailbox end, digest_id = case when d.round > 1 then d.digest_id end
      from due
      where d.workspace_id = due.workspace_id and d.id = due.id`,
    values: [limit],
  });
  return rowCount ?? 0;
}

/** Comes after the delivery of these ids, in the order of all. */
export type HeldPlace = { workspaceId: string; id: string };

/** Makes up to `limit` due that are held, but none to a disabled endpoint. Answers their ids, the last one last. */
export async function releaseHeld(
  tx: Transaction,
  { after, limit }: { after: HeldPlace; limit: number },
): Promise<HeldPlace[]> {
  const { rows } = await tx.query<{ workspace_id: string; id: string }>({
    name: "heldDeliveries.release",
    text: `
      with held as materialized (
        select d.workspace_id, d.id from deliveries d
        left join endpoints e on e.workspace_id = d.workspace_id and e.id = d.endpoint_id
        cross join lateral (
          select from attempts a
          where a.workspace_id = d.workspace_id and a.delivery_id = d.id and a.number = d.attempts
            and a.outcome = '${heldByRestore}'
          limit 1
        ) as note
        where d.state = 'skipped' and (d.workspace_id, d.id) > ($1, $2) and e.disabled_at is null
        order by d.workspace_id, d.id
        limit $3
        for update of d
      ), begun as (
        update deliveries
        set ${beginRound}
        from held
        where deliveries.workspace_id = held.workspace_id and deliveries.id = held.id
      )
      select workspace_id, id from held order by workspace_id, id`,
    values: [after.workspaceId, after.id, limit],
  });
  return rows.map(({ workspace_id, id }) => ({ workspaceId: workspace_id, id }));
}

/**
 * Messages in Slack, in Teams and to browsers stay as they are until something happens to their request. Those that had
 * not arrived are not sent. Answers how many.
 */
export async function settleMessages(tx: Transaction): Promise<number> {
  await tx.query("delete from channel_news");
  const { rows } = await tx.query<{ skipped: number }>(
    `with settled as (
       update channel_messages
       set state = case when sent_at is null then 'skipped' else 'sent' end, lease_token = null, leased_until = null
       where state = 'due'
       returning state
     )
     select count(*) filter (where state = 'skipped')::int as skipped from settled`,
  );
  return rows[0]?.skipped ?? 0;
}
