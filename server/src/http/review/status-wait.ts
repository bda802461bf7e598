// Lets an open page wait for a change: it names the tag of what it shows, and is answered when that is no longer so.

import { hash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { statusWaitMs } from "../../domain/channels/inbox-limits.ts";
import { findReviewLink, type ReviewLink } from "../../operations/approvals/open-review.ts";
import type { ResolutionWatch } from "../../storage/approvals/resolution-watch.ts";
import type { ReviewAccess } from "../../storage/approvals/reviews.ts";
import type { ReviewStatus } from "../../wire/review-contract.ts";
import type { FairBudget } from "../frame/fair-budget.ts";

export type WaitingCalls = {
  db: Database;
  resolutions: ResolutionWatch;
  /** Pages that wait, by workspace. One more is answered at once. */
  statusWaits: FairBudget;
};

/** The same as long as nobody decided, voted, changed the payload or passed a vote on. */
export function tagOf({ outcome, expiresAt, voting }: ReviewStatus): string {
  return hash("sha256", JSON.stringify({ outcome, expiresAt, voting }), "base64url").slice(0, 22);
}

export type StatusWish = {
  access: ReviewAccess;
  link: ReviewLink;
  /** Whether it is what the page has. */
  isKnown: (link: ReviewLink) => boolean;
  signal: AbortSignal;
};

/** How things stand once they have changed, or after some time. Null when the review is gone meanwhile. */
export async function awaitChange(
  { db, resolutions, statusWaits }: WaitingCalls,
  { access, link, isKnown, signal }: StatusWish,
): Promise<ReviewLink | null> {
  const isWaiting = (now: ReviewLink) => now.state.kind === "PENDING" && isKnown(now);
  if (!isWaiting(link)) return link;
  const place = statusWaits.take(link.workspaceId, 1);
  if (place === null) return link;
  const waiting = resolutions.register(link.approvalId);
  const endsAt = performance.now() + statusWaitMs;
  try {
    for (;;) {
      const now = await findReviewLink(db, access);
      const remainingMs = endsAt - performance.now();
      if (now === null || !isWaiting(now) || remainingMs <= 0) return now;
      // The end of the request's own time wakes the page too, and the next read then expires it.
      const sleepMs = Math.min(remainingMs, now.expiresAt.getTime() - now.now.getTime() + 1);
      const end = await waiting.sleep(now.workspaceId, sleepMs, signal);
      if (end === "given_up") return now;
    }
  } finally {
    waiting.close();
    place.release();
  }
}
