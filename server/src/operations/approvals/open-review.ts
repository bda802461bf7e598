// Opens what a review link leads to, with the code where one is asked for. A write at times: whatever has run out is
// expired first, and wrong codes are counted.

import { timingSafeEqual } from "node:crypto";
import { type Database, inOneStatement } from "../../database/database.ts";
import { findSecretKey, type Keyring, type SecretKey } from "../../domain/access/keyring.ts";
import { deriveReviewCode, normaliseReviewCode } from "../../domain/access/review-code.ts";
import { reviewCodeTriesMax } from "../../domain/limits.ts";
import * as reviews from "../../storage/approvals/reviews.ts";
import { expireApprovals } from "./expire-approvals.ts";

/** An expected no to a reviewer, with what they need to go on. */
export type ReviewRefusal =
  | { refusal: "not_found" | "link_locked"; message: string }
  | { refusal: "wrong_code"; message: string; triesLeft: number }
  | { refusal: "already_resolved" | "stale_view"; message: string; link: reviews.ReviewLink };

/** All that the reader of a link may see, never PENDING past its time. Asks for no code: that is the caller's to do. */
export function findReview(db: Database, tokenDigest: Buffer): Promise<reviews.Review | null> {
  return withExpiry(db, () => reviews.find(db, tokenDigest, { countsOthers: true }));
}

/** The same, but of a review with more JSON than this only what it weighs. */
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
 * Notes that the page was shown to its holder. Its script says so by its first call: following the link alone changes
 * nothing, for whoever scans mails follows links too.
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
 * Null when the link needs no code, or the code is right. The verdict is given in the statement that counts it, under
 * the row's lock: however many guess at once, only so many are ever told that they are wrong, and then nobody is told
 * anything any more. A right code costs nothing, so that two tabs of its owner never lock each other out.
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

/** Its operator has removed the key from SECRET_KEY, which shows in `doctor` as well. */
function keyGone(): ReviewRefusal {
  return {
    refusal: "link_locked",
    message:
      "The code of this link cannot be checked any more, because the service no longer has the key that made it. Nothing was decided. Ask for a new request.",
  };
}
