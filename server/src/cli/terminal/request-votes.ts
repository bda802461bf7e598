// How far several people are with a request, as lines for a terminal.

import type { approvalsOf } from "../../domain/approval/voting-record.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import { toTerminalText } from "../../domain/shown/text/visible-text.ts";

type Approvals = ReturnType<typeof approvalsOf>;
type Stage = Approvals["stages"][number];
type Vote = Stage["votes"][number];

/** None where one person decides. */
export function voteLines(voting: JsonText | null): string[] {
  if (voting === null) return [];
  const approvals = JSON.parse(voting) as Approvals;
  return approvals.stages.flatMap((stage, at) => stageLines(stage, at + 1, approvals));
}

function stageLines(
  { notify, required, votes }: Stage,
  number: number,
  { stage: open, revision }: Approvals,
): string[] {
  const counts = (vote: Vote) => vote.verdict === "approve" && vote.revision === revision;
  const name = `stage ${number}${number === open ? "*" : ""}`.padEnd(10);
  const head = `  ${name}  ${toTerminalText(notify)}: ${votes.filter(counts).length} of ${required} approved`;
  return [head, ...votes.map((vote) => `              ${voteText(vote, counts(vote))}`)];
}

function voteText(vote: Vote, isCounted: boolean): string {
  const { email, verdict, revision, at, note, for: person } = vote;
  const isOld = verdict === "approve" && !isCounted;
  const parts = [
    `${at} ${verdict} ${email}`,
    ...(person === null ? [] : [`for ${person}`]),
    `(revision ${revision}${isOld ? ", no longer counts" : ""})`,
    ...(note === null ? [] : [JSON.stringify(note)]),
  ];
  return parts.map((part) => toTerminalText(part)).join(" ");
}
