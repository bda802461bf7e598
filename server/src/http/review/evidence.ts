// The evidence that a decision by a page brings along: facts of the call, of the session, and what the page says of itself.

import type { Keyring } from "../../domain/access/keyring.ts";
import { issueTimeOf } from "../../domain/access/review-ticket.ts";
import type { PageDecision } from "../../domain/approval/review-decision.ts";
import { type Amr, type DecisionEvidence, userAgentOf } from "../../domain/proof/evidence.ts";
import type { Review } from "../../operations/approvals/open-review.ts";
import { type Call, repeated } from "../frame/call.ts";

export type DecidedOnPage = {
  review: Review;
  decision: PageDecision;
  /** How the session was opened; null for the link of a mail. */
  session: readonly Amr[] | null;
};

export function evidenceOf(
  keyring: Keyring,
  { address, header }: Pick<Call, "address" | "header">,
  { review: { reviewer }, decision, session }: DecidedOnPage,
): DecisionEvidence {
  const { opened, ticket, page } = decision;
  const userAgent = header("user-agent");
  return {
    // A page that doesn't say when it was opened was open at the time of its newest ticket.
    openedAt:
      issueTimeOf(keyring, opened ?? "", reviewer.id) ?? issueTimeOf(keyring, ticket, reviewer.id),
    amr: session ?? (reviewer.needsCode ? ["mail", "code"] : ["mail"]),
    address,
    userAgent: userAgentOf(userAgent === repeated ? null : userAgent),
    page,
    signed: null,
  };
}
