// How far several people are, in sentences: for the list, the stages of a request, and the receipt of its decision.

import type { RequestDetail } from "../../../../../server/src/wire/dashboard-contract.ts";
import type {
  RequestVoting,
  VotingProgress,
  VotingStage,
} from "../../../../../server/src/wire/dashboard-voting.ts";

/** For a row of the list: "1 of 2 · stage 1 of 2". */
export function progressWords({ votes }: VotingProgress): string | null {
  if (votes === undefined) return null;
  const { approved, required, stage, stages } = votes;
  const count = `${approved} of ${required}`;
  return stages === 1 ? count : `${count} · stage ${stage} of ${stages}`;
}

/** What is the matter with its people. */
export function troubleWords({ isEscalated, isStuck, isUnreachable }: VotingProgress): string[] {
  return [
    ...(isEscalated ? ["escalated"] : []),
    ...(isStuck ? ["too few people left"] : []),
    ...(isUnreachable ? ["no mail arrived"] : []),
  ];
}

export function approvalsIn({ votes }: VotingStage): number {
  return votes.filter(({ verdict }) => verdict === "approve").length;
}

export function stillNeeded(stage: VotingStage): number {
  return Math.max(0, stage.required - approvalsIn(stage));
}

/** What a pending request waits for: "2 more approvals of Finance". */
export function awaitedWords({ stage, stages }: RequestVoting): string {
  const open = stages[stage - 1];
  if (open === undefined) return "a decision";
  const missing = stillNeeded(open);
  if (!open.isGroup && open.required === 1) return `the approval of ${namesOf(open)}`;
  const count = missing === 1 ? "1 more approval" : `${missing} more approvals`;
  return `${approvalsIn(open) === 0 ? count.replace(" more", "") : count} of ${namesOf(open)}`;
}

/** Which rule held when the request ended: the receipt of a decision. */
export function ruleWords({
  status,
  voting,
  approverLimit,
}: Pick<RequestDetail, "status" | "voting" | "approverLimit">): string {
  if (status === "PENDING") return "";
  if (voting === undefined) return limitWords[approverLimit ?? "anybody"].replace("; a", "A");
  return `${heldWords(status, voting)}${changeWords(voting)}${limitWords[voting.approverLimit]}`;
}

/** Of which text. */
function changeWords({ change }: RequestVoting): string {
  return change === null ? "" : `; revision ${change.revision}, changed by ${change.byEmail}`;
}

function heldWords(status: RequestDetail["status"], voting: RequestVoting): string {
  switch (status) {
    case "APPROVED":
      return `Approved by ${voting.stages.map(stageWords).join(", then ")}`;
    case "REJECTED":
      return "One rejection ends a request, in any stage";
    default:
      return `Approved by then: ${voting.stages.slice(0, voting.stage).map(countWords).join(", then ")}`;
  }
}

const limitWords: Record<RequestVoting["approverLimit"], string> = {
  anybody: "",
  members: "; approvers limited to members",
  domains: "; approvers limited to listed domains",
};

/** A single person who was asked by address is told by name; of others, how many of how many. */
function stageWords(stage: VotingStage): string {
  const [vote] = stage.votes;
  const isOnePerson = !stage.isGroup && stage.required === 1 && escalatedTo(stage).length === 0;
  if (!isOnePerson || vote === undefined) return countWords(stage);
  return vote.for === null ? vote.email : `${vote.email} for ${vote.for}`;
}

function countWords(stage: VotingStage): string {
  return `${approvalsIn(stage)} of ${stage.required} of ${namesOf(stage)}`;
}

/** Whose approvals count in the stage. */
function namesOf(stage: VotingStage): string {
  return [stage.name, ...escalatedTo(stage)].join(" or ");
}

/** Those who were asked, too, because the stage stayed open. */
function escalatedTo({ steps }: VotingStage): string[] {
  return steps.flatMap(({ name, outcome }) => (outcome === "asked" ? [name] : []));
}

export const viaWords = {
  link: "",
  inbox: " in the inbox",
  slack: " in Slack",
  teams: " in Teams",
} as const;
