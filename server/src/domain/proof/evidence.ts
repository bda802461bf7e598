// The evidence of a decision: how its maker proved who they are, from where, by which page and since when, and what they
// signed. It is recorded with the decision and never changes.

import { userAgentCharactersMax } from "../limits.ts";

/**
 * The ways in: the link of a mail, the code printed in that mail, a session, a passkey (of the session, or of the decision
 * itself), an account of Slack; and the operator's own command, for trials.
 */
export type Amr = "mail" | "code" | "session" | "passkey" | "slack" | "operator";

/** A decision that a person signed with their passkey: the exact text, and what the authenticator made of it. */
export type SignedDecision = {
  credentialId: string;
  statement: string;
  authenticatorData: Buffer;
  clientData: Buffer;
  signature: Buffer;
};

/** The evidence as a decision brings it along. How long the page was open is known only once it is decided. */
export type DecisionEvidence = {
  /** When the page that decides was opened. */
  openedAt: Date | null;
  amr: readonly Amr[];
  /** Where the call came from, as far as we can tell. */
  address: string | null;
  userAgent: string | null;
  /** The hash in the name of the page's program, as the page says it. */
  page: string | null;
  signed: SignedDecision | null;
};

/** With the SHA-256 of the text that stands for everything shown. */
export type ShownEvidence = DecisionEvidence & { shownDigest: Buffer };

/** The evidence as it is kept, one for each vote. Somebody who decides alone votes on revision 1. */
export type Evidence = DecisionEvidence & {
  revision: number;
  /** The voter's person, by which votes name them. */
  voter: string;
  email: string;
  /** On whose behalf a delegate voted. */
  forEmail: string | null;
  verdict: "approve" | "reject";
  at: Date;
  shown: { version: number; digest: Buffer };
  openMs: number | null;
};

/** A decision that no page, browser or person's proof stands behind. */
export const operatorEvidence: DecisionEvidence = {
  openedAt: null,
  amr: ["operator"],
  address: null,
  userAgent: null,
  page: null,
  signed: null,
};

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A browser's name for itself is anybody's text: only what can be read is kept, and not more than browsers need. */
export function userAgentOf(header: string | null): string | null {
  // Cut first, because it may be large, and once more between characters.
  const start = header?.slice(0, 4 * userAgentCharactersMax).replaceAll(unprintable, "") ?? "";
  const text = [...start].slice(0, userAgentCharactersMax).join("").trim();
  return text === "" ? null : text;
}
