// The sign_in_secrets table: codes that were mailed and one-time links, each good for one use and a short time by the
// database's clock.

import type { Transaction } from "../../database/database.ts";
import {
  signInCodeMinutes,
  signInCodesPerDayMax,
  signInCodesPerHourMax,
  signInCodeTriesMax,
  signInLinkHours,
} from "../../domain/limits.ts";

export type NewSecret = { email: string; secretKeyId: string; nonce: Buffer };

/** Null when this address was sent as many codes as it may get. Callers for one address wait here for their turn. */
export async function insertCode(tx: Transaction, secret: NewSecret): Promise<Date | null> {
  const { email, secretKeyId, nonce } = secret;
  await tx.query("select pg_advisory_xact_lock(hashtextextended('sign-in ' || lower($1), 0))", [
    email,
  ]);
  const { rows } = await tx.query<{ expires_at: Date }>(
    `insert into sign_in_secrets (kind, email, secret_key_id, nonce, expires_at)
     select 'code', $1, $2, $3, now_ms() + interval '${signInCodeMinutes} minutes'
     from (
       select count(*) as today, count(*) filter (where created_at > now() - interval '1 hour') as this_hour
       from sign_in_secrets
       where kind = 'code' and lower(email) = lower($1) and created_at > now() - interval '1 day'
     ) as sent
     where sent.today < ${signInCodesPerDayMax} and sent.this_hour < ${signInCodesPerHourMax}
     returning expires_at`,
    [email, secretKeyId, nonce],
  );
  return rows[0]?.expires_at ?? null;
}

/** `email` has the spelling that the code was mailed to. */
export type CodeTry = { id: string; email: string; secretKeyId: string; nonce: Buffer };

/**
 * Counts one try against the newest code of an address, before anybody checks the code: a caller who guesses many times
 * at once has as few tries as one who guesses one after the other. Null when there is nothing left to try.
 */
export async function takeTry(tx: Transaction, email: string): Promise<CodeTry | null> {
  const { rows } = await tx.query<{
    id: string;
    email: string;
    secret_key_id: string;
    nonce: Buffer;
  }>(
    `update sign_in_secrets set tries = tries + 1
     where id = (
       select id from sign_in_secrets
       where kind = 'code' and lower(email) = lower($1)
       order by created_at desc, id desc limit 1
     ) and used_at is null and tries < ${signInCodeTriesMax} and expires_at > now()
     returning id, email, secret_key_id, nonce`,
    [email],
  );
  const [row] = rows;
  return row === undefined
    ? null
    : { id: row.id, email: row.email, secretKeyId: row.secret_key_id, nonce: row.nonce };
}

/** False when somebody was faster. */
export async function use(tx: Transaction, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    "update sign_in_secrets set used_at = now_ms() where id = $1 and used_at is null",
    [id],
  );
  return rowCount === 1;
}

export async function insertLink(
  tx: Transaction,
  { email, secretKeyId, nonce, digest }: NewSecret & { digest: Buffer },
): Promise<void> {
  // Only the newest is good: older ones may lie about in a log.
  await tx.query(
    "delete from sign_in_secrets where kind = 'link' and lower(email) = lower($1) and used_at is null",
    [email],
  );
  await tx.query(
    `insert into sign_in_secrets (kind, email, secret_key_id, nonce, digest, expires_at)
     values ('link', $1, $2, $3, $4, now_ms() + interval '${signInLinkHours} hours')`,
    [email, secretKeyId, nonce, digest],
  );
}

/** Uses a link up and answers its address. Null when the link was not good. */
export async function useLink(tx: Transaction, digest: Buffer): Promise<string | null> {
  const { rows } = await tx.query<{ email: string }>(
    `update sign_in_secrets set used_at = now_ms()
     where kind = 'link' and digest = $1 and used_at is null and expires_at > now()
     returning email`,
    [digest],
  );
  return rows[0]?.email ?? null;
}

/** Removes secrets that nobody can use any more and that no longer count against an address. */
export async function removeStale(tx: Transaction, limit: number): Promise<void> {
  await tx.query(
    `delete from sign_in_secrets where id = any (array(
       select id from sign_in_secrets where expires_at < now() - interval '1 day' order by expires_at limit $1
     ))`,
    [limit],
  );
}
