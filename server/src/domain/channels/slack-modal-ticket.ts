// Slack hands a modal's `private_metadata` back with its submission. Ours says what was shown to whom and when, and is
// signed: a modal counts for the Slack account that opened it, for one verdict about one text, and for an hour.

import { createHmac, timingSafeEqual } from "node:crypto";
import type { Keyring, SecretKey } from "../access/keyring.ts";
import { slackMetadataCharactersMax } from "./slack-blocks.ts";
import type { Verdict } from "./slack-voting-words.ts";

export type ModalTicket = {
  messageId: string;
  reviewerId: string;
  verdict: Verdict;
  revision: number;
  /** Of everything that the modal showed. */
  digest: string;
  /** The review page's own ticket: proof that we showed it, for the operation that decides. */
  reviewTicket: string;
  /** Where the vote would count, as the modal showed it. */
  place: string | null;
};

/** Who opened the modal, as Slack proves it. */
export type ModalOwner = { teamId: string; slackUserId: string };

export const modalTicketMinutes = 60;

export function issueModalTicket(
  keyring: Keyring,
  ticket: ModalTicket,
  { owner, now }: { owner: ModalOwner; now: Date },
): string {
  const content = Buffer.from(JSON.stringify([ticket, now.getTime()])).toString("base64url");
  return `${content}.${signatureOf(keyring.current, content, owner)}`;
}

/** Null for an altered one and for another's modal, which are the same: the signature doesn't fit. */
export function readModalTicket(
  keyring: Keyring,
  text: string,
  owner: ModalOwner,
): (ModalTicket & { issuedAt: Date }) | null {
  if (text.length > slackMetadataCharactersMax) return null;
  const [, content = "", signature = ""] = /^([\w-]+)\.([\w-]{43})$/.exec(text) ?? [];
  const given = Buffer.from(signature);
  const isOurs =
    signature !== "" &&
    keyring.all.some((key) =>
      timingSafeEqual(given, Buffer.from(signatureOf(key, content, owner))),
    );
  if (!isOurs) return null;
  // We wrote it, so it has this form.
  const [ticket, issuedAtMs] = JSON.parse(Buffer.from(content, "base64url").toString()) as [
    ModalTicket,
    number,
  ];
  return { ...ticket, issuedAt: new Date(issuedAtMs) };
}

/** What somebody read so long ago isn't what they decide now. */
export function isOldModal({ issuedAt }: { issuedAt: Date }, now: Date): boolean {
  return now.getTime() - issuedAt.getTime() > modalTicketMinutes * 60_000;
}

function signatureOf(key: SecretKey, content: string, { teamId, slackUserId }: ModalOwner): string {
  return createHmac("sha256", key.keyObject)
    .update(`countersign slack modal\0${teamId}\0${slackUserId}\0${content}`)
    .digest("base64url");
}
