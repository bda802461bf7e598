// Mails that wait because another channel tells first. When that channel fails, they wait no longer.

import type { Transaction } from "../../database/database.ts";

/** The kinds whose mails wait. Reminders and outcomes never do. */
export const heldKinds = [
  "request.created",
  "request.stage_entered",
  "request.escalated",
  "request.reassigned",
] as const;

export type HeldMails = {
  workspaceId: string;
  approvalId: string;
  /** In lower case. */
  emails?: readonly string[];
  /** Those who are asked as members of this group. */
  groupId?: string | null;
};

/** Answers how many. */
export async function hurry(
  tx: Transaction,
  { workspaceId, approvalId, emails = [], groupId = null }: HeldMails,
): Promise<number> {
  const { rowCount } = await tx.query({
    name: "heldMails.hurry",
    text: `
      update deliveries d set due_at = now_ms()
      where d.ctid = any (array(
        select held.ctid
        from (
          select r.id, r.email from reviewers r where r.workspace_id = $1 and r.approval_id = $2
        ) as r
        cross join lateral (
          select ev.id from events ev where ev.approval_id = $2 and ev.kind = any ($5::text[]) and ev.workspace_id = $1
        ) as ev
        cross join lateral (
          select d.ctid from deliveries d
          where d.event_id = ev.id and coalesce(d.endpoint_id, d.reviewer_id, d.recipient) = r.id
            and d.channel = 'mail' and d.workspace_id = $1
            and d.state = 'due' and d.due_at > now() and d.attempts = 0 and d.mailbox is null
          limit 1
        ) as held
        where lower(r.email) = any ($3::text[])
          or exists (
            select from approvals a where a.workspace_id = $1 and a.id = $2 and not a.has_seats and a.group_id = $4
          )
          or exists (
            select from seats s
            where s.workspace_id = $1 and s.approval_id = $2 and s.reviewer_id = r.id and s.group_id = $4
          )
      )) and d.state = 'due' and d.attempts = 0`,
    values: [workspaceId, approvalId, emails, groupId, heldKinds],
  });
  return rowCount ?? 0;
}
