// The key pair by which push services know this service. It is made when it is first needed, and never changes: each
// browser subscribes to its public half. At rest the private half is sealed under SECRET_KEY.

import { createECDH, randomBytes } from "node:crypto";
import {
  type Database,
  inOneStatement,
  inTransaction,
  type Transaction,
} from "../../database/database.ts";
import { findSecretKey, isAwaited, type Keyring } from "../../domain/access/keyring.ts";
import { seal, sealRandomBytes, unseal } from "../../domain/access/sealed-secret.ts";
import { pushCurve } from "../../domain/channels/push-encryption.ts";
import { type PushSender, toPushSender } from "../../domain/channels/vapid.ts";
import * as pushIdentity from "../../storage/channels/push-identity.ts";
import * as pushSubscriptions from "../../storage/channels/push-subscriptions.ts";

/** The name under which the private key is sealed. */
export const pushIdentityRecord = "push_identity/private_key";

const privateKeyBytes = 32;

/** What browsers subscribe to, in base64url. */
export async function pushPublicKey(db: Database, keyring: Keyring): Promise<string> {
  const { publicKey } = await provide(db, keyring);
  return publicKey.toString("base64url");
}

/** Null while SECRET_KEY lacks the key that opens it: another node may have it, or it is about to be added. */
export async function openPushIdentity(db: Database, keyring: Keyring): Promise<PushSender | null> {
  const { publicKey, secretKeyId, sealed } = await provide(db, keyring);
  const key = findSecretKey(keyring, secretKeyId);
  if (key === null) return null;
  const privateKey = Buffer.from(unseal(key, pushIdentityRecord, sealed), "base64url");
  return toPushSender(publicKey, privateKey);
}

/** One that the operator has given up is replaced. Browsers that subscribed to it subscribe anew at the next visit. */
async function provide(db: Database, keyring: Keyring): Promise<pushIdentity.SealedPushIdentity> {
  const found = await pushIdentity.find(db);
  if (found !== null && !isGivenUp(keyring, found)) return found;
  if (found === null) await insertIfNone(inOneStatement(db), keyring);
  else await replace(db, keyring, found);
  const made = await pushIdentity.find(db);
  if (made === null) throw new Error("the key pair of push messages vanished");
  return made;
}

function isGivenUp(keyring: Keyring, { secretKeyId }: pushIdentity.SealedPushIdentity): boolean {
  return findSecretKey(keyring, secretKeyId) === null && !isAwaited(keyring, secretKeyId);
}

function replace(
  db: Database,
  keyring: Keyring,
  { publicKey }: pushIdentity.SealedPushIdentity,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    if (!(await pushIdentity.remove(tx, publicKey))) return;
    await pushSubscriptions.removeAll(tx);
    await insertIfNone(tx, keyring);
  });
}

async function insertIfNone(tx: Transaction, keyring: Keyring): Promise<void> {
  const pair = createECDH(pushCurve);
  const publicKey = pair.generateKeys();
  // Leading zeros are left off.
  const privateKey = Buffer.alloc(privateKeyBytes);
  const number = pair.getPrivateKey();
  number.copy(privateKey, privateKeyBytes - number.length);
  const sealed = seal({
    key: keyring.current,
    record: pushIdentityRecord,
    plaintext: privateKey.toString("base64url"),
    random: randomBytes(sealRandomBytes),
  });
  await pushIdentity.insertIfNone(tx, { publicKey, secretKeyId: keyring.current.id, sealed });
}
