// The secret that signs a workspace's callbacks. It is made when it is first needed: when somebody looks at it, or when
// the first callback is sent. At rest it is sealed under SECRET_KEY. Owners and admins can look at it again.

import { randomBytes } from "node:crypto";
import { type Database, inOneStatement, type Transaction } from "../../database/database.ts";
import { findSecretKey, type Keyring } from "../../domain/access/keyring.ts";
import { seal, sealRandomBytes, unseal } from "../../domain/access/sealed-secret.ts";
import {
  formatWebhookSecret,
  webhookSecretRandomBytes,
} from "../../domain/delivery/webhook-secret.ts";
import { webhookSecretOverlapHours } from "../../domain/limits.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import { type Doer, operator } from "../../domain/workspace/activity.ts";
import * as callbackSecrets from "../../storage/deliveries/callback-secrets.ts";
import type { SealedSecret } from "../../storage/deliveries/claimed-events.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTurnBy } from "../transaction-by.ts";

/** The name under which it is sealed, so that it opens for this workspace alone. */
export function callbackSecretRecordOf(workspaceId: string): string {
  return `callback_secrets/${workspaceId}`;
}

/** `oldSecretEndsAt` after a rotation, if there was one before. */
export type ShownSecret = { secret: string; oldSecretEndsAt?: Date };

export async function showCallbackSecret(
  db: Database,
  keyring: Keyring,
  workspaceId: string,
  by: Doer = operator,
): Promise<ShownSecret | ChangeRefusal> {
  return inTurnBy(db, workspaceId, by, async (tx, { workspace }) => {
    await insertIfNone(tx, keyring, workspaceId);
    const [current] = await callbackSecrets.listLive(tx, workspaceId);
    const secret = current === undefined ? null : open(keyring, workspaceId, current);
    if (secret === null) {
      return refuse(
        "conflict",
        "no key in SECRET_KEY opens this secret; the operator can add the key back, or you can rotate the secret",
      );
    }
    const entry = { workspaceId, actor: by.actor, subject: workspace.name };
    await activity.insert(tx, { ...entry, action: "callback_secret.shown" });
    return { secret };
  });
}

/** Makes a new one. The old one signs beside it for a while, so that receivers can change over. */
export async function rotateCallbackSecret(
  db: Database,
  keyring: Keyring,
  workspaceId: string,
  by: Doer = operator,
): Promise<ShownSecret | ChangeRefusal> {
  return inTurnBy(db, workspaceId, by, async (tx, { workspace }) => {
    const oldSecretEndsAt = await callbackSecrets.endAll(
      tx,
      workspaceId,
      webhookSecretOverlapHours,
    );
    const secret = await insertIfNone(tx, keyring, workspaceId);
    if (secret === null) throw new Error("another secret was made under our lock");
    const entry = { workspaceId, actor: by.actor, subject: workspace.name };
    await activity.insert(tx, { ...entry, action: "callback_secret.rotated" });
    return oldSecretEndsAt === null ? { secret } : { secret, oldSecretEndsAt };
  });
}

/** For the first callback of a workspace. Whoever made it, all processes then find the same. */
export async function provideCallbackSecrets(
  db: Database,
  keyring: Keyring,
  workspaceId: string,
): Promise<SealedSecret[]> {
  await insertIfNone(inOneStatement(db), keyring, workspaceId);
  return callbackSecrets.listLive(db, workspaceId);
}

/** Null when there is one already. */
async function insertIfNone(
  tx: Transaction,
  keyring: Keyring,
  workspaceId: string,
): Promise<string | null> {
  const secret = formatWebhookSecret(randomBytes(webhookSecretRandomBytes));
  const sealed = seal({
    key: keyring.current,
    record: callbackSecretRecordOf(workspaceId),
    plaintext: secret,
    random: randomBytes(sealRandomBytes),
  });
  const secretKeyId = keyring.current.id;
  const isMade = await callbackSecrets.insertIfNone(tx, workspaceId, { secretKeyId, sealed });
  return isMade ? secret : null;
}

function open(
  keyring: Keyring,
  workspaceId: string,
  { secretKeyId, sealed }: SealedSecret,
): string | null {
  const key = findSecretKey(keyring, secretKeyId);
  if (key === null) return null;
  try {
    return unseal(key, callbackSecretRecordOf(workspaceId), sealed);
  } catch {
    return null;
  }
}
