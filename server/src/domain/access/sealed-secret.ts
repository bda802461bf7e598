// Secrets at rest: AES-256-GCM under a key of its own for each record, derived by HKDF from SECRET_KEY.
// The record's name is authenticated too, so a sealed secret cannot be moved to another row.

import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { SecretKey } from "./keyring.ts";

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** The number of random bytes for sealing. */
export const sealRandomBytes = saltBytes + nonceBytes;

export type SealInput = {
  key: SecretKey;
  /** Names the record, such as `endpoint_secrets/we_…`. */
  record: string;
  plaintext: string;
  random: Uint8Array;
};

export function seal({ key, record, plaintext, random }: SealInput): Buffer {
  const salt = random.subarray(0, saltBytes);
  const nonce = random.subarray(saltBytes, sealRandomBytes);
  if (nonce.length !== nonceBytes) throw new Error("too few random bytes for sealing");
  const cipher = createCipheriv("aes-256-gcm", recordKey(key, salt, record), nonce);
  cipher.setAAD(Buffer.from(record));
  const ciphertext = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Opens what `seal` made. Throws when the key, the record or a single bit differs. */
export function unseal(key: SecretKey, record: string, sealed: Uint8Array): string {
  const salt = sealed.subarray(0, saltBytes);
  const nonce = sealed.subarray(saltBytes, sealRandomBytes);
  const tag = sealed.subarray(sealRandomBytes, sealRandomBytes + tagBytes);
  const decipher = createDecipheriv("aes-256-gcm", recordKey(key, salt, record), nonce, {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(record));
  decipher.setAuthTag(tag);
  const ciphertext = sealed.subarray(sealRandomBytes + tagBytes);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
}

function recordKey(key: SecretKey, salt: Uint8Array, record: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key.keyObject, salt, record, 32));
}
