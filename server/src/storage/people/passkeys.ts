// The passkeys table: the public halves of the keys that people sign in with.

import type { Queryable, Transaction } from "../../database/database.ts";

export type Passkey = {
  id: string;
  name: string;
  credentialId: string;
  transports: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** The fields that check a signature, and the passkey's owner. */
export type PasskeyOfOwner = {
  id: string;
  personId: string;
  email: string;
  credentialId: string;
  publicKey: Buffer;
  counter: number;
};

export type NewPasskey = {
  personId: string;
  name: string;
  credentialId: string;
  publicKey: Uint8Array;
  counter: number;
  transports: readonly string[];
};

type PasskeyRow = {
  id: string;
  name: string;
  credential_id: string;
  transports: string[];
  created_at: Date;
  last_used_at: Date | null;
};

const columns = "id, name, credential_id, transports, created_at, last_used_at";

/** Oldest first. */
export async function list(db: Queryable, personId: string): Promise<Passkey[]> {
  const { rows } = await db.query<PasskeyRow>(
    `select ${columns} from passkeys where person_id = $1 order by id`,
    [personId],
  );
  return rows.map(toPasskey);
}

/** What a browser needs to ask for one of somebody's passkeys: by any spelling of their address. */
export async function listOfEmail(
  db: Queryable,
  email: string,
): Promise<Pick<Passkey, "credentialId" | "transports">[]> {
  const { rows } = await db.query<Pick<PasskeyRow, "credential_id" | "transports">>({
    name: "passkeys.listOfEmail",
    text: `
      select k.credential_id, k.transports
      from people p
      join passkeys k on k.person_id = p.id
      where lower(p.email) = lower($1)
      order by k.id`,
    values: [email],
  });
  return rows.map(({ credential_id, transports }) => ({ credentialId: credential_id, transports }));
}

/** Keeps others from adding to a person's passkeys until the transaction ends, and counts them. */
export async function lockAndCount(tx: Transaction, personId: string): Promise<number> {
  await tx.query("select id from people where id = $1 for no key update", [personId]);
  const { rows } = await tx.query<{ count: number }>(
    "select count(*)::integer as count from passkeys where person_id = $1",
    [personId],
  );
  return rows[0]?.count ?? 0;
}

/** Null when there is a passkey with this credential already. */
export async function insert(tx: Transaction, passkey: NewPasskey): Promise<Passkey | null> {
  const { rows } = await tx.query<PasskeyRow>(
    `insert into passkeys (person_id, name, credential_id, public_key, counter, transports)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (credential_id) do nothing
     returning ${columns}`,
    [
      passkey.personId,
      passkey.name,
      passkey.credentialId,
      passkey.publicKey,
      passkey.counter,
      passkey.transports,
    ],
  );
  return rows.map(toPasskey)[0] ?? null;
}

/** Locked, so that of two answers at once the second one sees the first one's counter. */
export function lock(tx: Transaction, credentialId: string): Promise<PasskeyOfOwner | null> {
  return findWith(tx, credentialId, "for no key update of k");
}

export function find(db: Queryable, credentialId: string): Promise<PasskeyOfOwner | null> {
  return findWith(db, credentialId, "");
}

async function findWith(
  db: Queryable,
  credentialId: string,
  lock: "" | "for no key update of k",
): Promise<PasskeyOfOwner | null> {
  const { rows } = await db.query<{
    id: string;
    person_id: string;
    email: string;
    credential_id: string;
    public_key: Buffer;
    counter: string;
  }>(
    `select k.id, k.person_id, p.email, k.credential_id, k.public_key, k.counter
     from passkeys k
     join people p on p.id = k.person_id
     where k.credential_id = $1
     ${lock}`,
    [credentialId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    id: row.id,
    personId: row.person_id,
    email: row.email,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: Number(row.counter),
  };
}

export async function updateCounter(tx: Transaction, id: string, counter: number): Promise<void> {
  await tx.query("update passkeys set counter = $2, last_used_at = now_ms() where id = $1", [
    id,
    counter,
  ]);
}

/** False when it was removed, or when its counter has come as far: of two uses of one answer, one gets true. */
export async function advanceCounter(
  tx: Transaction,
  id: string,
  counter: number,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: "passkeys.advanceCounter",
    text: `
      update passkeys set counter = $2, last_used_at = now_ms()
      where id = $1 and (counter < $2 or counter = 0 and $2 = 0)`,
    values: [id, counter],
  });
  return rowCount === 1;
}

/** A passkey as others may have to recognise its signatures. */
export type PublicPasskey = Pick<Passkey, "id" | "name" | "credentialId"> & { publicKey: Buffer };

/** Answers the removed passkey, or null when this person has no such passkey. */
export async function remove(
  tx: Transaction,
  { id, personId }: { id: string; personId: string },
): Promise<PublicPasskey | null> {
  const { rows } = await tx.query<{ name: string; credential_id: string; public_key: Buffer }>(
    "delete from passkeys where id = $1 and person_id = $2 returning name, credential_id, public_key",
    [id, personId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { name, credential_id: credentialId, public_key: publicKey } = row;
  return { id, name, credentialId, publicKey };
}

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    name: row.name,
    credentialId: row.credential_id,
    transports: row.transports,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
