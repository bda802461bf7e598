// What somebody pressed in Slack: the message behind a button, and the clicker's place in its request.

import type { Queryable, Transaction } from "../../database/database.ts";
import { messageUpdateGapSeconds } from "../../domain/channels/message-limits.ts";

export type ClickedMessage = {
  workspaceId: string;
  id: string;
  approvalId: string;
  /** The request may be shown and decided in Slack, as far as its caller says. */
  isAllowed: boolean;
};

type Where = { workspaceId: string; id: string };

/** Only a message of these workspaces: a button proves nothing about others. */
export async function find(
  db: Queryable,
  { id, workspaceIds }: { id: string; workspaceIds: readonly string[] },
): Promise<ClickedMessage | null> {
  type Row = { workspace_id: string; id: string; approval_id: string; is_allowed: boolean };
  const { rows } = await db.query<Row>({
    name: "clickedMessages.find",
    text: `
      select m.workspace_id, m.id, m.approval_id,
        coalesce('slack' = any (a.channels), true) as is_allowed
      from channel_messages m
      join approvals a on a.workspace_id = m.workspace_id and a.id = m.approval_id
      where m.workspace_id = any ($1) and m.id = $2 and m.channel = 'slack'`,
    values: [workspaceIds, id],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    approvalId: row.approval_id,
    isAllowed: row.is_allowed,
  };
}

/** The clicker's place among those who were asked; null when exactly this address wasn't. */
export async function findReviewerId(
  db: Queryable,
  { workspaceId, approvalId, email }: { workspaceId: string; approvalId: string; email: string },
): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>({
    name: "clickedMessages.findReviewerId",
    text: `
      select id from reviewers
      where approval_id = $2 and workspace_id = $1 and lower(email) = lower($3)
      order by id limit 1`,
    values: [workspaceId, approvalId, email],
  });
  return rows[0]?.id ?? null;
}

/**
 * Somebody saw an old state of it: it is drawn and sent again, even if we believe that it says so already, or if an update
 * failed before. Who pressed its button proves that it is there.
 */
export async function wantAgain(tx: Transaction, { workspaceId, id }: Where): Promise<void> {
  await tx.query({
    name: "clickedMessages.wantAgain",
    text: `
      update channel_messages
      set wanted = wanted + 1, digest = null, state = 'due',
        due_at = case when state = 'due' then due_at
          else greatest(sent_at + interval '${messageUpdateGapSeconds} seconds', now_ms()) end
      where workspace_id = $1 and id = $2 and state in ('due', 'sent', 'failed') and sent_at is not null`,
    values: [workspaceId, id],
  });
}
