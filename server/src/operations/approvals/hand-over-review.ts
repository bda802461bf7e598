// Passes the vote of a review's reader to a colleague, and tells them to whom they may pass it.

import type { Database } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { isValidReviewTicket } from "../../domain/access/review-ticket.ts";
import type { HandOverWish } from "../../domain/approval/review-decision.ts";
import type { ReviewAccess } from "../../storage/approvals/reviews.ts";
import * as colleagues from "../../storage/votings/colleagues.ts";
import { handOver, type OtherSeat } from "../votings/hand-over.ts";
import { refuseLoser, refuseResolved, staleView } from "./decide-approval.ts";
import { findReviewLink, type ReviewLink, type ReviewRefusal } from "./open-review.ts";

export type HandOverParts = { db: Database; keyring: Keyring; onDue: () => void };

/** `link` was opened with its code, if it needs one. */
export async function handOverReview(
  { db, keyring, onDue }: HandOverParts,
  access: ReviewAccess,
  link: ReviewLink,
  { ticket, to: toEmail, place }: HandOverWish,
): Promise<{ passed: ReviewLink } | ReviewRefusal> {
  const { workspaceId, approvalId, reviewer, now } = link;
  const resolved = refuseResolved(link);
  if (resolved !== null) return resolved;
  if (!isValidReviewTicket(keyring, ticket, { reviewerId: reviewer.id, now })) {
    return staleView(
      link,
      "This page was opened too long ago, or for another link. Nothing was handed over. Load it again.",
    );
  }
  const wish = { fromEmail: reviewer.email, toEmail, place };
  const result = await handOver({ db, keyring }, { workspaceId, approvalId }, wish);
  if (!("refusal" in result)) {
    onDue();
    return { passed: { ...link, hasSeats: true, voting: result.record, now: result.record.now } };
  }
  if (result.refusal === "closed") return refuseLoser(access, await findReviewLink(db, access));
  if (result.refusal === "other_place") return refuseOtherPlace(link, result, place);
  return { refusal: "hand_over_refused", message: result.message };
}

/** Somebody voted, or an absence began or ended, while the page was open. A page from before an update says no place. */
function refuseOtherPlace(
  link: ReviewLink,
  { record, stage, forEmail }: OtherSeat,
  place: string | null,
): ReviewRefusal {
  const now = { ...link, hasSeats: true, voting: record, now: record.now };
  const where = `in stage ${stage}${forEmail === null ? "" : ` for ${forEmail}`}`;
  const message =
    place === null
      ? `The page didn’t show what you would hand over: your vote ${where}. Nothing was handed over. Load the page again and read it, then hand over.`
      : `Your vote would now count ${where}, which the page didn’t show. Nothing was handed over. Read the request once more, then hand over.`;
  return staleView(now, message);
}

export type Colleagues = { handOver: "off" | "group" | "workspace"; emails: string[] };

export async function listColleagues(
  db: Database,
  { workspaceId, reviewer }: ReviewLink,
): Promise<Colleagues> {
  const { handOver: rule } = await colleagues.findRule(db, workspaceId);
  const who = { email: reviewer.email, withinGroup: rule === "group" };
  return {
    handOver: rule,
    emails: rule === "off" ? [] : await colleagues.listFor(db, workspaceId, who),
  };
}
