// The browsers that show push messages. Each belongs to a session and ends with it.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { PushKeys } from "../../domain/channels/push-encryption.ts";
import { pushBrowsersMax } from "../../domain/channels/push-limits.ts";
import { isAlive } from "../people/sessions.ts";

export type NewPushSubscription = {
  sessionId: string;
  email: string;
  endpoint: string;
  keys: PushKeys;
};

export type PushSubscription = { id: string; endpoint: string; keys: PushKeys };

/** A browser of somebody, as they see it in their settings. */
export type PushBrowser = { id: string; sessionId: string; createdAt: Date };

/**
 * Takes over what the browser's former session left, whoever that was: one browser shows the messages of one person, at
 * one address. The oldest of very many browsers make room.
 */
export async function put(tx: Transaction, subscription: NewPushSubscription): Promise<string> {
  const { sessionId, email, endpoint, keys } = subscription;
  const { rows } = await tx.query<{ id: string }>(
    `insert into push_subscriptions (session_id, email, endpoint, public_key, auth)
     values ($1, lower($2), $3, $4, $5)
     on conflict (endpoint) do update set session_id = excluded.session_id, email = excluded.email,
       public_key = excluded.public_key, auth = excluded.auth,
       sent_at = case when push_subscriptions.email = excluded.email then push_subscriptions.sent_at end
     returning id`,
    [sessionId, email, endpoint, keys.publicKey, keys.auth],
  );
  const { id } = rows[0] as { id: string };
  await tx.query(
    `delete from push_subscriptions where id <> $2 and (
       session_id = $4 or id in (
         select id from push_subscriptions where email = lower($1) order by id desc offset $3
       )
     )`,
    [email, id, pushBrowsersMax, sessionId],
  );
  return id;
}

/** Newest first, without those whose session is over. */
export async function listBrowsers(db: Queryable, email: string): Promise<PushBrowser[]> {
  const { rows } = await db.query<{ id: string; session_id: string; created_at: Date }>(
    `select b.id, b.session_id, b.created_at from push_subscriptions b
     join sessions s on s.id = b.session_id
     where b.email = lower($1) and ${isAlive} order by b.id desc limit $2`,
    [email, pushBrowsersMax],
  );
  return rows.map((row) => ({
    id: row.id,
    sessionId: row.session_id,
    createdAt: row.created_at,
  }));
}

export type PushAudience = {
  subscriptions: PushSubscription[];
  /** When the person was last told; null when never, or not in one of these browsers. */
  toldAt: Date | null;
};

/** Where somebody gets push messages now. */
export async function findAudience(db: Queryable, email: string): Promise<PushAudience> {
  const { rows } = await db.query<{
    id: string;
    endpoint: string;
    public_key: Buffer;
    auth: Buffer;
    sent_at: Date | null;
  }>({
    name: "push_subscriptions.findAudience",
    text: `
      select b.id, b.endpoint, b.public_key, b.auth, b.sent_at
      from push_subscriptions b
      join sessions s on s.id = b.session_id
      where b.email = lower($1) and ${isAlive} order by b.id desc limit $2`,
    values: [email, pushBrowsersMax],
  });
  const toldAtMs = Math.max(0, ...rows.map((row) => row.sent_at?.getTime() ?? 0));
  return {
    subscriptions: rows.map((row) => ({
      id: row.id,
      endpoint: row.endpoint,
      keys: { publicKey: row.public_key, auth: row.auth },
    })),
    toldAt: toldAtMs === 0 ? null : new Date(toldAtMs),
  };
}

/** False when the person has no such browser. */
export async function remove(
  tx: Transaction,
  { id, email }: { id: string; email: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    "delete from push_subscriptions where id = $1 and email = lower($2)",
    [id, email],
  );
  return rowCount === 1;
}

/**
 * What follows from the answers of push services. A browser that subscribed anew meanwhile has other keys, and stays.
 */
export async function noteAnswers(
  tx: Transaction,
  answers: { told: readonly string[]; gone: readonly PushSubscription[]; countedAt: Date },
): Promise<void> {
  await tx.query(
    `with gone as (
       delete from push_subscriptions b
       using unnest($1::text[], $2::bytea[]) as g (id, public_key)
       where b.id = g.id and b.public_key = g.public_key
     )
     update push_subscriptions set sent_at = greatest(sent_at, $4) where id = any ($3)`,
    [
      answers.gone.map(({ id }) => id),
      answers.gone.map(({ keys }) => keys.publicKey),
      answers.told,
      answers.countedAt,
    ],
  );
}

/** Nobody can send to them any more: they were made for a key pair that is lost. */
export async function removeAll(tx: Transaction): Promise<void> {
  await tx.query("delete from push_subscriptions");
}
