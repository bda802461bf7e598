// Checks that a process has all secret keys that the database needs.

import type { Queryable } from "../database/database.ts";
import { flawOfKeyring, type Keyring } from "../domain/access/keyring.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { listSecretKeyIds } from "./deliveries/endpoints.ts";

/**
 * Throws when a key is missing. A key's id is derived from it, so a wrong key is a missing one. Data sealed or derived
 * under a wrong key would be lost to every process with the right one.
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
