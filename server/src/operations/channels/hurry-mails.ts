// Mail is the fallback of all other channels: what waited for a message that will not arrive is due now.

import type { Transaction } from "../../database/database.ts";
import type { ClaimedMessage } from "../../storage/channels/channel-messages.ts";
import * as heldMails from "../../storage/channels/held-mails.ts";

/** The mails of those whom a message was for. Answers how many became due. */
export async function hurryMailsOf(
  tx: Transaction,
  {
    workspaceId,
    approvalId,
    target,
    groupId,
  }: Pick<ClaimedMessage, "workspaceId" | "approvalId" | "target" | "groupId">,
): Promise<number> {
  const readers = groupId === null ? { emails: [target] } : { groupId };
  return heldMails.hurry(tx, { workspaceId, approvalId, ...readers });
}

/** The mails of people whom no message reaches. */
export async function hurryMailsTo(
  tx: Transaction,
  where: { workspaceId: string; approvalId: string },
  emails: readonly string[],
): Promise<number> {
  return emails.length === 0 ? 0 : heldMails.hurry(tx, { ...where, emails });
}
