// News of requests that wait to be spread to their messages. Writers only insert, and whoever spreads deletes.

import type { Transaction } from "../../database/database.ts";
import { newsWindow } from "../../domain/channels/message-limits.ts";

export type News = {
  workspaceId: string;
  approvalId: string;
  /** Some of it asks people. */
  asks: boolean;
};

/**
 * Slack changed for a workspace: each of its open requests that somebody was asked about there is news. They ask nobody
 * anew; their messages are drawn again, or fail, so that no mail waits for them.
 */
export async function insertOfSlack(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query({
    name: "channelNews.insertOfSlack",
    text: `
      insert into channel_news (workspace_id, approval_id)
      select a.workspace_id, a.id from approvals a
      cross join lateral (
        select from channel_messages m
        where m.approval_id = a.id and m.channel = 'slack' and m.workspace_id = a.workspace_id
        limit 1
      ) as told
      where a.status = (select 'PENDING') and a.workspace_id = $1 and a.has_channels`,
    values: [workspaceId],
  });
}

/** Takes all news of one request among the oldest that no other worker holds; null when there is none. */
export async function takeNext(tx: Transaction): Promise<News | null> {
  const { rows } = await tx.query<{ workspace_id: string; approval_id: string; asks: boolean }>({
    name: "channelNews.takeNext",
    text: `
      with oldest as materialized (
        select id, approval_id from channel_news order by id limit 1 for update skip locked
      ), same as materialized (
        select n.id from channel_news n
        where n.id = any (array(
          select near.id
          from (select id, approval_id from channel_news order by id limit ${newsWindow}) as near
          join oldest on oldest.approval_id = near.approval_id
        ))
        for update skip locked
      )
      delete from channel_news where id = any (array(select id from same))
      returning workspace_id, approval_id, asks`,
  });
  const [first] = rows;
  if (first === undefined) return null;
  const asks = rows.some((row) => row.asks);
  return { workspaceId: first.workspace_id, approvalId: first.approval_id, asks };
}

/** News of one request is spread by one worker at a time, until its transaction ends. */
export async function takeTurn(tx: Transaction, { approvalId }: News): Promise<void> {
  await tx.query({
    name: "channelNews.takeTurn",
    text: "select pg_advisory_xact_lock(hashtextextended('channel news ' || $1, 0))",
    values: [approvalId],
  });
}
