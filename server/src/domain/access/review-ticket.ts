// Tickets: a review page gets one with its data and sends it back with a decision, as proof that we made the page for
// this link, not long ago. A link alone, replayed by a program that follows links, decides nothing.

import { createHmac, timingSafeEqual } from "node:crypto";
import { reviewTicketHours } from "../limits.ts";
import type { Keyring, SecretKey } from "./keyring.ts";

const ticketPattern = /^([0-9]{1,15})\.([A-Za-z0-9_-]{43})$/;
const validMs = reviewTicketHours * 3_600_000;

export function issueReviewTicket(keyring: Keyring, reviewerId: string, now: Date): string {
  const issuedAtMs = String(now.getTime());
  return `${issuedAtMs}.${signatureOf(keyring.current, reviewerId, issuedAtMs)}`;
}

export function isValidReviewTicket(
  keyring: Keyring,
  ticket: string,
  { reviewerId, now }: { reviewerId: string; now: Date },
): boolean {
  const issuedAt = issueTimeOf(keyring, ticket, reviewerId);
  return issuedAt !== null && now.getTime() - issuedAt.getTime() <= validMs;
}

/** When a ticket for this reviewer was issued, however long ago; null for one that is not ours or another's. */
export function issueTimeOf(keyring: Keyring, ticket: string, reviewerId: string): Date | null {
  const [, issuedAtMs = "", signature = ""] = ticketPattern.exec(ticket) ?? [];
  if (signature === "") return null;
  const given = Buffer.from(signature);
  const isOurs = keyring.all.some((key) =>
    timingSafeEqual(given, Buffer.from(signatureOf(key, reviewerId, issuedAtMs))),
  );
  return isOurs ? new Date(Number(issuedAtMs)) : null;
}

function signatureOf(key: SecretKey, reviewerId: string, issuedAtMs: string): string {
  return createHmac("sha256", key.keyObject)
    .update(`countersign review ticket\0${reviewerId}\0${issuedAtMs}`)
    .digest("base64url");
}
