// The slack_link_codes table: codes that the inbox shows and their owner types in Slack, by their digests.

import type { Transaction } from "../../database/database.ts";
import { slackLinkCodeMinutes } from "../../domain/channels/slack-link-code.ts";

/** A person has one code at a time: a new one ends the older one. Answers until when it works. */
export async function put(
  tx: Transaction,
  { digest, personId, email }: { digest: Buffer; personId: string; email: string },
): Promise<Date> {
  await tx.query("delete from slack_link_codes where person_id = $1 or expires_at <= now()", [
    personId,
  ]);
  const { rows } = await tx.query<{ expires_at: Date }>(
    `insert into slack_link_codes (digest, person_id, email, expires_at)
     values ($1, $2, lower($3), now_ms() + interval '${slackLinkCodeMinutes} minutes')
     returning expires_at`,
    [digest, personId, email],
  );
  const [row] = rows as [{ expires_at: Date }];
  return row.expires_at;
}

/** Uses a code up. Answers whose it is; null when it is unknown, used or too old. */
export async function take(tx: Transaction, digest: Buffer): Promise<{ email: string } | null> {
  const { rows } = await tx.query<{ email: string; is_live: boolean }>(
    "delete from slack_link_codes where digest = $1 returning email, expires_at > now() as is_live",
    [digest],
  );
  const [row] = rows;
  return row?.is_live === true ? { email: row.email } : null;
}
