// Why a signed decision doesn't count, each reason with its own sentence.

import { decisionStatement, type Statement } from "../shown/decision-statement.ts";

const sentences = {
  request: "The signature is for another request.",
  workspace: "The signature is for a request of another workspace.",
  verdict: "The signature is for the other verdict.",
  revision: "The signature is for an earlier or later text of the payload.",
  payload: "The signature is for another payload.",
  effective: "The signature is for another edit of the payload than the one that was sent.",
  shown: "The signature is for a page that showed something else.",
  audience: "The signature is for other receivers of the receipt.",
  expires: "The signature is for another end of the request’s time.",
  checkpoint:
    "The signature names a state of the log that is more than a day old, or unknown here.",
  spelling: "The signed text isn’t written as this page writes it.",
  challenge: "The passkey signed another text than the one that was sent.",
  site: "The passkey signed on another site.",
  not_verified: "The passkey didn’t check who used it: no fingerprint, face or device code.",
  unknown_passkey: "This passkey isn’t known here. Perhaps it was removed.",
  other_person: "This passkey belongs to somebody else.",
  wrong_signature: "The signature is wrong.",
  used_before:
    "This signature was used before, and decides nothing a second time. Load the page again: it says whether your decision is recorded.",
} as const;

export type SignatureFlaw = keyof typeof sentences;

export function sayFlaw(flaw: SignatureFlaw): string {
  // The same decision, sent twice, may have counted the first time.
  if (flaw === "used_before") return sentences.used_before;
  return `${sentences[flaw]} Nothing was decided. Load the page again, and sign once more.`;
}

/** The first part of a sent statement that isn't as the rows say; null when it is the same text, to the byte. */
export function differenceIn(sent: string, expected: Statement): SignatureFlaw | null {
  if (sent === decisionStatement(expected)) return null;
  const said = partsOf(sent);
  const names = Object.keys(expected) as (keyof Statement)[];
  const differing = names.find(
    (name) => JSON.stringify(said?.[name]) !== JSON.stringify(expected[name]),
  );
  return differing ?? "spelling";
}

/** The checkpoint that a statement names: text, or null for none. Anything else isn't one. */
export function checkpointIn(sent: string): string | null | undefined {
  const checkpoint = partsOf(sent)?.checkpoint;
  // PostgreSQL takes no U+0000, which no checkpoint has.
  const isText = typeof checkpoint === "string" && !checkpoint.includes("\0");
  return isText || checkpoint === null ? checkpoint : undefined;
}

function partsOf(text: string): { [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? (value as { [name: string]: unknown }) : null;
  } catch {
    return null;
  }
}

type ClientData = { challenge?: unknown; origin?: unknown; crossOrigin?: unknown; type?: unknown };

export type Assertion = { authenticatorData: Uint8Array; clientData: Uint8Array };

export type ExpectedAssertion = { challenge: string; origin: string; rpIdHash: Uint8Array };

const userVerified = 0x04;

/**
 * Which part of an assertion isn't as it must be, by its plain fields. Null says nothing about the signature, which the
 * library checks.
 */
export function flawOfAssertion(
  { authenticatorData, clientData }: Assertion,
  { challenge, origin, rpIdHash }: ExpectedAssertion,
): SignatureFlaw | null {
  const said = partsOf(new TextDecoder().decode(clientData)) as ClientData | null;
  if (said?.challenge !== challenge || said.type !== "webauthn.get") return "challenge";
  // Our pages are never framed.
  if (said.origin !== origin || (said.crossOrigin ?? false) !== false) return "site";
  if (Buffer.compare(authenticatorData.subarray(0, 32), rpIdHash) !== 0) return "site";
  const flags = authenticatorData[32] ?? 0;
  return (flags & userVerified) === 0 ? "not_verified" : null;
}
