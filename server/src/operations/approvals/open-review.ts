// Opens a review link, with the code if it needs one. This may write: an overdue approval is expired first, and wrong
// codes are counted.

import { timingSafeEqual } from "node:crypto";
import { type Database, inOneStatement } from "../../database/database.ts";
import { findSecretKey, type Keyring, type SecretKey } from "../../domain/access/keyring.ts";
import { deriveReviewCode, normaliseReviewCode } from "../../domain/access/review-code.ts";
import { reviewCodeTriesMax } from "../../domain/limits.ts";
import * as reviews from "../../storage/approvals/reviews.ts";
import { expireApprovals } from "./expire-approvals.ts";

/** An expected no to a reviewer, with what they need to continue. */
export type ReviewRefusal =
  | { refusal: "not_found" | "link_locked"; message: string }
  | { refusal: "wrong_code"; message: string; triesLeft: number }
  | { refusal: "already_resolved" | "stale_view"; message: string; link: reviews.ReviewLink };

/** Everything the reader of a link may see, never PENDING past its time. The caller must check the code. */
export function findReview(db: Database, tokenDigest: Buffer): Promise<reviews.Review | null> {
  return withExpiry(db, () => reviews.find(db, tokenDigest, { countsOthers: true }));
}

/** The same, but a review with more JSON than this comes as its size only. */
export async function findReviewUpTo(
  db: Database,
  tokenDigest: Buffer,
  bytesMax: number,
): Promise<reviews.Review | reviews.ReviewWeight | null> {
  const found = await reviews.findUpTo(db, tokenDigest, { countsOthers: true, bytesMax });
  if (found === null || "bytes" in found || !found.isOverdue) return found;
  return findReview(db, tokenDigest);
}

export function findReviewLink(
  db: Database,
  tokenDigest: Buffer,
): Promise<reviews.ReviewLink | null> {
  return withExpiry(db, () => reviews.findLink(db, tokenDigest, { countsOthers: true }));
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
