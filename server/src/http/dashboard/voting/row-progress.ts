// How far several people are, as a row of the list tells it.

import type { Progress } from "../../../storage/votings/voting-progress.ts";
import type { VotingProgress } from "../../../wire/dashboard-voting.ts";

/** Null where there is nothing to tell: one person decides, and nothing is the matter. */
export function representProgress(progress: Progress): VotingProgress | null {
  const { isTold, approved, required, stage, stages } = progress;
  const told: VotingProgress = {
    ...(isTold ? { votes: { approved, required, stage, stages } } : {}),
    ...(progress.isEscalated ? { isEscalated: true } : {}),
    ...(progress.isStuck ? { isStuck: true } : {}),
    ...(progress.isUnreachable ? { isUnreachable: true } : {}),
  };
  return Object.keys(told).length === 0 ? null : told;
}
