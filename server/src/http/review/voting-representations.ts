// How far several people are, as the page of one of them gets it.

import {
  countedIn,
  openStageOf,
  placeOf,
  type StageRecord,
  type VotingRecord,
} from "../../domain/approval/voting-record.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import type { ReviewStage, ReviewVoting } from "../../wire/review-contract.ts";

export function representVoting(record: VotingRecord, email: string): ReviewVoting {
  return {
    stage: openStageOf(record),
    revision: record.revision,
    stages: record.stages.map((stage) => representStage(record, stage, email)),
    you: placeOf(record, email),
    outdatedVote: outdatedVoteOf(record, email),
    isStuck: record.isStuck,
    handOver: record.handOver,
  };
}

function representStage(record: VotingRecord, stage: StageRecord, email: string): ReviewStage {
  const reader = personOf(email);
  return {
    name: stage.groupName ?? stage.notify,
    isGroup: stage.groupId !== null,
    required: stage.required,
    approvals: countedIn(record, stage.number).map(({ voterEmail, at, note, forEmail, voter }) => ({
      email: voterEmail,
      at: at.toISOString(),
      note,
      for: forEmail,
      isYours: voter === reader,
    })),
  };
}

/** Their newest approval of an earlier text, unless they have voted on this one. */
function outdatedVoteOf({ votes, revision }: VotingRecord, email: string) {
  const last = votes.findLast(({ voter }) => voter === personOf(email));
  if (last === undefined || last.revision === revision) return null;
  return { revision: last.revision, at: last.at.toISOString() };
}
