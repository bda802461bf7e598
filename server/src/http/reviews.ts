// The calls of the review page: parse, open or decide, answer.

import type { Keyring } from "../domain/keyring.ts";
import { isRefusal } from "../domain/refusal.ts";
import { parseReviewCode, parseReviewDecision } from "../domain/review-decision.ts";
import { digestOfReviewToken } from "../domain/review-link.ts";
import type { DecideApproval } from "../operations/decide-approval.ts";
import {
  findReview,
  findReviewLink,
  noteReviewOpened,
  type ReviewRefusal,
  refuseWithoutCode,
  unknownLink,
} from "../operations/open-review.ts";
import type { Database } from "../storage/database.ts";
import type { ReviewLink } from "../storage/reviews.ts";
import type { Assets } from "./assets.ts";
import { basePathOf } from "./base-path.ts";
import type { Answer, Call } from "./call.ts";
import { compressed } from "./compression.ts";
import { problemOfRefusal, reviewProblem } from "./problems.ts";
import { deadLinkHtml, faultHtml, type PageFrame, reviewHtml } from "./review-page.ts";
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
  /** Asked at each call: on a port that the system chose, it is known only once the service listens. */
  origin: { readonly publicUrl: string };
};

/** The page behind a link. Changes nothing: whoever follows links, follows them without consequence. */
export async function show(calls: ReviewCalls, call: Call): Promise<Answer> {
  const { db, keyring } = calls;
  const review = await findReview(db, tokenDigestOf(call));
  if (review === null) return showDeadLink(calls, call);
  noteFacts(call, review);
  const data = review.reviewer.needsCode
    ? representCodeQuestion(review)
    : representReview(review, keyring);
  return compressed(call, page(200, reviewHtml(frameOf(calls), data)));
}

export function showDeadLink(calls: ReviewCalls, call: Call): Promise<Answer> {
  return compressed(call, page(404, deadLinkHtml(frameOf(calls))));
}

/** A person who opened a link is told in a page of ours, not in JSON. */
export function showFault(calls: ReviewCalls, { status, headers = {} }: Answer): Answer {
  return { ...page(status, faultHtml(frameOf(calls))), headers };
}

/** What is embedded in the page of a link that needs no code, for the code. */
export async function open(calls: ReviewCalls, call: Call): Promise<Answer> {
  const { db, keyring } = calls;
  const opened = await openLink(calls, call);
  if ("refused" in opened) return opened.refused;
  const review = await findReview(db, tokenDigestOf(call));
  if (review === null) return answerOf(calls, unknownLink());
  return compressed(call, { status: 200, body: JSON.stringify(representReview(review, keyring)) });
}

/** The page asks as soon as it is shown and then now and then, so the first time tells that it was opened. */
export async function status(calls: ReviewCalls, call: Call): Promise<Answer> {
  const opened = await openLink(calls, call);
  if ("refused" in opened) return opened.refused;
  await noteReviewOpened(calls.db, opened.link);
  return compressed(call, { status: 200, body: statusText(calls, opened.link) });
}

export async function decide(calls: ReviewCalls, call: Call): Promise<Answer> {
  const tokenDigest = tokenDigestOf(call);
  // Asked before the body is taken apart: that may be megabytes of work, which only a live link may cause.
  const review = await findReview(calls.db, tokenDigest);
  if (review === null) return answerOf(calls, unknownLink());
  noteFacts(call, review);
  const decision = parseReviewDecision(call.body);
  if (isRefusal(decision)) return problemOfRefusal(decision);
  const result = await calls.decideApproval(tokenDigest, review, decision);
  if ("refusal" in result) return compressed(call, answerOf(calls, result));
  return compressed(call, { status: 200, body: statusText(calls, result.decided) });
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

/** Whatever stands where a token would: what is no token is as unknown as any other. */
function tokenDigestOf(call: Call): Buffer {
  return digestOfReviewToken(call.params.token ?? "");
}

function frameOf({ assets, origin }: ReviewCalls): PageFrame {
  return { files: assets.review, basePath: basePathOf(origin.publicUrl) };
}

function page(status: number, body: string): Answer {
  return { status, type: "text/html; charset=utf-8", body };
}

function noteFacts(call: Call, { workspaceId, approvalId }: ReviewLink): void {
  call.facts.workspaceId = workspaceId;
  call.facts.approvalId = approvalId;
}
