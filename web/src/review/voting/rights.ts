// What the votes so far leave to the reader: the open stage, who wrote the current text, and what the reader may do.

import type {
  ReviewStage,
  ReviewVote,
  ReviewVoting,
} from "../../../../server/src/wire/review-contract.ts";

/** Where one approval is enough, nothing is counted, and the page is as simple as ever. */
export function isCounted({ stages }: ReviewVoting): boolean {
  return stages.length > 1 || stages.some(({ required }) => required > 1);
}

export function openStageOf({ stages, stage }: ReviewVoting): ReviewStage | null {
  return stages[stage - 1] ?? null;
}

/** Without voting one approval decides, and every reader may give it. */
export function mayApprove(voting: ReviewVoting | undefined): boolean {
  return voting === undefined || voting.you.kind === "asked";
}

export function mayReject(voting: ReviewVoting | undefined): boolean {
  return mayApprove(voting) || voting?.you.kind === "needed_later";
}

/** A person may pass on what they could give just now. */
export function mayHandOver(voting: ReviewVoting | undefined): boolean {
  return mayReject(voting) && voting?.handOver !== "off";
}

/** The first who approved the current text is the one who wrote it. Null for the agent's own. */
export function editorOf({ stages, revision }: ReviewVoting): ReviewVote | null {
  if (revision === 1) return null;
  const votes = stages.flatMap(({ approvals }) => approvals);
  return votes.sort((one, other) => (one.at < other.at ? -1 : 1))[0] ?? null;
}
