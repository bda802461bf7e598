// Opens a review, with the code if its link needs one. This may write: an overdue approval is expired first, and wrong
// codes are counted.

import { timingSafeEqual } from "node:crypto";
import { type Database, inOneStatement } from "../../database/database.ts";
import { findSecretKey, type Keyring, type SecretKey } from "../../domain/access/keyring.ts";
import { deriveReviewCode, normaliseReviewCode } from "../../domain/access/review-code.ts";
import type { VotingRecord } from "../../domain/approval/voting-record.ts";
import { reviewCodeTriesMax } from "../../domain/limits.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import * as reviews from "../../storage/approvals/reviews.ts";
import * as votings from "../../storage/votings/votings.ts";
import { expireApprovals } from "./expire-approvals.ts";

/** With what several people have voted; null where one decides. */
export type ReviewLink = reviews.ReviewLink & { voting: VotingRecord | null };

/** With what an approver made of the payload, where that isn't the agent's any more. */
export type Review = reviews.Review & {
  voting: VotingRecord | null;
  change: { revision: number; payload: JsonText; byEmail: string; at: Date } | null;
};

/** An expected no to a reviewer, with what they need to continue. */
export type ReviewRefusal =
  | {
      refusal:
        | "not_found"
        | "link_locked"
        | "hand_over_refused"
        | "signature_required"
        | "signature_refused";
      message: string;
    }
  | { refusal: "wrong_code"; message: string; triesLeft: number }
  | {
      refusal: "already_resolved" | "stale_view" | "vote_refused" | "needed_later";
      message: string;
      link: ReviewLink;
    };

/** Everything the reader of a review may see, never PENDING past its time. The caller must check the code. */
export async function findReview(
  db: Database,
  access: reviews.ReviewAccess,
): Promise<Review | null> {
  const found = await withExpiry(db, () => reviews.find(db, access, { countsOthers: true }));
  return found === null ? null : withChange(db, found);
}

/** The same, but a review with more JSON than this comes as its size only. */
export async function findReviewUpTo(
  db: Database,
  access: reviews.ReviewAccess,
  bytesMax: number,
): Promise<Review | reviews.ReviewWeight | null> {
  const found = await reviews.findUpTo(db, access, { countsOthers: true, bytesMax });
  if (found === null || "bytes" in found) return found;
  const review = found.isOverdue ? await findReview(db, access) : await withChange(db, found);
  const bytes = review?.change?.payload.length ?? 0;
  if (review === null || bytes <= bytesMax) return review;
  const { workspaceId, approvalId } = review;
  return { workspaceId, approvalId, bytes };
}

export async function findReviewLink(
  db: Database,
  access: reviews.ReviewAccess,
): Promise<ReviewLink | null> {
  const found = await withExpiry(db, () => reviews.findLink(db, access, { countsOthers: true }));
  return found === null ? null : { ...found, voting: await findVoting(db, found) };
}

async function findVoting(db: Database, link: reviews.ReviewLink): Promise<VotingRecord | null> {
  return link.hasSeats ? votings.find(db, link) : null;
}

/** A revision's text never changes, so it is the one that the votes are about. */
async function withChange(db: Database, review: reviews.Review): Promise<Review> {
  const voting = await findVoting(db, review);
  const { change: made = null, revision = 1 } = voting ?? {};
  const payload = made === null ? null : await votings.findRevision(db, review, revision);
  const change = made === null || payload === null ? null : { ...made, revision, payload };
  return { ...review, voting, change };
}

async function withExpiry<Found extends reviews.ReviewLink>(
  db: Database,
  find: () => Promise<Found | null>,
): Promise<Found | null> {
  const found = await find();
  if (found === null || !found.isOverdue) return found;
  await expireApprovals(db, found.workspaceId, [found.approvalId]);
  return find();
}

/**
 * Notes that the page was shown to its holder. The page's script reports it with its first call. Following the link
 * alone changes nothing, because mail scanners follow links, too.
 */
export async function noteReviewOpened(
  db: Database,
  { workspaceId, reviewer }: reviews.ReviewLink,
): Promise<void> {
  if (reviewer.hasOpened) return;
  await reviews.noteOpened(inOneStatement(db), { workspaceId, reviewerId: reviewer.id });
}

export type CodeCheck = { db: Database; keyring: Keyring };

/**
 * Null when the link needs no code, or the code is right. The statement that counts a try also judges it, under the
 * row's lock: however many guess at once, only so many learn that they were wrong, and then nobody learns anything. A
 * right code isn't counted, so two tabs of its owner never lock each other out.
 */
export async function refuseWithoutCode(
  { db, keyring }: CodeCheck,
  { reviewer, workspaceId }: reviews.ReviewLink,
  code: string | null,
): Promise<ReviewRefusal | null> {
  if (!reviewer.needsCode) return null;
  const key = findSecretKey(keyring, reviewer.secretKeyId);
  if (key === null) return keyGone();
  const typed = normaliseReviewCode(code ?? "");
  if (typed === "") return codeMissing(reviewer.codeTries);
  const tx = inOneStatement(db);
  const where = { workspaceId, reviewerId: reviewer.id };
  if (isRightCode(key, reviewer.tokenNonce, typed)) {
    return (await reviews.lockUnlessLocked(tx, where)) ? null : locked();
  }
  const tries = await reviews.countWrongCode(tx, where);
  return tries === null ? locked() : wrongCode(tries);
}

function isRightCode(key: SecretKey, nonce: Buffer, typed: string): boolean {
  const right = Buffer.from(deriveReviewCode(key, nonce));
  const given = Buffer.from(typed);
  return given.length === right.length && timingSafeEqual(given, right);
}

export function unknownLink(): ReviewRefusal {
  return {
    refusal: "not_found",
    message: "This link does not work any more. Nothing was decided. Look for a newer mail.",
  };
}

/** The same answer whether it never was theirs or is no longer. */
export function unknownReview({ kind }: reviews.ReviewAccess): ReviewRefusal {
  if (kind === "link") return unknownLink();
  return {
    refusal: "not_found",
    message: "You are not asked about this request, or no longer. Nothing was decided.",
  };
}

function codeMissing(tries: number): ReviewRefusal {
  const triesLeft = reviewCodeTriesMax - tries;
  if (triesLeft <= 0) return locked();
  return {
    refusal: "wrong_code",
    message: "Type the code that is printed in the mail.",
    triesLeft,
  };
}

function wrongCode(tries: number): ReviewRefusal {
  const triesLeft = reviewCodeTriesMax - tries;
  const message =
    triesLeft === 0
      ? "This is not the code in the mail, and it was the last try: the link is locked now. Ask for a new request."
      : `This is not the code in the mail. Compare it with the mail that this link came with; ${triesLeft} of ${reviewCodeTriesMax} tries are left.`;
  return { refusal: "wrong_code", message, triesLeft };
}

function locked(): ReviewRefusal {
  return {
    refusal: "link_locked",
    message: `This link is locked after ${reviewCodeTriesMax} wrong codes. Nothing was decided. Ask for a new request.`,
  };
}

/** The operator has removed the key from SECRET_KEY. `doctor` shows that, too. */
function keyGone(): ReviewRefusal {
  return {
    refusal: "link_locked",
    message:
      "The code of this link cannot be checked any more, because the service no longer has the key that made it. Nothing was decided. Ask for a new request.",
  };
}
