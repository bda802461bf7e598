// Mails as subject, text and HTML, and first of all those that ask for a decision. Pure: the same facts give the same
// bytes, so that a mail that is sent again is the same mail. The agent's text is quoted as its words. A mail never
// shows payload, reasoning or state: those are for the review page. The only exception is an edit by another approver,
// which is told to those whose approval no longer counts.

import { formatReviewCode } from "../access/review-code.ts";
import { addressWord } from "./address-word.ts";
import { htmlPart } from "./html-part.ts";
import type { Block, Letter, Quote, Words } from "./letter.ts";
import { subjectOf } from "./subject.ts";
import { textPart } from "./text-part.ts";
import { instantInWords, spanInWords } from "./times.ts";
import {
  groupRole,
  type MailedVoting,
  roleWords,
  standInWords,
  votingFacts,
} from "./voting-words.ts";

export type MailContent = { subject: string; text: string; html: string };

export type ReviewFacts = {
  summary: string;
  agentName: string | null;
  workspaceName: string;
  approverEmail: string;
  /** The group through which this approver is asked; null when the request names them directly. */
  groupName: string | null;
  createdAt: Date;
  expiresAt: Date;
  reviewUrl: string;
  /** The page asks for this code; null when the link alone is enough. */
  reviewCode: string | null;
  publicUrl: string;
  /** Only where several people may have a say, or somebody stands in for another. */
  voting?: MailedVoting;
};

export function reviewMail(facts: ReviewFacts): MailContent {
  return toContent(subjectOf("Review requested", facts.summary), {
    heading: "An automated agent asks for your decision.",
    preview: `It is waiting until ${instantInWords(facts.expiresAt)}.`,
    ...reviewBody(facts),
  });
}

/** Sent when a tenth of the time is left. It names no time left, because it may arrive late. */
export function reminderMail(facts: ReviewFacts): MailContent {
  return toContent(subjectOf("Reminder", facts.summary), {
    heading: "Time is running out: an automated agent is still waiting for your decision.",
    preview: `Nobody has decided yet. It is waiting until ${instantInWords(facts.expiresAt)}.`,
    ...reviewBody(facts),
  });
}

/** `opening` stands before the agent's words, and `news` after them. By default it says for whom the reader stands in. */
export function reviewBody(
  facts: ReviewFacts,
  {
    opening = standInBlocks(facts),
    news = [],
  }: { opening?: readonly Block[]; news?: readonly Block[] } = {},
): Pick<Letter, "blocks" | "footer"> {
  return {
    blocks: [
      ...opening,
      { kind: "quotes", quotes: agentQuotes(facts) },
      ...news,
      {
        kind: "facts",
        facts: [
          { label: "Workspace", words: [{ theirs: facts.workspaceName }] },
          { label: "Asked", words: [instantInWords(facts.createdAt)] },
          {
            label: "Decide by",
            words: [instantInWords(facts.expiresAt)],
            detail: `${spanInWords(facts.createdAt, facts.expiresAt)} after it was asked. Without a decision nothing is approved.`,
          },
          ...(facts.voting === undefined ? [] : votingFacts(facts.voting)),
        ],
      },
      ...codeBlocks(facts),
      { kind: "button", label: "Review request", url: facts.reviewUrl },
    ],
    footer: reviewFooter(facts),
  };
}

export function agentQuotes({ summary, agentName }: ReviewFacts): Quote[] {
  const name: Quote[] =
    agentName === null
      ? []
      : [{ label: "Agent name, unverified", text: agentName, isMultiLine: false }];
  return [{ label: "The agent wrote", text: summary, isMultiLine: true }, ...name];
}

export function standInBlocks({ voting }: ReviewFacts): Block[] {
  const words = voting === undefined ? [] : standInWords(voting);
  return words.length === 0 ? [] : [{ kind: "paragraph", words }];
}

export function codeBlocks({ reviewCode }: ReviewFacts): Block[] {
  if (reviewCode === null) return [];
  const words = ["The review page will ask for it. Countersign asks for it nowhere else."];
  return [{ kind: "code", label: "Your code", code: formatReviewCode(reviewCode), words }];
}

export function reviewFooter({
  workspaceName,
  groupName,
  approverEmail,
  publicUrl,
  voting,
}: ReviewFacts): Words[] {
  const role = voting === undefined ? groupRole(groupName) : roleWords(voting);
  return [
    [
      "You get this mail at ",
      addressWord(approverEmail),
      " because ",
      ...role,
      " in the workspace “",
      { theirs: workspaceName },
      "”. The link is yours alone: do not pass it on.",
    ],
    [
      `The page it opens must be at ${originOf(publicUrl)}. Opening it decides nothing, and Countersign never asks for a password.`,
    ],
  ];
}

export function originOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

export function toContent(subject: string, letter: Letter): MailContent {
  return { subject, text: textPart(letter), html: htmlPart(letter) };
}
