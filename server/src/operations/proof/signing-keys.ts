// The installation's signing key: made when it is first needed, rotated and revoked by the operator. At rest its private
// half is sealed under SECRET_KEY. A trigger tells each change in the log of each workspace.

import { generateKeyPairSync, randomBytes } from "node:crypto";
import {
  type Database,
  inTransaction,
  type Queryable,
  type Transaction,
} from "../../database/database.ts";
import { findSecretKey, isAwaited, type Keyring } from "../../domain/access/keyring.ts";
import { seal, sealRandomBytes, unseal } from "../../domain/access/sealed-secret.ts";
import {
  type Signer,
  type SigningKey,
  signerOf,
  signingKeyRecordOf,
  thumbprintOf,
} from "../../domain/proof/signing-key.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import * as signingKeys from "../../storage/proof/signing-keys.ts";

/** Null while SECRET_KEY lacks the key that opens it: another node may have it, or it is about to be added. */
export async function currentSigner(db: Database, keyring: Keyring): Promise<Signer | null> {
  const found = await signingKeys.findCurrent(db);
  const current = found === null || isGivenUp(keyring, found) ? await make(db, keyring) : found;
  return open(keyring, current);
}

/** Opening a key takes longer than signing with it. */
const opened = new WeakMap<Keyring, Map<string, Signer>>();

function open(keyring: Keyring, current: signingKeys.SealedSigningKey): Signer | null {
  const signers = opened.get(keyring) ?? new Map<string, Signer>();
  opened.set(keyring, signers);
  const { id, publicKey, secretKeyId, sealed } = current;
  const known = signers.get(id);
  if (known !== undefined) return known;
  const key = findSecretKey(keyring, secretKeyId);
  if (key === null) return null;
  const seed = Buffer.from(unseal(key, signingKeyRecordOf(id), sealed), "base64url");
  const signer = signerOf(publicKey, seed);
  signers.set(id, signer);
  return signer;
}

/** The first key, or one in place of a key that the operator has given up. Of racing processes one makes it. */
async function make(db: Database, keyring: Keyring): Promise<signingKeys.SealedSigningKey> {
  return inTransaction(db, async (tx) => {
    await signingKeys.lockAll(tx);
    const found = await signingKeys.findCurrent(tx);
    if (found !== null && !isGivenUp(keyring, found)) return found;
    const { sealed } = await replace(tx, keyring, found);
    return sealed;
  });
}

/** Receipts of the old key still verify: the key set keeps it. */
export async function rotateSigningKey(
  db: Database,
  keyring: Keyring,
): Promise<{ current: SigningKey; retired: SigningKey | null }> {
  return inTransaction(db, async (tx) => {
    await signingKeys.lockAll(tx);
    return replace(tx, keyring, await signingKeys.findCurrent(tx));
  });
}

/** For a key that somebody else may have: nothing it signed counts any more. Where it was current, a new one is made. */
export async function revokeSigningKey(
  db: Database,
  keyring: Keyring,
  id: string,
): Promise<{ revoked: SigningKey; current: SigningKey | null } | ChangeRefusal> {
  return inTransaction(db, async (tx) => {
    await signingKeys.lockAll(tx);
    const key = (await signingKeys.list(tx)).find((each) => each.id === id);
    if (key === undefined) {
      return refuse("not_found", `there is no receipt key ${id}; \`receipt-key list\` shows all`);
    }
    if (key.revokedAt !== null) {
      return refuse("conflict", `${id} was revoked at ${key.revokedAt.toISOString()}`);
    }
    const isCurrent = key.retiredAt === null;
    const { current } = isCurrent
      ? await replace(tx, keyring, await signingKeys.findCurrent(tx))
      : { current: null };
    const revoked = await signingKeys.revoke(tx, id);
    return { revoked, current };
  });
}

/** The public halves of keys whose private ones SECRET_KEY opens: a row that somebody else wrote is none of them. */
export async function listOwnKeys(db: Queryable, keyring: Keyring): Promise<Buffer[]> {
  const sealed = await signingKeys.listSealed(db);
  return sealed.flatMap((key) => {
    try {
      return open(keyring, key)?.publicKey ?? [];
    } catch {
      return [];
    }
  });
}

/** Newest first. */
export function listSigningKeys(db: Database): Promise<SigningKey[]> {
  return signingKeys.list(db);
}

function isGivenUp(keyring: Keyring, { secretKeyId }: signingKeys.SealedSigningKey): boolean {
  return findSecretKey(keyring, secretKeyId) === null && !isAwaited(keyring, secretKeyId);
}

/** Under the lock. Retires `former` last, because receipts are signed with it until then. */
async function replace(tx: Transaction, keyring: Keyring, former: { id: string } | null) {
  const sealed = sealNewKey(keyring);
  const retired = former === null ? null : await signingKeys.retire(tx, former.id);
  return { sealed, current: await signingKeys.insert(tx, sealed), retired };
}

function sealNewKey(keyring: Keyring): signingKeys.SealedSigningKey {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const publicKey = Buffer.from(x, "base64url");
  const id = thumbprintOf(publicKey);
  const sealed = seal({
    key: keyring.current,
    record: signingKeyRecordOf(id),
    plaintext: d,
    random: randomBytes(sealRandomBytes),
  });
  return { id, publicKey, secretKeyId: keyring.current.id, sealed };
}
