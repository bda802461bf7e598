// What became of one of several decisions that were sent at once.

import type { InboxDecisions, InboxResults } from "../../../../server/src/wire/inbox-contract.ts";
import type { Review, ReviewStatus } from "../../../../server/src/wire/review-contract.ts";
import { words } from "../../look/words.ts";
import { isRecorded } from "../../review/voting/recorded.ts";
import { inboxWords } from "../frame/inbox-words.ts";

export type Result =
  | { kind: "recorded"; text: string }
  | { kind: "refused"; text: string }
  /** No answer came back, so the service is asked. */
  | { kind: "unknown" };

export const unknown: Result = { kind: "unknown" };

type Sent = { verdict: InboxDecisions["verdict"]; review: Review };

/** From the service's own answer. One that it leaves out is unknown. */
export function resultOf(answer: InboxResults["results"][number] | undefined, sent: Sent): Result {
  if (answer === undefined) return unknown;
  if (answer.kind === "recorded")
    return { kind: "recorded", text: recordedText(sent, answer.status) };
  const { error, status } = answer.problem;
  if (error.code === "not_found") return { kind: "refused", text: inboxWords.several.gone };
  if (status?.outcome) return { kind: "refused", text: outcomeText(status) };
  return { kind: "refused", text: error.message };
}

/** From how things stand, where the answer was lost. */
export function resultFrom(status: ReviewStatus, sent: Sent): Result {
  const { outcome } = status;
  const wanted = sent.verdict === "approve" ? "APPROVED" : "REJECTED";
  const isOwn = outcome?.isYours === true && outcome.status === wanted;
  if (isOwn || isRecorded(sent.review.voting, status.voting)) {
    return { kind: "recorded", text: recordedText(sent, status) };
  }
  const text = outcome === null ? inboxWords.several.notCounted : outcomeText(status);
  return { kind: "refused", text };
}

function recordedText({ verdict }: Sent, { outcome }: ReviewStatus): string {
  const { recorded, waitsForOthers } = inboxWords.several;
  return outcome === null ? waitsForOthers : recorded[verdict];
}

function outcomeText({ outcome, voting }: ReviewStatus): string {
  if (outcome === null) return "";
  const isPartly = voting?.stages.some(({ approvals }) => approvals.length > 0) ?? false;
  return `${words.outcome.sentence(outcome, isPartly)}. ${words.tooLate}`;
}
