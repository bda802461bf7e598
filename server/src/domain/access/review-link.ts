// Review links: 32 unguessable bytes per approval and recipient. Only their SHA-256 is stored.
// The token is derived from SECRET_KEY and a random nonce, so that a mail that must be sent again can
// carry the same link, while the database alone, stolen or logged, opens no review page.

import { createHmac, hash } from "node:crypto";
import type { SecretKey } from "./keyring.ts";

export const reviewLinkNonceBytes = 16;

export function deriveReviewToken(key: SecretKey, nonce: Uint8Array): string {
  return createHmac("sha256", key.keyObject)
    .update("countersign review link\0")
    .update(nonce)
    .digest("base64url");
}

export function digestOfReviewToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
