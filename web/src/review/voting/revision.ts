// The current text of the payload: the agent's, or what an earlier approver made of it.

import type { Review } from "../../../../server/src/wire/review-contract.ts";

type Text = Pick<Review, "payload" | "change" | "voting" | "outcome">;

/** The page shows it in the payload's place, and an edit starts from it. */
export function currentPayload({ payload, change }: Pick<Text, "payload" | "change">) {
  return change?.payload ?? payload;
}

/** 1 is the agent's; each edit by an approver makes the next. */
export function revisionOf({ change, voting }: Pick<Text, "change" | "voting">): number {
  return change?.revision ?? voting?.revision ?? 1;
}

/**
 * After the end: what is executed, or, where nothing is, the text on which people voted last. Their approvals stand
 * beside it, and are of no other text. Null before the end.
 */
export function decidedPayload(review: Pick<Text, "payload" | "change" | "outcome">) {
  const { payload, outcome } = review;
  if (outcome === null) return null;
  return outcome.status === "APPROVED" ? (outcome.edit ?? payload) : currentPayload(review);
}
