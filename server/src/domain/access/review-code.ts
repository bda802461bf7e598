// Review codes: six characters printed in the mail and typed on the review page, for workspaces that want more than the
// link. A code is derived as the link's token is, so it is stored nowhere, and a mail sent again carries the same one.

import { createHmac } from "node:crypto";
import type { SecretKey } from "./keyring.ts";

/** No vowels and no Y, so that a code spells nothing. Of 0 O, 1 I L, U V, 2 Z, 5 S and 8 B, which are misread, one at most. */
const alphabet = "BCDFGHJKMNPQRSTVWXZ34679";
const codeCharacters = 6;
/** 191,102,976: ten tries, after which the link is locked, hit one time in nineteen million. */
const possibilities = BigInt(alphabet.length ** codeCharacters);

export function deriveReviewCode(key: SecretKey, nonce: Uint8Array): string {
  const digest = createHmac("sha256", key.keyObject)
    .update("countersign review code\0")
    .update(nonce)
    .digest();
  // Of 64 bits the remainder favours no code by more than one part in 96 billion.
  let rest = Number(digest.readBigUInt64BE() % possibilities);
  let code = "";
  for (let place = 0; place < codeCharacters; place += 1) {
    code += alphabet.charAt(rest % alphabet.length);
    rest = Math.floor(rest / alphabet.length);
  }
  return code;
}

/** As printed: in two halves, which people keep in mind more easily than six characters. */
export function formatReviewCode(code: string): string {
  const half = codeCharacters / 2;
  return `${code.slice(0, half)}-${code.slice(half)}`;
}

/** Normalises a typed code: case, spaces and any kind of hyphen don't count. */
export function normaliseReviewCode(text: string): string {
  return text.replaceAll(/[\s\p{Pd}]/gu, "").toUpperCase();
}
