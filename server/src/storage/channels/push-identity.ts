// The key pair by which push services know this service: one row, once it is needed.

import type { Queryable, Transaction } from "../../database/database.ts";

/** The private half is sealed. */
export type SealedPushIdentity = { publicKey: Buffer; secretKeyId: string; sealed: Buffer };

export async function find(db: Queryable): Promise<SealedPushIdentity | null> {
  const { rows } = await db.query<{ public_key: Buffer; secret_key_id: string; sealed: Buffer }>(
    "select public_key, secret_key_id, sealed from push_identity",
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { publicKey: row.public_key, secretKeyId: row.secret_key_id, sealed: row.sealed };
}

/** Of racing processes one makes it. */
export async function insertIfNone(tx: Transaction, identity: SealedPushIdentity): Promise<void> {
  await tx.query(
    `insert into push_identity (public_key, secret_key_id, sealed) values ($1, $2, $3)
     on conflict (id) do nothing`,
    [identity.publicKey, identity.secretKeyId, identity.sealed],
  );
}

/** False when it is gone already: another process has replaced it. */
export async function remove(tx: Transaction, publicKey: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query("delete from push_identity where public_key = $1", [
    publicKey,
  ]);
  return rowCount === 1;
}
