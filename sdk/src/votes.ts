// The votes of several people: told to a caller who waits, each once, in the order in which they were given.

import type { ApprovalRequest, Vote } from "./contract.ts";

export type RecordedVote = {
  vote: Vote;
  /** The stage that it belongs to, counted from 1. */
  stage: number;
  /** As it was when the vote was heard of: `approvals` says how far everybody is. */
  request: ApprovalRequest;
};

export type OnVote = (recorded: RecordedVote) => unknown;

/** Says whether there was a vote that it had not told before. */
export function tellOnce(onVote: OnVote): (request: ApprovalRequest) => Promise<boolean> {
  const told = new Set<string>();
  return async (request) => {
    // A vote never changes, so what it says is its name. Its place in the list is none: another may come before it.
    const fresh = votesOf(request).filter((each) => !told.has(JSON.stringify(each)));
    for (const each of fresh) {
      told.add(JSON.stringify(each));
      await onVote({ ...each, request });
    }
    return fresh.length > 0;
  };
}

function votesOf({ approvals }: ApprovalRequest): Omit<RecordedVote, "request">[] {
  const votes = (approvals?.stages ?? []).flatMap(({ votes }, at) =>
    votes.map((vote) => ({ vote, stage: at + 1 })),
  );
  return votes.toSorted((one, other) => compare(one.vote.at, other.vote.at));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
