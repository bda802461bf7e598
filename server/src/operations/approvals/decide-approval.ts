// Decides an approval for the reader of a review, wherever they read it: one conditional update, with its event and
// deliveries. Where several people decide, it records their vote.

import type { Database } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { isValidReviewTicket } from "../../domain/access/review-ticket.ts";
import { type ApprovalState, describeResolution } from "../../domain/approval/approval.ts";
import { type ReviewDecision, realEdit } from "../../domain/approval/review-decision.ts";
import { openStageOf, placeOf, type VotingRecord } from "../../domain/approval/voting-record.ts";
import type {
  DecisionEvidence,
  ShownEvidence,
  SignedDecision,
} from "../../domain/proof/evidence.ts";
import { digestOfShown } from "../../domain/proof/shown-digest.ts";
import { isRefusal } from "../../domain/refusal.ts";
import type * as approvalResolution from "../../storage/approvals/approval-resolution.ts";
import type { ReviewAccess } from "../../storage/approvals/reviews.ts";
import { verifySignedDecision } from "../proof/verify-signed-decision.ts";
import {
  type Ballot,
  type Counted,
  elsewhere,
  inWords,
  type OtherPlace,
  recordVote,
  type Uncounted,
} from "../votings/cast-vote.ts";
import {
  findReviewLink,
  type Review,
  type ReviewLink,
  type ReviewRefusal,
  refuseWithoutCode,
  unknownReview,
} from "./open-review.ts";
import { resolveSurely } from "./resolve-surely.ts";

/**
 * `review` is what `access` just led to. The deciding statement checks everything that may have changed since, and
 * records the evidence.
 */
export type DecideApproval = (
  access: ReviewAccess,
  review: Review,
  decision: ReviewDecision,
  evidence: DecisionEvidence,
) => Promise<{ decided: ReviewLink } | ReviewRefusal>;

export type DecidingParts = {
  db: Database;
  keyring: Keyring;
  /** An object, because a port that the system chooses is known only once the service listens. */
  origin: { readonly publicUrl: string };
};

/** `onDue` is called after the commit, because endpoints are to be told. */
export function makeDecideApproval(parts: DecidingParts, onDue: () => void): DecideApproval {
  const { db, keyring } = parts;
  return async (access, review, decision, known) => {
    const via = access.kind === "link" ? "link" : access.via;
    const refusal =
      (await refuseWithoutCode({ db, keyring }, review, decision.code)) ??
      refuseResolved(review) ??
      refuseKeyOwner(review) ??
      refuseOldView(review, decision, keyring) ??
      refuseUnsigned(review, decision);
    if (refusal !== null) return refusal;
    const signing = await signedBy(parts, review, decision);
    if (isRefusal(signing)) return signing;
    const evidence = evidenceWith(known, { ...signing, digest: decision.digest });
    const how = { via, evidence } as const;
    if (review.voting !== null) {
      const { revision } = review.voting;
      const counted = await vote({ db, keyring }, review, { revision, ...how }, decision);
      if ("refusal" in counted) return refuseVote(db, access, review, counted);
      onDue();
      return { decided: afterVote(review, counted) };
    }

    const { workspaceId, approvalId: id } = review;
    const resolution = resolutionOf(review, decision);
    const at = await resolveSurely(db, { workspaceId, id }, resolution, how);
    if (at === null) return refuseLoser(access, await findReviewLink(db, access));
    onDue();
    // Not read again: the decider learns the outcome even if the link dies a moment later. The time of the decision is
    // the database clock's last answer.
    return { decided: { ...review, state: stateOf(resolution, at), now: at } };
  };
}

type DecidedResolution = approvalResolution.DecidedResolution;

function vote(
  parts: { db: Database; keyring: Keyring },
  { workspaceId, approvalId, reviewer }: Review,
  { revision, via, evidence }: Pick<Ballot, "revision" | "via" | "evidence">,
  { verdict, note, edit, place }: ReviewDecision,
): Promise<Counted | Uncounted> {
  const ballot = { email: reviewer.email, verdict, note, edit, revision, place, via, evidence };
  return recordVote(parts, { workspaceId, approvalId }, ballot);
}

function afterVote(review: Review, { record, at, resolution }: Counted): ReviewLink {
  const state: ApprovalState = resolution === null ? { kind: "PENDING" } : stateOf(resolution, at);
  return { ...review, state, voting: record, now: record.now };
}

