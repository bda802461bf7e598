// How the index of words writes a word: with the number of its season before it. Names and statuses that lists are
// filtered by are words, too, of a form that no text has.

import type { ApprovalStatus } from "../../domain/approval/approval.ts";

const seasonStart = "req_".length;
const seasonDigits = 5;

/** The first digits of an id's time: about three days. */
export function seasonOf(id: string): string {
  return id.slice(seasonStart, seasonStart + seasonDigits);
}

export function lexemeOf(seasonNumber: number, word: string): string {
  return `${seasonNumber.toString(36)} ${word}`;
}

/** Empty for an approval without a name. As JSON, because a name may hold line breaks. */
export function agentLexeme(agentName: string): string {
  return `=agent ${JSON.stringify(agentName)}`;
}

/** An address, or the id of a group. */
export function approverLexeme(approver: string): string {
  return `=approver ${approver.toLowerCase()}`;
}

export function deciderLexeme(email: string): string {
  return `=decider ${email.toLowerCase()}`;
}

export function statusLexeme(status: ApprovalStatus): string {
  return `=status ${status}`;
}
