// The text that the reader signs, made of what this page shows. The service makes it of its rows, and compares.

import {
  challengeText,
  decisionStatement,
  executedText,
} from "../../../../server/src/domain/shown/decision-statement.ts";
import { shownText } from "../../../../server/src/domain/shown/shown-text.ts";
import type { Review, ReviewSigning } from "../../../../server/src/wire/review-contract.ts";
import { revisionOf } from "../voting/revision.ts";

type Chosen = {
  verdict: "approve" | "reject";
  /** The exact JSON text; null if there is no edit. */
  edit: string | null;
};

export async function statementOf(
  review: Review,
  signing: ReviewSigning,
  { verdict, edit }: Chosen,
): Promise<string> {
  const { workspace, audience, checkpoint } = signing;
  const executed = verdict === "approve" ? executedText(review, edit) : null;
  return decisionStatement({
    request: review.id,
    workspace,
    verdict,
    revision: revisionOf(review),
    payload: await digestOf(review.payload),
    effective: await digestOf(executed),
    shown: toBase64url(await sha256(shownText(review))),
    audience,
    expires: review.expiresAt,
    checkpoint,
  });
}

export function challengeOf(statement: string): Promise<ArrayBuffer> {
  return sha256(challengeText(statement));
}

export function toBase64url(bytes: ArrayBuffer): string {
  const letters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte));
  return btoa(letters.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

async function digestOf(text: string | null): Promise<string | null> {
  return text === null ? null : toBase64url(await sha256(text));
}

function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
