// How far several people are with one request, as its page on the dashboard gets it: stages, votes, those who are still
// awaited, and the lines that they add to the history.

import type { Approval } from "../../../domain/approval/approval.ts";
import { awaitedSeats } from "../../../domain/approval/awaited-seats.ts";
import {
  countedIn,
  openStageOf,
  type StageRecord,
  type VoteRecord,
  type VotingRecord,
} from "../../../domain/approval/voting-record.ts";
import type { JsonText } from "../../../domain/shown/json-text.ts";
import type { VotingHistory, VotingHistoryStep } from "../../../storage/votings/voting-history.ts";
import type { VotingEntry } from "../../../wire/dashboard-history.ts";
import type {
  AwaitedSeat,
  RequestVoting,
  VotingStage,
  VotingStep,
} from "../../../wire/dashboard-voting.ts";

export type ShownVoting = {
  approval: Approval;
  record: VotingRecord;
  history: VotingHistory;
  /** The text of the current revision; null while it is the agent's payload. */
  revisionText: JsonText | null;
  /** By address. */
  reviewers: readonly { email: string; openedAt: Date | null }[];
};

export function representVoting(shown: ShownVoting): RequestVoting {
  const { record, history, revisionText } = shown;
  const { revision, change } = record;
  return {
    stage: openStageOf(record),
    revision,
    stages: record.stages.map((stage) => representStage(shown, stage)),
    change:
      change === null || revisionText === null
        ? null
        : {
            ...{ revision, payload: revisionText, byEmail: change.byEmail },
            at: change.at.toISOString(),
          },
    approverLimit: history.approverLimit,
    stuckAt: history.stuckAt?.toISOString() ?? null,
    unreachableAt: history.unreachableAt?.toISOString() ?? null,
  };
}

function representStage(shown: ShownVoting, stage: StageRecord): VotingStage {
  const { record, history } = shown;
  const counted = countedIn(record, stage.number);
  const votes = record.votes.filter(
    (vote) =>
      counted.includes(vote) ||
      (vote.verdict === "reject" &&
        vote.stage === stage.number &&
        vote.revision === record.revision),
  );
  const state = stateOf(shown, stage);
  return {
    name: nameOf(stage),
    isGroup: stage.groupId !== null,
    required: stage.required,
    state,
    votes: votes.map(({ voterEmail, forEmail, verdict, at }) => ({
      ...{ email: voterEmail, for: forEmail, verdict, at: at.toISOString() },
    })),
    awaited: state === "open" ? awaitedIn(shown) : [],
    steps: history.steps
      .filter((step) => step.stage === stage.number)
      .map((step) => representStep(shown, step)),
  };
}

function stateOf({ record }: ShownVoting, stage: StageRecord): VotingStage["state"] {
  if (stage.completedAt !== null) return "complete";
  return stage.number === openStageOf(record) ? "open" : "later";
}

function awaitedIn({ approval, record, reviewers }: ShownVoting): AwaitedSeat[] {
  if (approval.state.kind !== "PENDING") return [];
  const openedAt = new Map(reviewers.map((each) => [each.email.toLowerCase(), each.openedAt]));
  return awaitedSeats(record).map(({ personEmail, voters, neededInStage }) => ({
    email: personEmail,
    voters: voters.map(({ email }) => ({
      email,
      openedAt: openedAt.get(email.toLowerCase())?.toISOString() ?? null,
    })),
    neededInStage,
  }));
}

function representStep({ approval }: ShownVoting, step: VotingHistoryStep): VotingStep {
  const { afterMinutes, dueAt, doneAt, outcome } = step;
  const isInTime = dueAt !== null && dueAt < approval.expiresAt;
  return {
    name: nameOf(step),
    afterMinutes,
    dueAt: isInTime ? dueAt.toISOString() : null,
    doneAt: doneAt?.toISOString() ?? null,
    outcome,
  };
}

function nameOf({ groupName, notify }: { groupName: string | null; notify: string }): string {
  return groupName ?? notify;
}

/** In no order: they join the other lines of the history. */
export function votingEntries(shown: ShownVoting): VotingEntry[] {
  const { record, history } = shown;
  const nameAt = (number: number) => {
    const stage = record.stages[number - 1];
    return stage === undefined ? "" : nameOf(stage);
  };
  return [
    ...history.revisions.map(({ number, byEmail, at }): VotingEntry => {
      return { kind: "revised", at: at.toISOString(), email: byEmail, revision: number };
    }),
    ...record.votes.map((vote) => voteEntry(record, vote)),
    ...history.notes.map(({ kind, stage, at }, index): VotingEntry => {
      const entry = { at: at.toISOString(), stage };
      if (kind !== "stage_entered") return { kind, ...entry };
      // The first stage is entered when the agent asks.
      const isAgain =
        stage === 1 ||
        history.notes.slice(0, index).some((each) => each.kind === kind && each.stage === stage);
      return { kind, ...entry, name: nameAt(stage), isAgain };
    }),
    ...history.standIns.map(({ reason, email, toEmail, at }): VotingEntry => {
      const kind = reason === "away" ? "delegated" : "handed_over";
      return { kind, at: at.toISOString(), email, toEmail };
    }),
    ...history.steps.flatMap((step) => stepEntries(shown, step)),
  ];
}

function voteEntry({ revision: current }: VotingRecord, vote: VoteRecord): VotingEntry {
  const { at, voterEmail: email, forEmail, verdict, stage, revision, via, note } = vote;
  const isOutdated = verdict === "approve" && revision < current;
  return {
    ...{ kind: "voted", at: at.toISOString(), email, for: forEmail, verdict, stage },
    ...{ revision, via, note, outdatedBy: isOutdated ? revision + 1 : null },
  };
}

/** A step that came too late to matter is no news. */
function stepEntries({ approval, record }: ShownVoting, step: VotingHistoryStep): VotingEntry[] {
  const { stage, doneAt, dueAt, outcome } = step;
  const name = nameOf(step);
  if (doneAt !== null) {
    if (outcome === "moot") return [];
    const at = doneAt.toISOString();
    return [{ kind: "escalated", at, stage, name, isNews: outcome === "asked" }];
  }
  const isToCome =
    approval.state.kind === "PENDING" &&
    dueAt !== null &&
    dueAt < approval.expiresAt &&
    stage === openStageOf(record);
  return isToCome ? [{ kind: "escalates", at: dueAt.toISOString(), stage, name }] : [];
}
