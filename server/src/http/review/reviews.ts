// The calls of the review page: parse, open or decide, answer.

import type { Database } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { digestOfReviewToken } from "../../domain/access/review-link.ts";
import { parseReviewCode, parseReviewDecision } from "../../domain/approval/review-decision.ts";
import { largeReviewBytesMin } from "../../domain/limits.ts";
import { isRefusal } from "../../domain/refusal.ts";
import type { DecideApproval } from "../../operations/approvals/decide-approval.ts";
import {
  findReview,
  findReviewLink,
  findReviewUpTo,
  noteReviewOpened,
  type ReviewRefusal,
  refuseWithoutCode,
  unknownLink,
} from "../../operations/approvals/open-review.ts";
import type { Review, ReviewLink } from "../../storage/approvals/reviews.ts";
import * as reviews from "../../storage/approvals/reviews.ts";
import type { Assets } from "../frame/assets.ts";
import type { Answer, Call, Caller } from "../frame/call.ts";
import { compressed } from "../frame/compression.ts";
import type { FairBudget } from "../frame/fair-budget.ts";
import { basePathOf } from "../frame/paths.ts";
import { problemOfRefusal, reviewBusy, reviewProblem, tooManyStatus } from "../frame/problems.ts";
import type { Admission } from "../frame/route.ts";
import { inTurn } from "../frame/turns.ts";
import {
  busyHtml,
  deadLinkHtml,
  faultHtml,
  type PageFrame,
  reviewHtml,
  tooManyHtml,
} from "./review-page.ts";
import {
  representCodeQuestion,
  representReview,
  representStatus,
} from "./review-representations.ts";

export type ReviewCalls = {
  db: Database;
  keyring: Keyring;
  decideApproval: DecideApproval;
  assets: Assets;
  /** An object, because a port that the system chooses is known only once the service listens. */
  origin: { readonly publicUrl: string };
  /** Turns for showing and deciding large reviews, and the most turns one link may have. */
  largeReviews: FairBudget;
  largeReviewsOfLink: FairBudget;
};

/** Runs before a large body is read. */
export async function admit(calls: ReviewCalls, caller: Caller): Promise<Admission> {
  const found = await reviews.weigh(calls.db, tokenDigestOf(caller));
  if (found === null) return { refused: answerOf(calls, unknownLink()) };
  noteFacts(caller, found);
  return { holder: found.workspaceId };
}

/** The page behind a link. It changes nothing, so programs that follow links do no harm. */
export async function show(calls: ReviewCalls, call: Call): Promise<Answer> {
  if (call.isHead) return showHead(calls, call);
  const answer = await withReview(calls, call, async (review) => {
    if (review === null) return showDeadLink(calls, call);
    const data = review.reviewer.needsCode
      ? representCodeQuestion(review)
      : representReview(review, calls.keyring);
    return compressed(call, page(200, await reviewHtml(frameOf(calls), data)));
  });
  return answer ?? showBusy(calls);
}

function showBusy(calls: ReviewCalls): Answer {
  const { status, headers = {} } = reviewBusy();
  const refresh = String(headers["retry-after"] ?? 1);
  return { ...page(status, busyHtml(frameOf(calls))), headers: { ...headers, refresh } };
}

async function showHead(calls: ReviewCalls, call: Call): Promise<Answer> {
  const found = await reviews.weigh(calls.db, tokenDigestOf(call));
  if (found === null) return showDeadLink(calls, call);
  noteFacts(call, found);
  return compressed(call, page(200, ""));
}

export function showDeadLink(calls: ReviewCalls, call: Call): Promise<Answer> {
  return compressed(call, page(404, deadLinkHtml(frameOf(calls))));
}

/** A person who opened a link gets a page of ours, not JSON. */
export function showFault(calls: ReviewCalls, { status, headers = {} }: Answer): Answer {
  const html = status === tooManyStatus ? tooManyHtml : faultHtml;
  return { ...page(status, html(frameOf(calls))), headers };
}

/** Answers, in exchange for the code, what the page of a link without a code has embedded. */
export async function open(calls: ReviewCalls, call: Call): Promise<Answer> {
  const opened = await openLink(calls, call);
  if ("refused" in opened) return opened.refused;
  const answer = await withReview(calls, call, async (review) => {
    if (review === null) return answerOf(calls, unknownLink());
    const body = JSON.stringify(representReview(review, calls.keyring));
    return compressed(call, { status: 200, body });
  });
  return answer ?? reviewBusy();
}

