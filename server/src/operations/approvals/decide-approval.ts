// Decides an approval for the reader of a review link: one conditional update, with its event and deliveries.

import { hash } from "node:crypto";
import { type Database, inOneStatement } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { isValidReviewTicket } from "../../domain/access/review-ticket.ts";
import { type ApprovalState, describeResolution } from "../../domain/approval/approval.ts";
import { type ReviewDecision, realEdit } from "../../domain/approval/review-decision.ts";
import { shownText } from "../../domain/shown/shown-text.ts";
import * as approvalResolution from "../../storage/approvals/approval-resolution.ts";
import type { Review, ReviewLink } from "../../storage/approvals/reviews.ts";
import {
  findReviewLink,
  type ReviewRefusal,
  refuseWithoutCode,
  unknownLink,
} from "./open-review.ts";

/** `review` is what the link just led to. The deciding statement checks everything that may have changed since. */
export type DecideApproval = (
  tokenDigest: Buffer,
  review: Review,
  decision: ReviewDecision,
) => Promise<{ decided: ReviewLink } | ReviewRefusal>;

/** `onDue` is called after the commit, because endpoints are to be told. */
export function makeDecideApproval(
  db: Database,
  keyring: Keyring,
  onDue: () => void,
): DecideApproval {
  return async (tokenDigest, review, decision) => {
    const refusal =
      (await refuseWithoutCode({ db, keyring }, review, decision.code)) ??
      refuseResolved(review) ??
      refuseOldView(review, decision, keyring);
    if (refusal !== null) return refusal;

    const { workspaceId, approvalId: id } = review;
    const resolution = resolutionOf(review, decision);
    const at = await approvalResolution.resolve(
      inOneStatement(db),
      { workspaceId, id },
      resolution,
    );
    if (at === null) return refuseLoser(await findReviewLink(db, tokenDigest));
    onDue();
    // Not read again: the decider learns the outcome even if the link dies a moment later. The time of the decision is
    // the database clock's last answer.
    return { decided: { ...review, state: stateOf(resolution, at), now: at } };
  };
}

type DecidedResolution = Exclude<approvalResolution.Resolution, { status: "CANCELLED" }>;

function resolutionOf(
  { reviewer, payload }: Review,
  { verdict, note, edit }: ReviewDecision,
): DecidedResolution {
  const byEmail = reviewer.email;
  return verdict === "reject"
    ? { status: "REJECTED", byEmail, note }
    : { status: "APPROVED", byEmail, note, edit: realEdit(payload, edit) };
}

function stateOf(resolution: DecidedResolution, at: Date): ApprovalState {
  const { byEmail, note } = resolution;
  return resolution.status === "REJECTED"
    ? { kind: "REJECTED", at, byEmail, note }
    : { kind: "APPROVED", at, byEmail, note, edit: resolution.edit };
}

function refuseResolved(link: ReviewLink): ReviewRefusal | null {
  if (link.state.kind === "PENDING") return null;
  const message = `This request ${describeResolution(link.state)}. Nothing can be decided any more, and what you sent changed nothing.`;
  return { refusal: "already_resolved", message, link };
}

/** A decision counts only for the content that its reader was really shown, on a page of ours. */
function refuseOldView(
  review: Review,
  { ticket, digest }: ReviewDecision,
  keyring: Keyring,
): ReviewRefusal | null {
  const { reviewer, now } = review;
  if (!isValidReviewTicket(keyring, ticket, { reviewerId: reviewer.id, now })) {
    return staleView(
      review,
      "This page was opened too long ago, or for another link. Nothing was decided. Read the request once more, then decide again.",
    );
  }
  if (hash("sha256", shownText({ ...review, id: review.approvalId }), "hex") !== digest) {
    return staleView(
      review,
      "The page did not show the request as it is stored. Nothing was decided. Load the page again and read it before you decide.",
    );
  }
  return null;
}

/** Somebody was faster, the time is over, or the reader was just removed from the group. */
function refuseLoser(link: ReviewLink | null): ReviewRefusal {
  if (link === null) return unknownLink();
  return (
    refuseResolved(link) ??
    staleView(
      link,
      "The request changed in this very moment. Nothing was decided. Read it once more, then decide again.",
    )
  );
}

function staleView(link: ReviewLink, message: string): ReviewRefusal {
  return { refusal: "stale_view", message, link };
}