async function refuseVote(
  db: Database,
  access: ReviewAccess,
  review: Review,
  uncounted: Uncounted,
): Promise<ReviewRefusal> {
  if (uncounted.refusal === "closed") {
    return refuseLoser(access, await findReviewLink(db, access));
  }
  const { record } = uncounted;
  const link = { ...review, voting: record, now: record.now };
  switch (uncounted.refusal) {
    case "other_revision":
      return staleView(
        link,
        `${record.change?.byEmail ?? "Somebody"} changed the payload meanwhile. Nothing was decided. Read what it is now, then decide again.`,
      );
    case "other_place":
      return staleView(link, `${wherever(uncounted)} Nothing was recorded.`);
    case "needed_later":
      return { refusal: "needed_later", message: neededLater(record, review.reviewer.email), link };
    default:
      return {
        refusal: "vote_refused",
        message: `${whyNot[uncounted.refusal]} Nothing was recorded.`,
        link,
      };
  }
}

const whyNot = {
  not_asked: "You are not asked about this request just now.",
  already_voted: "You have voted on exactly this payload already.",
  seat_taken: "You, or the person in whose place you were asked, have been counted already.",
  is_requester: "The agent acts for you, or with your key, so you can’t decide about its request.",
};

function wherever(place: OtherPlace): string {
  if (place.isByEdit) {
    return `With your changes, your vote would count in ${inWords(place)}, which the page didn’t show. Approve without changes, or reject.`;
  }
  return `${elsewhere(place)} Read the request once more, then decide again.`;
}

/** Somebody whose approval would leave a later stage without enough people. */
function neededLater(record: VotingRecord, email: string): string {
  const place = placeOf(record, email);
  const later = place.kind === "needed_later" ? `in stage ${place.stage}` : "later";
  const { groupName = null } = record.stages[openStageOf(record) - 1] ?? {};
  const others = groupName === null ? "somebody else" : `somebody else of ${groupName}`;
  return `You are needed ${later}; ${others} must approve here. Nothing was recorded.`;
}

function refuseKeyOwner(link: ReviewLink): ReviewRefusal | null {
  if (!link.isKeyOwner) return null;
  return { refusal: "vote_refused", message: `${whyNot.is_requester} Nothing was recorded.`, link };
}

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

export function refuseResolved(link: ReviewLink): ReviewRefusal | null {
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
  if (digestOfShown(review) !== digest) {
    return staleView(
      review,
      "The page did not show the request as it is stored. Nothing was decided. Load the page again and read it before you decide.",
    );
  }
  return null;
}

/** Whatever was posted, and wherever: nobody approves this without a passkey. */
function refuseUnsigned(
  { needsSignature }: Review,
  { verdict, signed }: ReviewDecision,
): ReviewRefusal | null {
  if (!needsSignature || verdict === "reject" || signed !== null) return null;
  return {
    refusal: "signature_required",
    message:
      "This request can only be approved with a passkey. Nothing was decided. Open it on its page or in your inbox, and sign there.",
  };
}

type Signing = { signed: SignedDecision | null };

/** A signature that doesn't hold is refused, even where none is needed: its maker meant to sign. */
async function signedBy(
  { db, origin }: DecidingParts,
  review: Review,
  { signed, ...decision }: ReviewDecision,
): Promise<Signing | ReviewRefusal> {
  if (signed === null) return { signed };
  const { publicUrl } = origin;
  const verified = await verifySignedDecision({ db, publicUrl }, review, { ...decision, signed });
  return isRefusal(verified) ? verified : { signed: verified };
}

function evidenceWith(
  known: DecisionEvidence,
  { signed, digest }: Signing & Pick<ReviewDecision, "digest">,
): ShownEvidence {
  const shownDigest = Buffer.from(digest, "hex");
  if (signed === null) return { ...known, shownDigest };
  return { ...known, shownDigest, signed, amr: [...new Set([...known.amr, "passkey" as const])] };
}

/** Somebody was faster, the time is over, or the reader was just removed from the group. */
export function refuseLoser(access: ReviewAccess, link: ReviewLink | null): ReviewRefusal {
  if (link === null) return unknownReview(access);
  return (
    refuseResolved(link) ??
    staleView(
      link,
      "The request changed in this very moment. Nothing was decided. Read it once more, then decide again.",
    )
  );
}

export function staleView(link: ReviewLink, message: string): ReviewRefusal {
  return { refusal: "stale_view", message, link };
}
