// Mails that are about a person and not about a request: a code to sign in with, a passkey that came or went, an
// invitation. They travel as every mail does, as a delivery of an event.

import type { Transaction } from "../../database/database.ts";
import type { PersonMailKind } from "../../domain/approval/event.ts";

/** What such a mail tells, as it stands in the event's row. A nonce is no secret without SECRET_KEY. */
export type PersonMailDetail = {
  role?: string;
  invitedBy?: string | null;
  secretKeyId?: string;
  /** In base64. */
  nonce?: string;
  expiresAt?: string;
  /** What its owner calls the passkey. */
  passkeyName?: string;
};

export async function insert(
  tx: Transaction,
  mail: { workspaceId: string; to: string; kind: PersonMailKind; detail: PersonMailDetail },
): Promise<void> {
  const { workspaceId, to, kind, detail } = mail;
  // Whoever signs in stands at the door, so their mail goes before all that waits.
  const wait = kind === "person.signing_in" ? "now_ms() - interval '1 day'" : "now_ms()";
  await tx.query(
    `with event as (
       insert into events (workspace_id, kind, detail) values ($1, $2, $3)
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, channel, recipient, due_at)
     select workspace_id, id, 'mail', $4, ${wait} from event`,
    [workspaceId, kind, detail, to],
  );
}
