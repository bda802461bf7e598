// The compact form of a JSON Web Signature (RFC 7515), and nothing of it that a receipt doesn't use: one algorithm, one
// type, and no header that could name another key or change what is signed.

import { type Bytes, fromBase64Url, textOf, utf8 } from "./bytes.ts";
import type { ExactObject } from "./exact-json.ts";
import { readObject, ShapeError, textAt } from "./members.ts";
import { ReceiptError } from "./receipt-flaw.ts";

export type Jws = { kid: string; claims: Bytes; signed: Bytes; signature: Bytes };

/** Larger ones are refused unread. An embedded payload has at most 1 MiB. */
const charactersMax = 4 * 1024 * 1024;
const names = new Set(["alg", "typ", "kid"]);

export function readJws(text: string, type: string): Jws {
  const parts = text.length > charactersMax ? [] : text.split(".");
  const [header, claims, signature] = parts.map(fromBase64Url);
  if (parts.length !== 3 || !header || !claims || !signature) {
    throw new ReceiptError("malformed", "a receipt is three parts in base64url, with dots between");
  }
  const kid = readHeader(readObject(textOf(header), "the header"), type);
  return { kid, claims, signature, signed: utf8(text.slice(0, text.lastIndexOf("."))) };
}

function readHeader(header: ExactObject, type: string): string {
  if (header.get("typ") !== type) {
    throw new ReceiptError("wrong_type", `this is signed, but it is no ${type}`);
  }
  if (header.get("alg") !== "Ed25519") {
    throw new ReceiptError("wrong_algorithm", "receipts are signed with Ed25519 and nothing else");
  }
  const strange = [...header.keys()].find((name) => !names.has(name));
  if (strange !== undefined) throw new ShapeError(`a receipt's header has no "${strange}"`);
  return textAt(header, "kid");
}
