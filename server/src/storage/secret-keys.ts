// Holds the secret keys of a process to those that the database needs.

import type { Queryable } from "../database/database.ts";
import { flawOfKeyring, type Keyring } from "../domain/access/keyring.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { listSecretKeyIds } from "./deliveries/endpoints.ts";

/**
 * Throws when a key is missing. A key's id is derived from it, so a wrong key is a missing one; whatever is sealed or
 * derived under it would be lost to all who have the right one.
 */
export async function requireSecretKeys({
  db,
  keyring,
}: {
  db: Queryable;
  keyring: Keyring;
}): Promise<void> {
  const flaw = flawOfKeyring(keyring, await listSecretKeyIds(db));
  if (flaw !== null) throw new OperatorFault(flaw);
}
