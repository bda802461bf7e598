// The contract between the review page and the service. It isn't in /v1: the two are released together, and nothing
// else may use it. JSON that was sent to be approved travels as text inside a string, so that no reader rounds it.

import type { ApprovalStatus } from "../../../sdk/src/contract.ts";
import type { SignedAnswer } from "../domain/shown/decision-statement.ts";
import type { ReviewerPlace } from "../domain/shown/reviewer-place.ts";
import type { Shown } from "../domain/shown/shown-text.ts";
import type { SubmittedName } from "../domain/shown/submitted-fields.ts";

/** The data that the page embeds, and that its later calls answer. */
export type ReviewPage =
  | { kind: "code"; workspaceName: string; triesLeft: number }
  | { kind: "review"; review: Review };

/** Everything the page draws: what a decision binds, and facts that aren't the agent's. */
export type Review = Shown & NothingSubmitted<ReviewFacts>;

/** Does not compile when a fact is a field of the request: those are bound, and come with `Shown`. */
type NothingSubmitted<Facts extends Record<string, unknown> & { [Name in SubmittedName]?: never }> =
  Facts;

type ReviewFacts = {
  /** Whose link this is. */
  reviewerEmail: string;
  createdAt: string;
  /** The service's clock when it answered: the time left is counted from here, not from the reader's clock. */
  now: string;
  outcome: ReviewOutcome | null;
  /** Other requests of this workspace that wait for this reviewer. Counted up to 100, which means 100 or more. */
  othersWaiting: number;
  /** The page sends it back with a decision, as proof that we made the page for this link, not long ago. */
  ticket: string;
  /** Only where the reader has passkeys, or nobody approves without one. */
  signing?: ReviewSigning;
  /** Only where more than one person may have a say, or somebody passed their vote on. */
  voting?: ReviewVoting;
  /** The current revision, where it isn't the agent's payload. */
  change?: ReviewChange;
};

/** What a page needs beside what it shows, to have the reader sign their decision with a passkey. */
export type ReviewSigning = {
  /** Nobody approves without a passkey. Rejecting needs none. */
  needed: boolean;
  /** The site that the passkeys belong to. */
  rpId: string;
  workspace: string;
  /** For whom the receipt will be. */
  audience: readonly string[];
  /** The newest checkpoint of the workspace's log, without signatures; null while there is none. */
  checkpoint: string | null;
  /** The reader's passkeys. */
  credentials: { id: string; transports: string[] }[];
};

/** How far several people are, as one of them sees it. */
export type ReviewVoting = {
  /** The open stage, from 1 on; the last one when all are complete. */
  stage: number;
  revision: number;
  stages: ReviewStage[];
  you: ReviewerPlace;
  /** The newest vote of this reader on an earlier revision: it no longer counts. */
  outdatedVote: { revision: number; at: string } | null;
  /** Too few different people are left: it can't be approved any more. */
  isStuck: boolean;
  /** To whom this reader may pass their vote. */
  handOver: "off" | "group" | "workspace";
};

export type ReviewStage = {
  /** A group's name, or an address. */
  name: string;
  isGroup: boolean;
  required: number;
  /** Approvals of exactly the current revision. */
  approvals: ReviewVote[];
};

export type ReviewVote = {
  email: string;
  at: string;
  note: string | null;
  /** On whose behalf a delegate voted. */
  for: string | null;
  isYours: boolean;
};

/** What an approver changed: the current revision, where it isn't the agent's payload. */
export type ReviewChange = {
  revision: number;
  payload: string;
  byEmail: string;
  at: string;
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
  "now" | "expiresAt" | "outcome" | "othersWaiting" | "ticket" | "voting"
> & {
  /** Only for a page that can wait: sent back as `since`, it is answered when this is no longer so. */
  tag?: string;
};

/** The body of a decision. `edit` stands last and is spliced in as JSON itself, byte for byte. */
export type ReviewDecision = {
  verdict: "approve" | "reject";
  /** SHA-256, in hex, of the shown content: see `shownText`. */
  digest: string;
  ticket: string;
  /** Only where several people vote: where this vote would count, or why nowhere, see `placeShown`. */
  place?: string;
  /** The ticket that came with the data: it tells when the page was opened. The other one may be newer. */
  opened?: string;
  /** The hash in the name of the page's program. */
  page?: string;
  note?: string;
  /** Only where a code is asked for. */
  code?: string;
  /** What the reader's passkey made of `decisionStatement`. */
  signed?: SignedAnswer;
  edit?: unknown;
};

/** Whom the reader may choose. Empty for a reader from outside the workspace, who types an address. */
export type ReviewColleagues = {
  handOver: "off" | "group" | "workspace";
  colleagues: { email: string }[];
};

/** The body of a vote that is passed on. */
export type ReviewHandOver = { ticket: string; to: string; code?: string };

export type ReviewErrorCode =
  | "invalid_json"
  | "validation_error"
  | "wrong_code"
  | "link_locked"
  | "cross_origin"
  | "not_found"
  | "already_resolved"
  | "stale_view"
  /** A vote that the rules refuse; the status says how things stand. */
  | "vote_refused"
  | "needed_later"
  | "hand_over_refused"
  /** Only a passkey approves this request. */
  | "signature_required"
  /** The signature isn't for exactly this decision, or isn't this person's. */
  | "signature_refused"
  | "body_too_large"
  | "rate_limited"
  /** Only in the inbox, where people sign in. */
  | "signed_out"
  | "internal_error"
  | "unavailable";

export type ReviewErrorBody = {
  error: { code: ReviewErrorCode; message: string };
  /** How things stand, with `already_resolved` and `stale_view`. */
  status?: ReviewStatus;
  /** With `wrong_code`. */
  triesLeft?: number;
};
