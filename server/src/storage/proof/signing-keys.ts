// The signing_keys table: the keys of receipts and checkpoints. One is current, unless none was needed yet.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { SigningKey } from "../../domain/proof/signing-key.ts";

/** The private half is sealed. */
export type SealedSigningKey = {
  id: string;
  publicKey: Buffer;
  secretKeyId: string;
  sealed: Buffer;
};

type SealedRow = { id: string; public_key: Buffer; secret_key_id: string; sealed: Buffer };
type KeyRow = {
  id: string;
  public_key: Buffer;
  created_at: Date;
  retired_at: Date | null;
  revoked_at: Date | null;
};

export async function findCurrent(db: Queryable): Promise<SealedSigningKey | null> {
  const { rows } = await db.query<SealedRow>({
    name: "signing_keys.find_current",
    text: "select id, public_key, secret_key_id, sealed from signing_keys where retired_at is null",
  });
  const [row] = rows;
  return row === undefined ? null : toSealed(row);
}

/** Without those that were revoked. */
export async function listSealed(db: Queryable): Promise<SealedSigningKey[]> {
  const { rows } = await db.query<SealedRow>(
    "select id, public_key, secret_key_id, sealed from signing_keys where revoked_at is null",
  );
  return rows.map(toSealed);
}

/** Newest first. */
export async function list(db: Queryable): Promise<SigningKey[]> {
  const { rows } = await db.query<KeyRow>(
    `select id, public_key, created_at, retired_at, revoked_at from signing_keys
     order by created_at desc, id`,
  );
  return rows.map(toSigningKey);
}

/** Changes of the keys happen one after the other. Reading and signing go on. The service's role may not lock the table. */
export async function lockAll(tx: Transaction): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended('signing_keys', 0))");
}

/** The clock is read under the lock: a transaction's own time may be earlier than that of the key it follows. */
export async function insert(tx: Transaction, key: SealedSigningKey): Promise<SigningKey> {
  const { rows } = await tx.query<KeyRow>(
    `insert into signing_keys (id, public_key, secret_key_id, sealed, created_at)
     values ($1, $2, $3, $4, clock_timestamp())
     returning id, public_key, created_at, retired_at, revoked_at`,
    [key.id, key.publicKey, key.secretKeyId, key.sealed],
  );
  return toSigningKey(one(rows));
}

/** Waits for receipts that are being kept with it, so that none of them is younger than its end. */
export async function retire(tx: Transaction, id: string): Promise<SigningKey> {
  await tx.query("select from signing_keys where id = $1 for update", [id]);
  const { rows } = await tx.query<KeyRow>(
    `update signing_keys set retired_at = clock_timestamp() where id = $1
     returning id, public_key, created_at, retired_at, revoked_at`,
    [id],
  );
  return toSigningKey(one(rows));
}

export async function revoke(tx: Transaction, id: string): Promise<SigningKey> {
  const { rows } = await tx.query<KeyRow>(
    `update signing_keys set
       retired_at = coalesce(retired_at, clock_timestamp()), revoked_at = clock_timestamp()
     where id = $1
     returning id, public_key, created_at, retired_at, revoked_at`,
    [id],
  );
  return toSigningKey(one(rows));
}

function one(rows: KeyRow[]): KeyRow {
  const [row] = rows;
  if (row === undefined) throw new Error("a signing key vanished");
  return row;
}

function toSealed(row: SealedRow): SealedSigningKey {
  return {
    id: row.id,
    publicKey: row.public_key,
    secretKeyId: row.secret_key_id,
    sealed: row.sealed,
  };
}

function toSigningKey(row: KeyRow): SigningKey {
  return {
    id: row.id,
    publicKey: row.public_key,
    createdAt: row.created_at,
    retiredAt: row.retired_at,
    revokedAt: row.revoked_at,
  };
}
