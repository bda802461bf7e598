// How far several people are, in sentences: who still has to approve, what the reader may do, and what follows from it.

import type { ReviewerPlace } from "../../../../server/src/domain/shown/reviewer-place.ts";
import type {
  ReviewStage,
  ReviewVote,
  ReviewVoting,
} from "../../../../server/src/wire/review-contract.ts";
import { words } from "../../look/words.ts";
import { openStageOf } from "./rights.ts";

/** Our own words, and between them addresses and names that aren't ours. */
export type Said = readonly (string | { theirs: string })[];

export function countOf({ required, approvals }: ReviewStage): string {
  return words.voting.count({ given: approvals.length, required });
}

/** Whose count it is; nothing where there is one stage only. */
export function countedIn({ stages, stage }: ReviewVoting): string {
  return stages.length === 1 ? "" : words.voting.countedIn(stage);
}

/** Null where the page's own heading fits. */
export function headingOf({ you, stage, isStuck }: ReviewVoting): string | null {
  const { headings } = words.voting;
  if (isStuck) return headings.stuck;
  switch (you.kind) {
    case "asked":
      return null;
    case "voted":
      return you.verdict === "approve" ? headings.approved : headings.rejected;
    case "needed_later":
      return headings.neededLater(you.stage);
    case "handed_over":
      return headings.handedOver;
    case "seat_taken":
      return headings.seatTaken;
    case "other_stage":
      return you.stage > stage ? headings.later(you.stage) : headings.earlier(you.stage);
    case "not_asked":
      return headings.notAsked;
    default:
      return you satisfies never;
  }
}

/** What the reader may do here, and why; null if the heading says it all. */
export function placeSaid(voting: ReviewVoting): Said | null {
  const { place } = words.voting;
  const { you, stage } = voting;
  switch (you.kind) {
    case "asked":
      return you.for === null ? null : [place.inPlaceOf, theirs(you.for), place.countOnce];
    case "voted":
      return votedSaid(voting, you);
    case "needed_later":
      return [
        place.neededIn(you.stage),
        theirs(voting.stages[you.stage - 1]?.name ?? ""),
        place.somebodyElse,
        ...membersSaid(openStageOf(voting)),
        place.mustApproveHere,
      ];
    case "handed_over":
      return [place.gaveTo, theirs(you.to), place.notYours];
    case "seat_taken":
      return [
        you.by === "" ? words.voting.newText.somebody : theirs(you.by),
        place.approvedAlready,
      ];
    case "other_stage":
      return [you.stage > stage ? place.askedOnce(you.stage - 1) : place.earlier(stage)];
    case "not_asked":
      return [place.notAsked];
    default:
      return you satisfies never;
  }
}

function votedSaid(voting: ReviewVoting, you: Extract<ReviewerPlace, { kind: "voted" }>): Said {
  const { place } = words.voting;
  if (you.verdict === "reject") return [place.rejection];
  const recorded =
    you.for === null ? [place.recorded] : [place.recordedFor, theirs(you.for), place.isRecorded];
  return [...recorded, ...(voting.isStuck ? [] : aheadSaid(voting))];
}

/** Who still has to approve, stage by stage; empty once nobody has. */
export function aheadSaid(voting: ReviewVoting): Said {
  const { stages, stage } = voting;
  const open = openStageOf(voting);
  const missing = open === null ? 0 : Math.max(0, open.required - open.approvals.length);
  const later = laterSaid(stages.slice(stage));
  if (open === null || missing === 0) return [];
  const { more, mustApprove, end } = words.voting;
  return [more(missing), ...stageSaid(voting, open), mustApprove, ...later, end];
}

function stageSaid({ stages, stage }: ReviewVoting, open: ReviewStage): Said {
  if (stages.length === 1) return membersSaid(open);
  return [words.voting.inStage(stage), theirs(open.name), ","];
}

function membersSaid(stage: ReviewStage | null): Said {
  return stage?.isGroup ? [words.voting.of, theirs(stage.name)] : [];
}

function laterSaid(stages: readonly ReviewStage[]): Said {
  const { thenBefore, alsoThen, isAsked } = words.voting;
  // An approver who edits in a later stage has completed it before the earlier ones.
  const asked = stages.filter(({ required, approvals }) => approvals.length < required);
  return asked.flatMap(({ name }, at) =>
    at === 0 ? [thenBefore, theirs(name), isAsked] : [alsoThen, theirs(name)],
  );
}

/** What an approval would lead to; `changes` are the reader's own, in words, and null if there are none. */
export function approvalSaid(
  voting: ReviewVoting,
  { changes, hasPayload }: { changes: string | null; hasPayload: boolean },
): Said {
  const { confirm } = words.voting;
  if (changes !== null) return [editSaid(voting, changes)];
  if (voting.isStuck)
    return [hasPayload ? confirm.counts : confirm.countsNoPayload, words.voting.stuck];
  const ahead = aheadSaid(withOneMore(voting));
  if (ahead.length === 0) return [hasPayload ? confirm.last : confirm.lastNoPayload];
  return [hasPayload ? confirm.counts : confirm.countsNoPayload, ...ahead];
}

/** An edit starts over: only its own approval counts for the new text. */
function editSaid({ stages }: ReviewVoting, changes: string): string {
  const { confirm } = words.voting;
  const given = stages.reduce((sum, { approvals }) => sum + approvals.length, 0);
  const needed = stages.reduce((sum, { required }) => sum + required, 0) - 1;
  const parts = [
    confirm.changed(changes),
    given === 0 ? "" : confirm.voids(given),
    needed === 0 ? confirm.needsNone : confirm.needs(needed),
  ];
  return parts.join("");
}

/** As if the reader had approved: the stage that is open then, and who is missing in it. */
function withOneMore(voting: ReviewVoting): ReviewVoting {
  const mine: ReviewVote = { email: "", at: "", note: null, for: null, isYours: true };
  const stages = voting.stages.map((stage, at) =>
    at === voting.stage - 1 ? { ...stage, approvals: [...stage.approvals, mine] } : stage,
  );
  const next = stages.findIndex(({ required, approvals }) => approvals.length < required);
  return { ...voting, stages, stage: next === -1 ? stages.length : next + 1 };
}

function theirs(text: string): { theirs: string } {
  return { theirs: text };
}
