// The keys of SECRET_KEY: the first one protects new data, the others still open old data.

import { createHash, createSecretKey, type KeyObject } from "node:crypto";

/** Held as a key object: made once, it derives a link six times as fast as from bytes. */
export type SecretKey = { id: string; keyObject: KeyObject };
export type Keyring = {
  current: SecretKey;
  all: readonly SecretKey[];
  /** Ids of keys that the operator has given up: the data they protected is lost. */
  lost?: readonly string[];
};

export const secretKeyBytes = 32;

/** Reads a comma-separated list of base64 keys, newest first. Null when one of them is not 32 bytes. */
export function parseKeyring(text: string): Keyring | null {
  const all = text.split(",").map((part) => Buffer.from(part.trim(), "base64"));
  if (all.some((bytes) => bytes.length !== secretKeyBytes)) return null;
  const keys = all.map((bytes) => ({ id: idOf(bytes), keyObject: createSecretKey(bytes) }));
  const [current] = keys;
  return current === undefined ? null : { current, all: keys };
}

export function findSecretKey(keyring: Keyring, id: string): SecretKey | null {
  return keyring.all.find((key) => key.id === id) ?? null;
}

/** True when a key is missing and nobody gave it up: another node may have it, or it is about to be added. */
export function isAwaited(keyring: Keyring, id: string): boolean {
  return findSecretKey(keyring, id) === null && !(keyring.lost ?? []).includes(id);
}

/** Says which keys are missing and what to do; null when none is. */
export function flawOfKeyring(keyring: Keyring, idsInUse: readonly string[]): string | null {
  const missing = idsInUse.filter((id) => isAwaited(keyring, id));
  if (missing.length === 0) return null;
  const keys = missing.length === 1 ? "the key" : "the keys";
  const ids = missing.join(",");
  return `SECRET_KEY lacks ${keys} ${ids}, with which secrets of endpoints, callbacks or channels, the key of receipts, the seals of logs, or links of open requests were made. Add the old value to the end of the list. If it is lost for good, set LOST_SECRET_KEYS=${ids}: webhooks to these endpoints and callbacks of these workspaces fail until their secrets are rotated, Slack and Teams must be connected again, browsers get push messages again after the next visit to the inbox, new receipts are signed with a new key, logs go on under the next name, and these links are no longer mailed.`;
}

/** Reads the ids of keys, as messages name them. Null when one of them is none. */
export function parseSecretKeyIds(text: string): string[] | null {
  const ids = text.split(",").map((part) => part.trim());
  return ids.every((id) => /^[0-9a-f]{12}$/.test(id)) ? ids : null;
}

/** A short name for a key that reveals nothing about it. It is stored beside the protected data. */
function idOf(bytes: Uint8Array): string {
  return createHash("sha256").update("countersign key id").update(bytes).digest("hex").slice(0, 12);
}
