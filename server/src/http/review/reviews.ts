// The calls of the review page: parse, open or decide, answer. The inbox makes the same calls for a person who is signed
// in, and names their place itself.

import type { Keyring } from "../../domain/access/keyring.ts";
import { digestOfReviewToken } from "../../domain/access/review-link.ts";
import {
  type PageDecision,
  parseHandOver,
  parseReviewCode,
  parseReviewDecision,
  parseSince,
} from "../../domain/approval/review-decision.ts";
import { largeReviewBytesMin } from "../../domain/limits.ts";
import type { Amr } from "../../domain/proof/evidence.ts";
import { isRefusal } from "../../domain/refusal.ts";
import type { DecideApproval } from "../../operations/approvals/decide-approval.ts";
import { handOverReview, listColleagues } from "../../operations/approvals/hand-over-review.ts";
import {
  findReview,
  findReviewLink,
  findReviewUpTo,
  noteReviewOpened,
  type Review,
  type ReviewLink,
  type ReviewRefusal,
  refuseWithoutCode,
  unknownLink,
  unknownReview,
} from "../../operations/approvals/open-review.ts";
import type { ReviewAccess } from "../../storage/approvals/reviews.ts";
import * as reviews from "../../storage/approvals/reviews.ts";
import type { ReviewColleagues, ReviewStatus } from "../../wire/review-contract.ts";
import type { Assets } from "../frame/assets.ts";
import type { Answer, Call, Caller } from "../frame/call.ts";
import { compressed } from "../frame/compression.ts";
import type { FairBudget } from "../frame/fair-budget.ts";
import { signingHeaders } from "../frame/page-headers.ts";
import { basePathOf } from "../frame/paths.ts";
import { problemOfRefusal, reviewBusy, reviewProblem, tooManyStatus } from "../frame/problems.ts";
import type { Admission } from "../frame/route.ts";
import { inTurn } from "../frame/turns.ts";
import { type DecidedOnPage, evidenceOf } from "./evidence.ts";
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
import { offerSigning } from "./signing-offer.ts";
import { awaitChange, tagOf, type WaitingCalls } from "./status-wait.ts";

export type ReviewCalls = WaitingCalls & {
  keyring: Keyring;
  decideApproval: DecideApproval;
  /** Called when somebody is to be mailed. */
  onDue: () => void;
  assets: Assets;
  /** An object, because a port that the system chooses is known only once the service listens. */
  origin: { readonly publicUrl: string };
  /** Turns for showing and deciding large reviews, and the most turns one link may have. */
  largeReviews: FairBudget;
  largeReviewsOfLink: FairBudget;
};

/** Runs before a large body is read. */
export async function admit(calls: ReviewCalls, caller: Caller): Promise<Admission> {
  const found = await reviews.weigh(calls.db, linkOf(caller));
  if (found === null) return { refused: answerOf(calls, unknownLink()) };
  noteFacts(caller, found);
  return { holder: found.workspaceId };
}

/** The page behind a link. It changes nothing, so programs that follow links do no harm. */
export async function show(calls: ReviewCalls, call: Call): Promise<Answer> {
  if (call.isHead) return showHead(calls, call);
  const answer = await withReview(calls, call, linkOf(call), async (review) => {
    if (review === null) return showDeadLink(calls, call);
    const signing = await offerSigning(calls.db, review, calls.origin.publicUrl);
    const data = review.reviewer.needsCode
      ? representCodeQuestion(review)
      : representReview(review, calls.keyring, signing);
    const shown = page(200, await reviewHtml(frameOf(calls), data));
    // Only pages that may ask for a passkey have the power to.
    const headers = signing === null ? {} : signingHeaders;
    return compressed(call, { ...shown, headers });
  });
  return answer ?? showBusy(calls);
}

function showBusy(calls: ReviewCalls): Answer {
  const { status, headers = {} } = reviewBusy();
  const refresh = String(headers["retry-after"] ?? 1);
  return { ...page(status, busyHtml(frameOf(calls))), headers: { ...headers, refresh } };
}

