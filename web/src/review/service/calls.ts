// The page's calls to the service. Every answer becomes a value from a short list; nothing throws.

import type { SignedAnswer } from "../../../../server/src/domain/shown/decision-statement.ts";
import { placeShown, placeToHandOver } from "../../../../server/src/domain/shown/reviewer-place.ts";
import { shownText } from "../../../../server/src/domain/shown/shown-text.ts";
import type {
  ReviewColleagues,
  ReviewErrorBody,
  ReviewPage,
  ReviewStatus,
  ReviewVoting,
} from "../../../../server/src/wire/review-contract.ts";
import { programFields } from "../../look/page-program.ts";
import { words } from "../../look/words.ts";
import type { ReviewAccess } from "./access.ts";
import type { OpenReview } from "./open-review.ts";

export type Failure = {
  kind: "failure";
  code: ReviewErrorBody["error"]["code"] | "signed_out" | "offline";
  message: string;
  /** Whether the call may have worked all the same: no answer came, or one that doesn't tell. */
  isUntold: boolean;
  status: ReviewStatus | null;
  triesLeft: number | null;
};

/** The longest time of a call, since somebody waits for it. A decision may carry a large edit over a slow line. */
const answerMs = 10_000;
const decisionMs = 20_000;
/** The service waits for twenty seconds. */
const waitMs = 30_000;

export type Verdict = "approve" | "reject";

export type Decision = {
  verdict: Verdict;
  note: string;
  /** The exact JSON text; null if there is no edit. */
  edit: string | null;
  /** What the reader's passkey made of it; null if they didn't sign. */
  signed: SignedAnswer | null;
};

/** The request, with the payload as it is now. */
export async function open(access: ReviewAccess): Promise<ReviewPage | Failure> {
  return call(access, "open", withCode(access));
}

export async function readStatus(access: ReviewAccess): Promise<ReviewStatus | Failure> {
  return call(access, "status", withCode(access));
}

/** Waits for another state than the one with this tag. The service answers after some time in any case. */
export async function awaitStatus(
  access: ReviewAccess,
  since: string,
  signal: AbortSignal,
): Promise<ReviewStatus | Failure> {
  return call(access, "status", withCode(access, { since }), { timeoutMs: waitMs, signal });
}

export async function listColleagues(access: ReviewAccess): Promise<ReviewColleagues | Failure> {
  return call(access, "colleagues", withCode(access));
}

export async function handOver(
  access: ReviewAccess,
  { ticket, voting }: { ticket: string; voting: ReviewVoting | undefined },
  to: string,
): Promise<ReviewStatus | Failure> {
  const place = placeToHandOver(voting);
  const body = withCode(access, { ticket, to, ...(place === null ? {} : { place }) });
  return call(access, "hand-over", body, { timeoutMs: decisionMs });
}

export async function decide(
  access: ReviewAccess,
  review: OpenReview,
  { verdict, note, edit, signed }: Decision,
): Promise<ReviewStatus | Failure> {
  const place = placeShown(review.voting);
  const body = withCode(access, {
    verdict,
    digest: await digestOf(shownText(review)),
    ticket: review.ticket,
    opened: review.opened,
    ...(place === null ? {} : { place }),
    ...programFields(),
    ...(note.trim() === "" ? {} : { note }),
    ...(signed === null ? {} : { signed }),
  });
  const whole = edit === null ? body : `${body.slice(0, -1)},"edit":${edit}}`;
  return call(access, "decision", whole, { timeoutMs: decisionMs });
}

function withCode({ code }: ReviewAccess, body: object = {}): string {
  return JSON.stringify(code === null ? body : { ...body, code });
}

export function isFailure(value: object): value is Failure {
  return "kind" in value && value.kind === "failure";
}

async function call<Answer>(
  access: ReviewAccess,
  name: string,
  body: string,
  { timeoutMs = answerMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Answer | Failure> {
  // Covers the answer's body, too.
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${access.address}/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      cache: "no-store",
      redirect: "error",
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      // Nobody waits for a call that itself waits.
      priority: signal === undefined ? "auto" : "low",
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer as Answer;
    const refused = toFailure(answer, access);
    if (refused.code === "signed_out") access.onSignedOut();
    return refused;
  } catch {
    return { ...failure("offline", words.problem.offline), isUntold: true };
  }
}

function toFailure(answer: unknown, { kind }: ReviewAccess): Failure {
  if (typeof answer !== "object" || answer === null || !("error" in answer)) {
    // Not our words: something between the page and the service answered.
    return { ...failure("internal_error", words.problem.unknown), isUntold: true };
  }
  const { error, status, triesLeft } = answer as ReviewErrorBody;
  const own: Partial<Record<Failure["code"], string>> = {
    ...ownWords,
    not_found: words.problem.gone[kind],
  };
  const message = own[error.code] ?? error.message;
  return {
    ...failure(error.code, message),
    isUntold: error.code === "internal_error" || error.code === "unavailable",
    status: status ?? null,
    triesLeft: triesLeft ?? null,
  };
}

/** The page may know better than the service what its reader can do next. */
const ownWords: Partial<Record<Failure["code"], string>> = {
  signed_out: words.problem.signedOut,
  body_too_large: words.problem.tooLarge,
  unavailable: words.problem.offline,
};

function failure(code: Failure["code"], message: string): Failure {
  return { kind: "failure", code, message, isUntold: false, status: null, triesLeft: null };
}

/** SHA-256 in hex. */
export async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
