// The secrets that sign a workspace's callbacks, sealed. One is current; those before it sign beside it for a while.

import type { Queryable, Transaction } from "../../database/database.ts";
import { webhookSecretsMax } from "../../domain/limits.ts";
import type { SealedSecret } from "./claimed-events.ts";

/** False when there is a current one already: of racing processes one makes it. */
export async function insertIfNone(
  tx: Transaction,
  workspaceId: string,
  { secretKeyId, sealed }: SealedSecret,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into callback_secrets (workspace_id, secret_key_id, sealed) values ($1, $2, $3)
     on conflict (workspace_id) where expires_at is null do nothing`,
    [workspaceId, secretKeyId, sealed],
  );
  return rowCount === 1;
}

/**
 * Lets a workspace's secrets end after some hours, at the latest. Says when; null when there is none. All but the newest
 * few end at once: each live secret signs every callback.
 */
export async function endAll(
  tx: Transaction,
  workspaceId: string,
  hours: number,
): Promise<Date | null> {
  const { rows } = await tx.query<{ ends_at: Date | null }>(
    `with ending as (
       update callback_secrets
       set expires_at = least(expires_at, now_ms() + $2 * interval '1 hour' * (id = any (array(
         select id from callback_secrets
         where workspace_id = $1
         order by id desc limit ${webhookSecretsMax - 1}
       )))::integer)
       where workspace_id = $1
       returning expires_at
     )
     select max(expires_at) as ends_at from ending`,
    [workspaceId, hours],
  );
  return rows[0]?.ends_at ?? null;
}

/** Newest first. */
export async function listLive(db: Queryable, workspaceId: string): Promise<SealedSecret[]> {
  const { rows } = await db.query<{ secret_key_id: string; sealed: Buffer }>(
    `select secret_key_id, sealed from callback_secrets
     where workspace_id = $1 and (expires_at is null or expires_at > now())
     order by id desc`,
    [workspaceId],
  );
  return rows.map((row) => ({ secretKeyId: row.secret_key_id, sealed: row.sealed }));
}