/** The page asks once it is shown and then now and then, so the first call tells that it was opened. */
export async function status(calls: ReviewCalls, call: Call): Promise<Answer> {
  const opened = await openLink(calls, call);
  if ("refused" in opened) return opened.refused;
  await noteReviewOpened(calls.db, opened.link);
  const body = statusText(calls, opened.link);
  const compress = () => compressed(call, { status: 200, body });
  if (body.length <= largeReviewBytesMin) return compress();
  const answer = await inLargeTurn(calls, call, compress);
  return answer ?? reviewBusy();
}

export async function decide(calls: ReviewCalls, call: Call): Promise<Answer> {
  const answer = await withReview(calls, call, async (review) => {
    // Checked before the body is parsed: that may be megabytes of work, which only a live link may cause.
    if (review === null) return answerOf(calls, unknownLink());
    const decision = parseReviewDecision(call.body);
    if (isRefusal(decision)) return problemOfRefusal(decision);
    const result = await calls.decideApproval(tokenDigestOf(call), review, decision);
    if ("refusal" in result) return compressed(call, answerOf(calls, result));
    return compressed(call, { status: 200, body: statusText(calls, result.decided) });
  });
  return answer ?? reviewBusy();
}

/** Small reviews never wait; large ones take turns. Null when too many others wait. */
async function withReview(
  calls: ReviewCalls,
  call: Call,
  work: (review: Review | null) => Promise<Answer>,
): Promise<Answer | null> {
  const tokenDigest = tokenDigestOf(call);
  const found = await findReviewUpTo(calls.db, tokenDigest, largeReviewBytesMin);
  if (found === null) return work(null);
  noteFacts(call, found);
  const isSmall = !("bytes" in found) && call.body.length <= largeReviewBytesMin;
  if (isSmall) return work(found);
  return inLargeTurn(calls, call, async () => work(await findReview(calls.db, tokenDigest)));
}

/** One at a time, a turn for each workspace, and no link takes all turns of its workspace. */
async function inLargeTurn(
  { largeReviews, largeReviewsOfLink }: ReviewCalls,
  call: Call,
  work: () => Promise<Answer>,
): Promise<Answer | null> {
  const link = largeReviewsOfLink.take(tokenDigestOf(call).toString("latin1"), 1);
  if (link === null) return null;
  const turn = { holder: call.facts.workspaceId ?? "", signal: call.signal };
  try {
    return await inTurn(largeReviews, turn, work);
  } finally {
    link.release();
  }
}

type Opened = { link: ReviewLink } | { refused: Answer };

async function openLink(calls: ReviewCalls, call: Call): Promise<Opened> {
  const link = await findReviewLink(calls.db, tokenDigestOf(call));
  if (link === null) return { refused: answerOf(calls, unknownLink()) };
  noteFacts(call, link);
  const typed = parseReviewCode(call.body);
  if (isRefusal(typed)) return { refused: problemOfRefusal(typed) };
  const refusal = await refuseWithoutCode(calls, link, typed.code);
  return refusal === null ? { link } : { refused: answerOf(calls, refusal) };
}

function answerOf({ keyring }: ReviewCalls, refused: ReviewRefusal): Answer {
  switch (refused.refusal) {
    case "not_found":
    case "link_locked":
      return reviewProblem(refused.refusal, refused.message);
    case "wrong_code":
      return reviewProblem(refused.refusal, refused.message, { triesLeft: refused.triesLeft });
    case "already_resolved":
    case "stale_view":
      return reviewProblem(refused.refusal, refused.message, {
        status: representStatus(refused.link, keyring),
      });
    default:
      return refused satisfies never;
  }
}

function statusText({ keyring }: ReviewCalls, link: ReviewLink): string {
  return JSON.stringify(representStatus(link, keyring));
}

/** Text that is no token is as unknown as any other. */
function tokenDigestOf({ params }: Caller): Buffer {
  return digestOfReviewToken(params.token ?? "");
}

function frameOf({ assets, origin }: ReviewCalls): PageFrame {
  return { files: assets.review, basePath: basePathOf(origin.publicUrl) };
}

function page(status: number, body: string | Buffer): Answer {
  return { status, type: "text/html; charset=utf-8", body };
}

function noteFacts(
  { facts }: Caller,
  { workspaceId, approvalId }: Pick<ReviewLink, "workspaceId" | "approvalId">,
): void {
  facts.workspaceId = workspaceId;
  facts.approvalId = approvalId;
}
