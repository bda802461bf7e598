// How a person is asked beside mail: their settings, the browsers that show push messages, and their Slack accounts.

import { randomBytes } from "node:crypto";
import { type Database, inOneStatement, inTransaction } from "../../database/database.ts";
import { isPushPublicKey } from "../../domain/channels/push-encryption.ts";
import { flawOfPushEndpoint } from "../../domain/channels/push-endpoint.ts";
import { flawOfQuietHours, unknownTimeZone } from "../../domain/channels/quiet-hours.ts";
import {
  digestOfSlackLinkCode,
  slackLinkCodeCharacters,
  slackLinkCodeOf,
} from "../../domain/channels/slack-link-code.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import * as personSettings from "../../storage/channels/person-settings.ts";
import * as pushSubscriptions from "../../storage/channels/push-subscriptions.ts";
import * as slackAccounts from "../../storage/channels/slack-accounts.ts";
import * as slackLinkCodes from "../../storage/channels/slack-link-codes.ts";

/** Null when they are kept. */
export async function changePersonSettings(
  db: Database,
  email: string,
  settings: personSettings.PersonSettings,
): Promise<Refusal | null> {
  const { quiet } = settings;
  const flawed = quiet === null ? null : flawOfQuietHours(quiet);
  if (flawed !== null) return refuse("validation_error", `quiet.${flawed.field}: ${flawed.flaw}`);
  if (await personSettings.put(inOneStatement(db), email, settings)) return null;
  return refuse("validation_error", `quiet.timeZone: ${unknownTimeZone}`);
}

export type WishedSubscription = {
  email: string;
  sessionId: string;
  endpoint: string;
  /** In base64url, as browsers tell them. */
  publicKey: string;
  auth: string;
};

const authBytes = 16;

export async function subscribeToPush(
  db: Database,
  { email, sessionId, endpoint, ...told }: WishedSubscription,
): Promise<{ id: string } | Refusal> {
  const flaw = flawOfPushEndpoint(endpoint);
  if (flaw !== null) return refuse("validation_error", `endpoint: ${flaw}`);
  const publicKey = bytesOf(told.publicKey);
  const auth = bytesOf(told.auth);
  if (publicKey === null || !isPushPublicKey(publicKey)) {
    return refuse("validation_error", "keys.p256dh: must be a point of the curve P-256");
  }
  if (auth?.length !== authBytes) {
    return refuse("validation_error", `keys.auth: must be ${authBytes} bytes in base64url`);
  }
  const subscription = { sessionId, email, endpoint, keys: { publicKey, auth } };
  return inTransaction(db, async (tx) => ({ id: await pushSubscriptions.put(tx, subscription) }));
}

/** Null when it is no base64url. */
function bytesOf(text: string): Buffer | null {
  return /^[\w-]{1,200}={0,2}$/.test(text) ? Buffer.from(text, "base64url") : null;
}

/** False when the person has no such browser. */
export async function removeBrowser(
  db: Database,
  browser: { id: string; email: string },
): Promise<boolean> {
  return pushSubscriptions.remove(inOneStatement(db), browser);
}

/** Shown once, to the person who will type it in Slack. */
export async function makeSlackLinkCode(
  db: Database,
  person: { personId: string; email: string },
): Promise<{ code: string; expiresAt: Date }> {
  const code = slackLinkCodeOf(randomBytes(slackLinkCodeCharacters));
  const digest = digestOfSlackLinkCode(code);
  if (digest === null) throw new Error("a code that was just made is none");
  const expiresAt = await inTransaction(db, (tx) => slackLinkCodes.put(tx, { digest, ...person }));
  return { code, expiresAt };
}

/** False when there was none. */
export async function removeSlackAccount(
  db: Database,
  account: { teamId: string; email: string },
): Promise<boolean> {
  return slackAccounts.remove(inOneStatement(db), account);
}
