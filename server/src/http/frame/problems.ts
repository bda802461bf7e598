// Every error answer: the status of each code, and the one envelope around it. No other file knows these.

import type { ErrorBody, ErrorCode, RedemptionFacts } from "../../../../sdk/src/contract.ts";
import type { Refusal, RefusalCode } from "../../domain/refusal.ts";
import type { DashboardErrorBody, DashboardErrorCode } from "../../wire/dashboard-contract.ts";
import type { ReviewErrorBody, ReviewErrorCode } from "../../wire/review-contract.ts";
import type { Answer } from "./call.ts";

const statusOfCode: Record<ErrorCode | ReviewErrorCode | DashboardErrorCode, number> = {
  invalid_json: 400,
  validation_error: 400,
  state_too_large: 400,
  empty_group: 400,
  quorum_unreachable: 400,
  unauthorized: 401,
  signed_out: 401,
  sign_in_failed: 401,
  quota_exceeded: 402,
  plan_required: 403,
  approver_not_allowed: 403,
  cross_origin: 403,
  forbidden: 403,
  wrong_code: 403,
  link_locked: 403,
  signature_required: 403,
  signature_refused: 403,
  unknown_group: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_resolved: 409,
  not_approved: 409,
  nobody_to_remind: 409,
  already_redeemed: 409,
  conflict: 409,
  stale_view: 409,
  vote_refused: 409,
  needed_later: 409,
  hand_over_refused: 409,
  body_too_large: 413,
  idempotency_key_reused: 422,
  rate_limited: 429,
  reminded_recently: 429,
  internal_error: 500,
  unavailable: 503,
} satisfies Record<RefusalCode | ErrorCode | ReviewErrorCode | DashboardErrorCode, number>;

/** The only status that tells a page's reader about themselves. */
export const tooManyStatus = statusOfCode.rate_limited;

const unavailableRetrySeconds = 2;

export function problem(
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Answer {
  const own: Record<string, string> = {};
  if (code === "unauthorized") own["www-authenticate"] = "Bearer";
  if (code === "unavailable") own["retry-after"] = String(unavailableRetrySeconds);
  return {
    status: statusOfCode[code],
    headers: { ...own, ...headers },
    body: envelope(code, message),
  };
}

export function envelope(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: { code, message } } satisfies ErrorBody);
}

export function problemOfRefusal({ refusal, message }: Refusal): Answer {
  return problem(refusal, message);
}

/** Tells a program, too, who redeemed it and when. */
export function alreadyRedeemed(message: string, facts: RedemptionFacts): Answer {
  const code = "already_redeemed";
  const body = { error: { code, message, ...facts } } satisfies ErrorBody;
  return { status: statusOfCode[code], body: JSON.stringify(body) };
}

export function notFound(): Answer {
  return problem(
    "not_found",
    "There is nothing at this address. See /v1/openapi.json for every call.",
  );
}

export function tooManyOnConnection(): Answer {
  return problem(
    "unavailable",
    "This connection has more calls under way than are answered at a time. Read their answers before you send more.",
    { connection: "close" },
  );
}

export function rateLimited(): Answer {
  return problem(
    "rate_limited",
    "This API key makes more calls a second than it may. Wait for the seconds in Retry-After, then go on.",
  );
}

/** For the review page, which learns more than an agent, in codes that no agent ever sees. */
export function reviewProblem(
  code: ReviewErrorCode,
  message: string,
  more: Pick<ReviewErrorBody, "status" | "triesLeft"> = {},
): Answer & { body: string } {
  const body = { error: { code, message }, ...more } satisfies ReviewErrorBody;
  return { status: statusOfCode[code], body: JSON.stringify(body) };
}

export function crossOrigin(publicOrigin: string): Answer {
  return reviewProblem(
    "cross_origin",
    `This call does not come from the review page, so nothing was decided. Open the link from the mail at ${publicOrigin} in a current browser, over https: browsers prove where a call comes from only there, or on this machine at localhost.`,
  );
}

