// The page's calls to the service. Every answer becomes a value from a short list; nothing throws.

import { shownText } from "../../../server/src/domain/shown/shown-text.ts";
import type {
  Review,
  ReviewErrorBody,
  ReviewPage,
  ReviewStatus,
} from "../../../server/src/wire/review-contract.ts";
import { words } from "../look/words.ts";

export type Failure = {
  kind: "failure";
  code: ReviewErrorBody["error"]["code"] | "offline";
  message: string;
  /** Whether the call may have worked all the same: no answer came, or one that doesn't tell. */
  isUntold: boolean;
  status: ReviewStatus | null;
  triesLeft: number | null;
};

/** The longest time of a call, since somebody waits for it. A decision may carry a large edit over a slow line. */
const answerMs = 10_000;
const decisionMs = 20_000;

export type Verdict = "approve" | "reject";

export type Decision = {
  verdict: Verdict;
  note: string;
  /** The exact JSON text; null if there is no edit. */
  edit: string | null;
  code: string | null;
};

export async function openWithCode(code: string): Promise<ReviewPage | Failure> {
  return call("open", JSON.stringify({ code }));
}

export async function readStatus(code: string | null): Promise<ReviewStatus | Failure> {
  return call("status", JSON.stringify(code === null ? {} : { code }));
}

export async function decide(
  review: Review,
  { verdict, note, edit, code }: Decision,
): Promise<ReviewStatus | Failure> {
  const body = JSON.stringify({
    verdict,
    digest: await digestOf(shownText(review)),
    ticket: review.ticket,
    ...(note.trim() === "" ? {} : { note }),
    ...(code === null ? {} : { code }),
  });
  const whole = edit === null ? body : `${body.slice(0, -1)},"edit":${edit}}`;
  return call("decision", whole, decisionMs);
}

export function isFailure(value: object): value is Failure {
  return "kind" in value && value.kind === "failure";
}

async function call<Answer>(
  name: string,
  body: string,
  timeoutMs = answerMs,
): Promise<Answer | Failure> {
  const address = `${location.pathname.replace(/\/+$/, "")}/${name}`;
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      cache: "no-store",
      redirect: "error",
      // Covers the answer's body, too.
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer: unknown = await response.json();
    return response.ok ? (answer as Answer) : toFailure(answer);
  } catch {
    return { ...failure("offline", words.problem.offline), isUntold: true };
  }
}

function toFailure(answer: unknown): Failure {
  if (typeof answer !== "object" || answer === null || !("error" in answer)) {
    // Not our words: something between the page and the service answered.
    return { ...failure("internal_error", words.problem.unknown), isUntold: true };
  }
  const { error, status, triesLeft } = answer as ReviewErrorBody;
  const message = ownWords[error.code] ?? error.message;
  return {
    ...failure(error.code, message),
    isUntold: error.code === "internal_error" || error.code === "unavailable",
    status: status ?? null,
    triesLeft: triesLeft ?? null,
  };
}

/** The page may know better than the service what its reader can do next. */
const ownWords: Partial<Record<Failure["code"], string>> = {
  not_found: words.problem.gone,
  body_too_large: words.problem.tooLarge,
  unavailable: words.problem.offline,
};

function failure(code: Failure["code"], message: string): Failure {
  return { kind: "failure", code, message, isUntold: false, status: null, triesLeft: null };
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
