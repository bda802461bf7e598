// How far several people are with one request, as the dashboard shows it to members.

/** Only for requests whose people have seats. */
export type RequestVoting = {
  /** The open stage, from 1 on; the last one when all are complete. */
  stage: number;
  /** 1 is the agent's payload. */
  revision: number;
  stages: VotingStage[];
  /** The current revision, where it isn't the agent's payload. `payload` is its exact JSON text. */
  change: { revision: number; payload: string; byEmail: string; at: string } | null;
  /** The workspace's rule about whom agents may ask, when this was created. */
  approverLimit: "anybody" | "members" | "domains";
  /** Since when too few different people are left. */
  stuckAt: string | null;
  /** Since when no mail of the open stage could be delivered. */
  unreachableAt: string | null;
};

export type VotingStage = {
  /** A group's name, or an address. */
  name: string;
  isGroup: boolean;
  required: number;
  state: "complete" | "open" | "later";
  /** Votes on the current revision, oldest first. */
  votes: CountedVote[];
  /** Those who can still vote in the open stage. Empty in others, and once the request has ended. */
  awaited: AwaitedSeat[];
  steps: VotingStep[];
};

export type CountedVote = {
  email: string;
  /** On whose behalf a delegate voted. */
  for: string | null;
  verdict: "approve" | "reject";
  at: string;
};

export type AwaitedSeat = {
  /** Whose seat it is. */
  email: string;
  /** Who may vote for it: mostly the person alone. */
  voters: { email: string; openedAt: string | null }[];
  /** A later stage needs them, so here they may only reject. */
  neededInStage: number | null;
};

/** If the stage stays open, more people are asked. */
export type VotingStep = {
  /** A group's name, or an address. */
  name: string;
  afterMinutes: number;
  /** Null until its stage is entered, and when it would come after the request's end. */
  dueAt: string | null;
  doneAt: string | null;
  /** Whether somebody new was asked; null while it is to come. */
  outcome: "asked" | "nobody_new" | "moot" | null;
};

/** How far a request is, in a row of the list. */
export type VotingProgress = {
  /** Only where several people or stages were asked for. */
  votes?: { approved: number; required: number; stage: number; stages: number };
  isEscalated?: true;
  isStuck?: true;
  isUnreachable?: true;
};

/** The time that stages took, in the figures of a period. */
export type StageFigures = {
  /** Requests for which more people were asked because a stage stayed open. */
  escalated: number;
  /** Milliseconds from asking a stage's people to its last approval, by whom it asks; the most frequent first. */
  perApprover: {
    name: string;
    isGroup: boolean;
    stages: number;
    medianMs: number | null;
    p90Ms: number | null;
  }[];
};