export function inboxCrossOrigin(publicOrigin: string): Answer {
  return reviewProblem(
    "cross_origin",
    `This call does not come from the inbox, so nothing was decided or changed. Open it at ${publicOrigin} in a current browser, over https: browsers prove where a call comes from only there, or on this machine at localhost.`,
  );
}

/** For callers that call more often than any page of ours does. */
export function unprovenSlack(): Answer {
  return problem("unauthorized", "This call is not signed by a connected Slack app.");
}

export function networkRateLimited(retryAfterSeconds: number): Answer {
  const told = problem(
    "rate_limited",
    "Your network makes more calls than it may. Wait for the seconds in Retry-After, then go on.",
  );
  return { ...told, headers: { "retry-after": String(retryAfterSeconds) } };
}

export function reviewRateLimited(retryAfterSeconds: number): Answer {
  const told = reviewProblem(
    "rate_limited",
    "This link, or your network, asks for more than it may. Nothing was decided by this. Wait a moment, then try again.",
  );
  return { ...told, headers: { "retry-after": String(retryAfterSeconds) } };
}

/** For callers whose large request waits behind too many others. */
export function reviewBusy(): Answer & { body: string } {
  const told = reviewProblem(
    "unavailable",
    "Too many large requests are shown or decided at present. Try again in a moment: a decision counts once, however often it is sent.",
  );
  return { ...told, headers: { "retry-after": String(unavailableRetrySeconds) } };
}

/** A fault as the review page shows it. People who sent a decision want to know whether it counted. */
export function reviewFault({ status, headers = {}, body }: Answer): Answer {
  if (status !== statusOfCode.unavailable) return { status, headers, body };
  const told = reviewProblem(
    "unavailable",
    "The service cannot reach its database at present. Try again in a moment: a decision counts once, however often it is sent.",
  );
  return { ...told, headers };
}

/** For the dashboard, which learns the wrong field, in codes that no agent ever sees. */
export function dashboardProblem(
  refusal: Refusal<DashboardErrorCode> & { field?: string },
): Answer {
  const { refusal: code, message, field } = refusal;
  const error = field === undefined ? { code, message } : { code, message, field };
  return {
    status: statusOfCode[code],
    body: JSON.stringify({ error } satisfies DashboardErrorBody),
  };
}

export function dashboardCrossOrigin(publicOrigin: string): Answer {
  const message = `This call does not come from the dashboard, so nothing was changed. Open it at ${publicOrigin} in a current browser, over https: browsers prove where a call comes from only there, or on this machine at localhost.`;
  return dashboardProblem({ refusal: "cross_origin", message });
}

/** For foreign pages that call the tools: their browser sends an Origin, programs send none. */
export function mcpCrossOrigin(publicOrigin: string): Answer {
  const message = `This call comes from a web page that is not at ${publicOrigin}. Call /mcp from a program, which sends no Origin header.`;
  return dashboardProblem({ refusal: "cross_origin", message });
}

/** A fault as the dashboard shows it. */
export function dashboardFault({ status, headers = {}, body }: Answer): Answer {
  if (status !== statusOfCode.unavailable) return { status, headers, body };
  const message = "The service cannot reach its database at present. Try again in a moment.";
  return { ...dashboardProblem({ refusal: "unavailable", message }), headers };
}

export function unavailable(): Answer {
  return problem(
    "unavailable",
    "The database is out of reach at present. Try again in a moment; a create is safe to repeat with the same Idempotency-Key.",
  );
}

/** The database works, but the caller waited for it too long, or too many calls wait already. */
export function busy(): Answer {
  return problem(
    "unavailable",
    "More calls wait than can be answered in good time. Try again in a moment; a create is safe to repeat with the same Idempotency-Key.",
  );
}

/** For callers with more reads of many or large requests under way than finish in time. */
export function tooManyReads(): Answer {
  return problem(
    "unavailable",
    "Too many reads of large requests are under way. Wait for the seconds in Retry-After, then ask again.",
  );
}

export function internalError(requestId: string): Answer {
  return problem(
    "internal_error",
    `Something went wrong on our side. If it happens again, report it with the id ${requestId}.`,
  );
}