async function showHead(calls: ReviewCalls, call: Call): Promise<Answer> {
  const found = await reviews.weigh(calls.db, linkOf(call));
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
export async function open(
  calls: ReviewCalls,
  call: Call,
  access: ReviewAccess = linkOf(call),
): Promise<Answer> {
  const opened = await openLink(calls, call, access);
  if ("refused" in opened) return opened.refused;
  const answer = await withReview(calls, call, access, async (review) => {
    if (review === null) return answerOf(calls, unknownReview(access));
    const signing = await offerSigning(calls.db, review, calls.origin.publicUrl);
    const body = JSON.stringify(representReview(review, calls.keyring, signing));
    return compressed(call, { status: 200, body });
  });
  return answer ?? reviewBusy();
}

/** The page asks once it is shown and then now and then, so the first call tells that it was opened. */
export async function status(
  calls: ReviewCalls,
  call: Call,
  access: ReviewAccess = linkOf(call),
): Promise<Answer> {
  const opened = await openLink(calls, call, access);
  if ("refused" in opened) return opened.refused;
  const wish = parseSince(call.body);
  if (isRefusal(wish)) return problemOfRefusal(wish);
  await noteReviewOpened(calls.db, opened.link);
  const status =
    wish.since === null
      ? representStatus(opened.link, calls.keyring)
      : await awaitStatus(calls, call, { access, link: opened.link, since: wish.since });
  if (status === null) return answerOf(calls, unknownReview(access));
  const body = JSON.stringify(status);
  const compress = () => compressed(call, { status: 200, body });
  if (body.length <= largeReviewBytesMin) return compress();
  const answer = await inLargeTurn(calls, call, access, compress);
  return answer ?? reviewBusy();
}

async function awaitStatus(
  calls: ReviewCalls,
  { signal }: Call,
  { access, link, since }: { access: ReviewAccess; link: ReviewLink; since: string },
): Promise<ReviewStatus | null> {
  const isKnown = (now: ReviewLink) => tagOf(representStatus(now, calls.keyring)) === since;
  const found = await awaitChange(calls, { access, link, isKnown, signal });
  if (found === null) return null;
  const status = representStatus(found, calls.keyring);
  return { ...status, tag: tagOf(status) };
}

/** How somebody came to what they decide; `session` is how theirs was opened, null for a link. */
export type WayIn = { access: ReviewAccess; session: readonly Amr[] | null };

export async function decide(
  calls: ReviewCalls,
  call: Call,
  { access, session }: WayIn = { access: linkOf(call), session: null },
): Promise<Answer> {
  const answer = await withReview(calls, call, access, async (review) => {
    // Checked before the body is parsed: that may be megabytes of work, which only a live review may cause.
    if (review === null) return answerOf(calls, unknownReview(access));
    const decision = parseReviewDecision(call.body);
    if (isRefusal(decision)) return problemOfRefusal(decision);
    const deciding = { access, review, decision, session };
    return compressed(call, await decideReview(calls, call, deciding));
  });
  return answer ?? reviewBusy();
}

/** One of several decisions of a call. */
export async function decideOne(
  calls: ReviewCalls,
  call: Call,
  { access, session, decision }: WayIn & { decision: PageDecision },
): Promise<Answer & { body: string }> {
  const answer = await withReview(calls, call, access, async (review) =>
    review === null
      ? answerOf(calls, unknownReview(access))
      : decideReview(calls, call, { access, review, decision, session }),
  );
  return answer ?? reviewBusy();
}

async function decideReview(
  calls: ReviewCalls,
  call: Call,
  { access, ...decided }: { access: ReviewAccess } & DecidedOnPage,
): Promise<Answer & { body: string }> {
  const evidence = evidenceOf(calls.keyring, call, decided);
  const { review, decision } = decided;
  const result = await calls.decideApproval(access, review, decision, evidence);
  if ("refusal" in result) return answerOf(calls, result);
  return { status: 200, body: statusText(calls, result.decided) };
}

/** To whom the reader may pass their vote. */
export async function colleagues(
  calls: ReviewCalls,
  call: Call,
  access: ReviewAccess = linkOf(call),
): Promise<Answer> {
  const opened = await openLink(calls, call, access);
  if ("refused" in opened) return opened.refused;
  const { handOver, emails } = await listColleagues(calls.db, opened.link);
  const body = { handOver, colleagues: emails.map((email) => ({ email })) };
  return { status: 200, body: JSON.stringify(body satisfies ReviewColleagues) };
}

export async function passOn(
  calls: ReviewCalls,
  call: Call,
  access: ReviewAccess = linkOf(call),
): Promise<Answer> {
  const link = await findReviewLink(calls.db, access);
  if (link === null) return answerOf(calls, unknownReview(access));
  noteFacts(call, link);
  const wish = parseHandOver(call.body);
  if (isRefusal(wish)) return problemOfRefusal(wish);
  const refusal = await refuseWithoutCode(calls, link, wish.code);
  if (refusal !== null) return answerOf(calls, refusal);
  const result = await handOverReview(calls, access, link, wish);
  if ("refusal" in result) return answerOf(calls, result);
  return { status: 200, body: statusText(calls, result.passed) };
}

/** Small reviews never wait; large ones take turns. Null when too many others wait. */
async function withReview<Told extends Answer>(
  calls: ReviewCalls,
  call: Call,
  access: ReviewAccess,
  work: (review: Review | null) => Promise<Told>,
): Promise<Told | null> {
  const found = await findReviewUpTo(calls.db, access, largeReviewBytesMin);
  if (found === null) return work(null);
  noteFacts(call, found);
  const isSmall = !("bytes" in found) && call.body.length <= largeReviewBytesMin;
  if (isSmall) return work(found);
  return inLargeTurn(calls, call, access, async () => work(await findReview(calls.db, access)));
}

/** One at a time, a turn for each workspace, and no link takes all turns of its workspace. */
async function inLargeTurn<Told extends Answer>(
  { largeReviews, largeReviewsOfLink }: ReviewCalls,
  call: Call,
  access: ReviewAccess,
  work: () => Promise<Told>,
): Promise<Told | null> {
  const holder = access.kind === "link" ? access.tokenDigest.toString("latin1") : access.reviewerId;
  const link = largeReviewsOfLink.take(holder, 1);
  if (link === null) return null;
  const turn = { holder: call.facts.workspaceId ?? "", signal: call.signal };
  try {
    return await inTurn(largeReviews, turn, work);
  } finally {
    link.release();
  }
}

type Opened = { link: ReviewLink } | { refused: Answer };

async function openLink(calls: ReviewCalls, call: Call, access: ReviewAccess): Promise<Opened> {
  const link = await findReviewLink(calls.db, access);
  if (link === null) return { refused: answerOf(calls, unknownReview(access)) };
  noteFacts(call, link);
  const typed = parseReviewCode(call.body);
  if (isRefusal(typed)) return { refused: problemOfRefusal(typed) };
  const refusal = await refuseWithoutCode(calls, link, typed.code);
  return refusal === null ? { link } : { refused: answerOf(calls, refusal) };
}

function answerOf({ keyring }: ReviewCalls, refused: ReviewRefusal): Answer & { body: string } {
  switch (refused.refusal) {
    case "not_found":
    case "link_locked":
    case "hand_over_refused":
    case "signature_required":
    case "signature_refused":
      return reviewProblem(refused.refusal, refused.message);
    case "wrong_code":
      return reviewProblem(refused.refusal, refused.message, { triesLeft: refused.triesLeft });
    case "already_resolved":
    case "stale_view":
    case "vote_refused":
    case "needed_later":
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
function linkOf({ params }: Caller): ReviewAccess & { kind: "link" } {
  return { kind: "link", tokenDigest: digestOfReviewToken(params.token ?? "") };
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
