// Whether a vote whose answer got lost was recorded, by what the service says afterwards.

import type { ReviewVote, ReviewVoting } from "../../../../server/src/wire/review-contract.ts";

export function ownVoteIn(voting: ReviewVoting | undefined): ReviewVote | null {
  const votes = voting?.stages.flatMap(({ approvals }) => approvals) ?? [];
  return votes.find(({ isYours }) => isYours) ?? null;
}

/**
 * `before` is how things stood when the vote was sent. A vote that was recorded may be outdated by now: somebody changed
 * the payload since.
 */
export function isRecorded(
  before: ReviewVoting | undefined,
  now: ReviewVoting | undefined,
): boolean {
  if (now === undefined) return false;
  if (now.you.kind === "voted") return true;
  const { outdatedVote } = now;
  return outdatedVote !== null && outdatedVote.at !== before?.outdatedVote?.at;
}
