// What Slack's modal and its answers say where several people decide, in the review page's words: what a decision leads
// to, where the reader stands, and who has voted.

import {
  countedIn,
  openStageOf,
  placeOf,
  type StageRecord,
  type VotingRecord,
} from "../approval/voting-record.ts";
import { instantInWords } from "../mail/times.ts";
import type { ReviewerPlace } from "../shown/reviewer-place.ts";
import { personOf } from "../workspace/email-address.ts";
import { theirs } from "./slack-blocks.ts";

export type Verdict = "approve" | "reject";

type Voted = { payload: string | null; voting: VotingRecord | null };

/** Our own sentence of what will happen. */
export function consequenceOf({ payload, voting }: Voted, verdict: Verdict): string {
  const isMany = voting !== null && isCounted(voting);
  if (verdict === "reject") {
    const told = "The agent will be told not to do this.";
    return isMany ? `One rejection ends the request for everybody. ${told}` : told;
  }
  if (!isMany) {
    return payload === null
      ? "The agent will do what it describes. It sent no payload."
      : "The agent will run exactly this payload.";
  }
  const ahead = voting.isStuck ? stuck : aheadSaid(voting, 1);
  if (ahead === null) {
    return `You are the last one who must approve: the agent will ${payload === null ? "do what it describes" : "run exactly this payload"}.`;
  }
  const counts = payload === null ? "what the agent describes" : "exactly this payload";
  return `Your approval counts for ${counts}. ${ahead}`;
}

/** What the reader should know about their own place, a sentence each. */
export function standingOf(review: {
  voting: VotingRecord | null;
  change: { byEmail: string; at: Date } | null;
  reviewer: { email: string };
}): string[] {
  const { voting, change, reviewer } = review;
  if (voting === null) return [];
  const place = placeOf(voting, reviewer.email);
  const inPlaceOf = place.kind === "asked" ? place.for : null;
  const last = voting.votes.findLast(({ voter }) => voter === personOf(reviewer.email));
  const isOutdated = last !== undefined && last.revision !== voting.revision;
  return [
    ...(inPlaceOf === null
      ? []
      : [`You decide in place of ${theirs(inPlaceOf)}. The two of you count as one person.`]),
    ...(isOutdated
      ? [
          `Your approval of ${instantInWords(last.at)} no longer counts: ${theirs(change?.byEmail ?? "somebody")} changed the payload.`,
        ]
      : []),
    ...(voting.isStuck && isCounted(voting) ? [stuck] : []),
  ];
}

/** Why the reader can't give this verdict just now; null if they can. */
export function obstacleOf(voting: VotingRecord, email: string, verdict: Verdict): string | null {
  const place = placeOf(voting, email);
  switch (place.kind) {
    case "asked":
      return null;
    case "needed_later":
      if (verdict === "reject") return null;
      return `You are needed in stage ${place.stage}; ${somebodyElse(voting)} must approve here. You can still reject.`;
    case "voted":
      return votedSaid(voting, place);
    case "handed_over":
      return `You gave this to ${theirs(place.to)}. You can’t decide it any more.`;
    case "seat_taken":
      return `${place.by === "" ? "Somebody" : theirs(place.by)} approved already. You share one approval, so there is nothing to do for you.`;
    case "other_stage":
      return place.stage > openStageOf(voting)
        ? `You are asked later, in stage ${place.stage}.`
        : `Stage ${place.stage} is complete. Your approval isn’t needed for stage ${openStageOf(voting)}.`;
    case "not_asked":
      return "You are not asked about it just now.";
    default:
      return place satisfies never;
  }
}

/** What became of a vote that is recorded. */
export function votedSaid(
  voting: VotingRecord,
  { verdict, at, for: person }: Extract<ReviewerPlace, { kind: "voted" }>,
): string {
  const when = instantInWords(new Date(at));
  if (verdict === "reject") return `You rejected this on ${when}.`;
  const forWhom = person === null ? "" : ` in place of ${theirs(person)}`;
  const ahead = voting.isStuck ? stuck : (aheadSaid(voting, 0) ?? "");
  return `You approved this${forWhom} on ${when}. ${ahead}`.trimEnd();
}

export type StageLine = { line: string; votes: { said: string; note: string | null }[] };

/** Who has approved exactly this text; nothing where one approval of one person is enough. */
export function stageLines(voting: VotingRecord): StageLine[] {
  if (!isCounted(voting)) return [];
  const { stages } = voting;
  return stages.map((stage) => {
    const votes = countedIn(voting, stage.number);
    const which = stages.length === 1 ? "" : `Stage ${stage.number} of ${stages.length}, `;
    return {
      line: `Approvals: ${which}${nameOf(stage)}, ${votes.length} of ${stage.required} approved`,
      votes: votes.map(({ voterEmail, forEmail, at, note }) => ({
        said: `${theirs(voterEmail)} approved${forEmail === null ? "" : ` in place of ${theirs(forEmail)}`} on ${instantInWords(at)}`,
        note,
      })),
    };
  });
}

const stuck =
  "Too few different people are left who can approve this, so nothing is approved. The owners of the workspace know.";

/** Where one approval is enough, nothing is counted. */
function isCounted({ stages }: VotingRecord): boolean {
  return stages.length > 1 || stages.some(({ required }) => required > 1);
}

/** Who has to approve after so many more approvals in the open stage; null once nobody has. */
function aheadSaid(voting: VotingRecord, more: number): string | null {
  const open = openStageOf(voting);
  const missing = voting.stages.map((stage) => ({
    stage,
    count:
      stage.required - countedIn(voting, stage.number).length - (stage.number === open ? more : 0),
  }));
  const [first, ...later] = missing.filter(({ count }) => count > 0);
  if (first === undefined) return null;
  const people = first.count === 1 ? "1 more person" : `${first.count} more people`;
  const where =
    voting.stages.length === 1
      ? ofGroup(first.stage)
      : ` in stage ${first.stage.number}, ${nameOf(first.stage)},`;
  const then = later.map(({ stage }) => nameOf(stage)).join(", then ");
  return `${people}${where} must approve${then === "" ? "" : `; then ${then} is asked`}.`;
}

function somebodyElse(voting: VotingRecord): string {
  const stage = voting.stages[openStageOf(voting) - 1];
  return `somebody else${stage === undefined ? "" : ofGroup(stage)}`;
}

function ofGroup(stage: StageRecord): string {
  return stage.groupId === null ? "" : ` of ${nameOf(stage)}`;
}

function nameOf({ groupName, notify }: StageRecord): string {
  return groupName === null ? theirs(notify) : `“${theirs(groupName)}”`;
}
