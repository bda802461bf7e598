// The messages of a request beside its mails, as its page shows them.

import { heldKinds } from "../../storage/channels/held-mails.ts";
import type { ToldMessage } from "../../storage/channels/message-history.ts";
import type { Sent } from "../../storage/deliveries/approval-history.ts";
import type { MessageEntry, RequestMessage } from "../../wire/dashboard-history.ts";

/** Without a word of them where there are none. */
export function representMessages(messages: readonly ToldMessage[]): {
  messages?: RequestMessage[];
} {
  if (messages.length === 0) return {};
  return {
    messages: messages.map(({ channel, to, state, sentAt, failedAt, failure }) => ({
      channel,
      to,
      state,
      sentAt: sentAt?.toISOString() ?? null,
      failedAt: failedAt?.toISOString() ?? null,
      failure,
    })),
  };
}

/** One that was sent and failed later, when it was to be changed, has both lines. One that fails is told from its first try. */
export function messageEntries(
  messages: readonly ToldMessage[],
  mails: readonly Sent[],
): MessageEntry[] {
  return messages.flatMap(({ channel, to, email, state, sentAt, failedAt, failure }) => {
    const entries: MessageEntry[] = [];
    if (sentAt !== null) {
      entries.push({ kind: "message_sent", at: sentAt.toISOString(), channel, to });
    }
    const isRetried = state === "due";
    if ((state === "failed" || isRetried) && failedAt !== null && failure !== null) {
      // Of one that never arrived, any mail is instead. One that arrived was its reader's word until it failed.
      const since = sentAt === null ? null : failedAt;
      const isMailed = mails.some((mail) => isMailTo(mail, email) && asksSince(mail, since));
      const at = failedAt.toISOString();
      entries.push({
        ...{ kind: "message_failed", at, channel, to, failure, isMailed },
        ...(isRetried ? { isRetried } : {}),
      });
    }
    return entries;
  });
}

/** Null is everybody of a group: one of them is enough. */
function isMailTo({ delivery, isDelivered }: Sent, email: string | null): boolean {
  const { destination } = delivery;
  if (!isDelivered || destination.kind !== "mailbox") return false;
  return email === null || destination.email.toLowerCase() === email;
}

/** A reminder or an outcome replaces no message that asks. */
function asksSince({ delivery, at }: Sent, since: Date | null): boolean {
  return (
    (heldKinds as readonly string[]).includes(delivery.event) && (since === null || at >= since)
  );
}
