// Receipts as signed tokens in the compact form (RFC 7515), which an executor checks without asking us.

import { receiptHeader, withEmbeddedText } from "./receipt.ts";
import type { Signer } from "./signing-key.ts";

export function signReceipt(claims: object, signer: Signer): string {
  return signClaims(JSON.stringify(claims), signer);
}

/** Signed anew, with the text of the effective payload among the claims of the given receipt. */
export function embedText(receipt: string, text: string, signer: Signer): string {
  const [, claims = ""] = receipt.split(".");
  return signClaims(withEmbeddedText(Buffer.from(claims, "base64url").toString(), text), signer);
}

/** The names by which its verifier looks for logs. */
export function logNamesIn(receipt: string): { issuer: string; origin: string | null } {
  const [, claims = ""] = receipt.split(".");
  const { iss, log } = JSON.parse(Buffer.from(claims, "base64url").toString()) as {
    iss: string;
    log: { origin: string } | null;
  };
  return { issuer: iss, origin: log?.origin ?? null };
}

function signClaims(claims: string, signer: Signer): string {
  const signed = `${encode(JSON.stringify(receiptHeader(signer.id)))}.${encode(claims)}`;
  return `${signed}.${signer.sign(Buffer.from(signed)).toString("base64url")}`;
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}
