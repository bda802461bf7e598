// Review links: 32 unguessable bytes per approval and recipient, of which only the SHA-256 is stored.
// The token is derived from SECRET_KEY and a random nonce, so that a mail that must be sent again can
// carry the same link, while the database alone, stolen or logged, opens no review page.

import { createHash, createHmac } from "node:crypto";
import type { SecretKey } from "./keyring.ts";

export const reviewLinkNonceBytes = 16;

export function deriveReviewToken(key: SecretKey, nonce: Uint8Array): string {
  return createHmac("sha256", key.bytes)
    .update("countersign review link\0")
    .update(nonce)
    .digest("base64url");
}

export function digestOfReviewToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
