// The proofs of identity: a code of six digits by mail, a one-time link, and the session that either begins. Codes and
// links are derived from SECRET_KEY and a nonce, as review links are: the database alone signs nobody in.

import { createHmac, hash } from "node:crypto";
import type { SecretKey } from "./keyring.ts";

export const signInNonceBytes = 16;
export const sessionTokenBytes = 32;

const codeDigits = 6;

export function deriveSignInCode(key: SecretKey, nonce: Uint8Array): string {
  const digest = createHmac("sha256", key.keyObject)
    .update("countersign sign-in code\0")
    .update(nonce)
    .digest();
  // Of 64 bits the remainder favours no code by more than one part in eighteen trillion.
  const code = digest.readBigUInt64BE() % BigInt(10 ** codeDigits);
  return String(code).padStart(codeDigits, "0");
}

/** As printed: in two halves, which people keep in mind more easily than six digits. */
export function formatSignInCode(code: string): string {
  return `${code.slice(0, codeDigits / 2)} ${code.slice(codeDigits / 2)}`;
}

/** Removes spaces and hyphens from a typed code. Null when it is no code. */
export function normaliseSignInCode(text: string): string | null {
  const code = text.replaceAll(/[\s\p{Pd}]/gu, "");
  return /^[0-9]{6}$/.test(code) ? code : null;
}

export function deriveSignInToken(key: SecretKey, nonce: Uint8Array): string {
  return createHmac("sha256", key.keyObject)
    .update("countersign sign-in link\0")
    .update(nonce)
    .digest("base64url");
}

/** The token stands behind the #, which no server and no log sees. */
export function signInUrlOf(publicUrl: string, token: string): string {
  return `${publicUrl}/app/sign-in#token=${token}`;
}

/** The digest by which a one-time link or a session is found. The token itself is never stored. */
export function digestOfToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
