// A review as its page gets it: the fields of the contract between the two, held to it by the compiler.

import type { Keyring } from "../../domain/access/keyring.ts";
import { issueReviewTicket } from "../../domain/access/review-ticket.ts";
import { editOf } from "../../domain/approval/approval.ts";
import { reviewCodeTriesMax } from "../../domain/limits.ts";
import { shownOf } from "../../domain/shown/submitted-fields.ts";
import type { Review, ReviewLink } from "../../operations/approvals/open-review.ts";
import type {
  ReviewChange,
  ReviewOutcome,
  ReviewPage,
  ReviewSigning,
  ReviewStatus,
} from "../../wire/review-contract.ts";
import { representVoting } from "./voting-representations.ts";

export function representReview(
  review: Review,
  keyring: Keyring,
  signing: ReviewSigning | null,
): ReviewPage {
  return {
    kind: "review",
    review: {
      id: review.approvalId,
      ...shownOf(review),
      workspaceName: review.workspaceName,
      reviewerEmail: review.reviewer.email,
      groupName: review.groupName,
      createdAt: review.createdAt.toISOString(),
      ...representStatus(review, keyring),
      ...representChange(review),
      ...(signing === null ? {} : { signing }),
    },
  };
}

/** A link that still needs its code shows nothing of the request. */
export function representCodeQuestion({ workspaceName, reviewer }: ReviewLink): ReviewPage {
  const triesLeft = Math.max(0, reviewCodeTriesMax - reviewer.codeTries);
  return { kind: "code", workspaceName, triesLeft };
}

export function representStatus(link: ReviewLink, keyring: Keyring): ReviewStatus {
  return {
    now: link.now.toISOString(),
    expiresAt: link.expiresAt.toISOString(),
    outcome: outcomeOf(link),
    othersWaiting: link.othersWaiting,
    ticket: issueReviewTicket(keyring, link.reviewer.id, link.now),
    ...(link.voting === null ? {} : { voting: representVoting(link.voting, link.reviewer.email) }),
  };
}

function representChange({ change }: Review): { change?: ReviewChange } {
  return change === null ? {} : { change: { ...change, at: change.at.toISOString() } };
}

function outcomeOf({ state, reviewer }: ReviewLink): ReviewOutcome | null {
  if (state.kind === "PENDING") return null;
  const decision = state.kind === "APPROVED" || state.kind === "REJECTED" ? state : null;
  return {
    status: state.kind,
    at: state.at.toISOString(),
    byEmail: decision?.byEmail ?? null,
    isYours: decision !== null && isSameMailbox(decision.byEmail, reviewer.email),
    note: decision?.note ?? null,
    edit: editOf(state),
  };
}

function isSameMailbox(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
