// Reads back mails that were sent or kept, made anew from the rows of their deliveries, and counts those that are held.

import type { Queryable } from "../../database/database.ts";
import {
  type Group,
  groupDigests,
  type Mail,
  type MailRow,
  mailColumns,
  mailJoins,
  readStoriesOf,
  toMailOf,
} from "./mails.ts";

// The first mail of a digest stands for the digest. A mail that was sent again stands for itself.
const standsForMail = `
  (d.digest_id is null or d.round > 1 or not exists (
    select from deliveries earlier
    where earlier.digest_id = d.digest_id and earlier.workspace_id = d.workspace_id
      and earlier.round = 1 and earlier.state = 'delivered' and earlier.id < d.id
  ))`;

type SentRow = MailRow & { sent_digest_id: string | null };

/** Mails that have left, or were kept, newest first. An id alone does not lead to a row, so workspaces are asked in turn. */
export async function listSent(
  db: Queryable,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<Mail[]> {
  const { rows } = await db.query<SentRow>(
    `select ${mailColumns}, case when d.round = 1 then d.digest_id end as sent_digest_id
     from (
       select sent.workspace_id, sent.id, sent.event_id, sent.reviewer_id, sent.recipient, sent.round,
         sent.digest_id
       from workspaces
       cross join lateral (
         select d.workspace_id, d.id, d.event_id, d.reviewer_id, d.recipient, d.round, d.digest_id
         from deliveries d
         where d.workspace_id = workspaces.id and d.channel = 'mail' and d.state = 'delivered'
           and ($2::text is null or d.id < $2) and ${standsForMail}
         order by d.id desc
         limit $1
       ) as sent
       order by sent.id desc
       limit $1
     ) as d ${mailJoins}
     order by d.id desc`,
    [limit, beforeId],
  );
  return withDigests(db, rows);
}

export async function findSent(db: Queryable, deliveryId: string): Promise<Mail | null> {
  const { rows } = await db.query<SentRow>(
    `select ${mailColumns}, case when d.round = 1 then d.digest_id end as sent_digest_id
     from workspaces
     join deliveries d on d.workspace_id = workspaces.id and d.id = $1 ${mailJoins}
     where d.channel = 'mail' and d.state = 'delivered'`,
    [deliveryId],
  );
  const [mail] = await withDigests(db, rows);
  return mail ?? null;
}

/** How many mails are held for digests, and when the first of them leaves. */
export async function readHeld(db: Queryable): Promise<{ count: number; until: Date | null }> {
  const { rows } = await db.query<{ count: number; until: Date | null }>(
    `select count(*)::int as count, min(due_at) as until from deliveries
     where state = 'due' and mailbox is not null and digest_id is null`,
  );
  return rows[0] ?? { count: 0, until: null };
}

/** Shows a mail that left in a digest as that digest. */
async function withDigests(db: Queryable, sent: SentRow[]): Promise<Mail[]> {
  const groups = await digestsOf(db, sent);
  const shown = sent.map((row) => groups.get(row.sent_digest_id ?? "") ?? ([row] as const));
  const stories = await readStoriesOf(db, shown);
  return shown.map((group, index) => {
    const mail = toMailOf(group, stories);
    return { ...mail, deliveryId: sent[index]?.delivery_id ?? mail.deliveryId };
  });
}

/** By the id of the digest: the rows of all mails in it. */
async function digestsOf(db: Queryable, sent: SentRow[]): Promise<Map<string, Group<MailRow>>> {
  const inDigests = sent.filter(({ sent_digest_id }) => sent_digest_id !== null);
  if (inDigests.length === 0) return new Map();
  const { rows } = await db.query<MailRow & { digest_id: string }>(
    `select ${mailColumns}, d.digest_id
     from unnest($1::text[], $2::text[]) as asked (workspace_id, digest_id)
     join deliveries d on d.digest_id = asked.digest_id and d.workspace_id = asked.workspace_id
       and (d.state = 'delivered' or d.round > 1) ${mailJoins}`,
    [
      inDigests.map(({ workspace_id }) => workspace_id),
      inDigests.map(({ sent_digest_id }) => sent_digest_id),
    ],
  );
  return new Map(groupDigests(rows).map((group) => [group[0].digest_id, group]));
}
