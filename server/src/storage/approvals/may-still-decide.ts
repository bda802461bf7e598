// SQL that says whether somebody may still decide about an approval. Mails, links and resends ask the same question.

import { pending } from "./approvals.ts";

/** Pending, and in time. `approval` is the alias of a row of approvals. */
export function isOpen(approval: string): string {
  return `${approval}.status = ${pending} and ${approval}.expires_at > now()`;
}

/** Asked by name, or still in the group that was asked. */
export function isStillAsked(approval: string, email: string): string {
  return `(${approval}.group_id is null or exists (
      select from group_members m
      where m.workspace_id = ${approval}.workspace_id and m.group_id = ${approval}.group_id
        and lower(m.email) = lower(${email})
    ))`;
}

export function mayStillDecide(approval: string, email: string): string {
  return `(${isOpen(approval)} and ${isStillAsked(approval, email)})`;
}
