// The contract between the review page and the service. It isn't in /v1: the two are released together, and nothing
// else may use it. JSON that was sent to be approved travels as text inside a string, so that no reader rounds it.

import type { ApprovalStatus } from "../../../sdk/src/contract.ts";
import type { Shown } from "../domain/shown/shown-text.ts";
import type { SubmittedName } from "../domain/shown/submitted-fields.ts";

/** The data that the page embeds, and that its later calls answer. */
export type ReviewPage =
  | { kind: "code"; workspaceName: string; triesLeft: number }
  | { kind: "review"; review: Review };

/** Everything the page draws: the fields that a decision binds, and facts that aren't the agent's. */
export type Review = Shown & NothingSubmitted<ReviewFacts>;

/** Does not compile when a fact is a field of the request: those are bound, and come with `Shown`. */
type NothingSubmitted<Facts extends Record<string, unknown> & { [Name in SubmittedName]?: never }> =
  Facts;

type ReviewFacts = {
  workspaceName: string;
  /** Whose link this is. */
  reviewerEmail: string;
  groupName: string | null;
  createdAt: string;
  expiresAt: string;
  /** The service's clock when it answered: the time left is counted from here, not from the reader's clock. */
  now: string;
  outcome: ReviewOutcome | null;
  /** Other requests of this workspace that wait for this reviewer. Counted up to 100, which means 100 or more. */
  othersWaiting: number;
  /** The page sends it back with a decision, as proof that we made the page for this link, not long ago. */
  ticket: string;
};

export type ReviewOutcome = {
  status: Exclude<ApprovalStatus, "PENDING">;
  at: string;
  byEmail: string | null;
  /** Whether the reviewer of this link decided. */
  isYours: boolean;
  note: string | null;
  /** The exact JSON text of the edit; null when there was none. */
  edit: string | null;
};

/** The facts that can change while a page is open. */
export type ReviewStatus = Pick<
  Review,
  "now" | "expiresAt" | "outcome" | "othersWaiting" | "ticket"
>;

/** The body of a decision. `edit` stands last and is spliced in as JSON itself, byte for byte. */
export type ReviewDecision = {
  verdict: "approve" | "reject";
  /** SHA-256, in hex, of the shown content: see `shownText`. */
  digest: string;
  ticket: string;
  note?: string;
  /** Only where a code is asked for. */
  code?: string;
  edit?: unknown;
};

export type ReviewErrorCode =
  | "invalid_json"
  | "validation_error"
  | "wrong_code"
  | "link_locked"
  | "cross_origin"
  | "not_found"
  | "already_resolved"
  | "stale_view"
  | "body_too_large"
  | "rate_limited"
  | "internal_error"
  | "unavailable";

export type ReviewErrorBody = {
  error: { code: ReviewErrorCode; message: string };
  /** How things stand, with `already_resolved` and `stale_view`. */
  status?: ReviewStatus;
  /** With `wrong_code`. */
  triesLeft?: number;
};
