// The mails that ask again, or ask somebody else, while several people decide about a request; and the one that tells
// them how it ended.

import type { AskingKind } from "../approval/event.ts";
import { addressWord } from "./address-word.ts";
import type { Block, Fact, Quote, Words } from "./letter.ts";
import {
  agentQuotes,
  codeBlocks,
  type MailContent,
  type ReviewFacts,
  reminderMail,
  reviewBody,
  reviewFooter,
  reviewMail,
  standInBlocks,
  toContent,
} from "./mail.ts";
import { describeChanges } from "./payload-changes.ts";
import { subjectOf } from "./subject.ts";
import { instantInWords, minutesInWords } from "./times.ts";
import { bothCount, type MailedPerson, peopleWords } from "./voting-words.ts";

/** What the row of the event says beside how far they are. */
export type AskingFacts = ReviewFacts & {
  /** The reader has got a mail about this request before. */
  isAgain: boolean;
  /** Who passed a vote on, and to whom; null when nobody did. */
  handOver: { byEmail: string; toEmail: string } | null;
  /** After how many minutes without a decision it was escalated. */
  afterMinutes: number | null;
  change: MailedChange | null;
};

/** An edit that made its reader's approval void. */
export type MailedChange = {
  byEmail: string;
  at: Date;
  /** Both payloads as JSON texts; null when they are too large for a mail. */
  texts: { before: string; after: string } | null;
};

export function askingMail(kind: AskingKind, facts: AskingFacts): MailContent {
  switch (kind) {
    case "request.created":
      return reviewMail(facts);
    case "request.expiring":
      return reminderMail(facts);
    case "request.stage_entered":
      return stageMail(facts);
    case "request.escalated":
      return escalatedMail(facts);
    case "request.reassigned":
      return reassignedMail(facts);
    case "request.changed":
      return changedMail(facts);
    case "request.reminded":
      return remindedMail(facts);
    default:
      return kind satisfies never;
  }
}

function stageMail(facts: AskingFacts): MailContent {
  const { isAgain } = facts;
  return toContent(subjectOf(`Review requested${isAgain ? " again" : ""}`, facts.summary), {
    heading: isAgain
      ? "An automated agent asks for your decision again."
      : "An automated agent asks for your decision.",
    preview: `Your stage is open. It is waiting until ${instantInWords(facts.expiresAt)}.`,
    ...reviewBody(facts),
  });
}

function escalatedMail(facts: AskingFacts): MailContent {
  const { afterMinutes } = facts;
  const after = afterMinutes === null ? "" : ` for ${minutesInWords(afterMinutes)}`;
  const why: Words = [
    `It has waited${after} without a decision, so you are asked as well. Those who were asked before may still vote.`,
  ];
  return toContent(subjectOf("Escalated to you", facts.summary), {
    heading: "A request was escalated to you.",
    preview: `Nobody has decided yet. It is waiting until ${instantInWords(facts.expiresAt)}.`,
    ...reviewBody(facts, { opening: [paragraph(why), ...standInBlocks(facts)] }),
  });
}

function reassignedMail(facts: AskingFacts): MailContent {
  const preview = `It is waiting until ${instantInWords(facts.expiresAt)}.`;
  const { handOver } = facts;
  const opening =
    handOver === null ? standInBlocks(facts) : [paragraph(handOverWords(facts, handOver))];
  if (facts.voting?.seat.reason === "away") {
    return toContent(subjectOf("In place of a colleague", facts.summary), {
      heading: "You are asked in place of a colleague who is away.",
      preview,
      ...reviewBody(facts, { opening }),
    });
  }
  return toContent(subjectOf("Handed over to you", facts.summary), {
    heading: "A colleague handed their vote over to you.",
    preview,
    ...reviewBody(facts, { opening }),
  });
}

/** Whoever gets it may be away themselves: then their delegate is the reader. */
function handOverWords(
  { voting }: AskingFacts,
  { byEmail, toEmail }: NonNullable<AskingFacts["handOver"]>,
): Words {
  const person = voting?.seat.person ?? byEmail;
  const isDelegate = voting?.seat.reason === "away";
  return [
    addressWord(byEmail),
    " handed ",
    ...(byEmail === person ? ["their vote"] : ["the vote of ", addressWord(person)]),
    " on this request over to ",
    ...(isDelegate ? [addressWord(toEmail), `, who is away. ${bothCount}`] : ["you."]),
  ];
}

function changedMail(facts: AskingFacts): MailContent {
  const { change } = facts;
  const by: Words = change === null ? ["Somebody"] : [addressWord(change.byEmail)];
  const at = change === null ? "" : ` on ${instantInWords(change.at)}`;
  const why: Words = [
    ...by,
    ` changed the payload${at}, and approved it like that. Your approval of the earlier payload no longer counts, so you are asked again: now, or once the stages before yours are complete.`,
  ];
  const opening = [paragraph(why), ...standInBlocks(facts)];
  return toContent(subjectOf("Changed, review again", facts.summary), {
    heading: "The payload was changed after you approved it.",
    preview: "Your approval of the earlier payload no longer counts.",
    ...reviewBody(facts, { opening, news: changeBlocks(change) }),
  });
}

function changeBlocks(change: MailedChange | null): Block[] {
  const onPage = "The review page shows what was changed.";
  if (change === null || change.texts === null) return [paragraph([onPage])];
  const { quotes, more } = describeChanges(change.texts.before, change.texts.after);
  if (quotes.length === 0) return [paragraph([onPage])];
  const rest = more === 1 ? "1 more change is" : `${more} more changes are`;
  return [
    { kind: "quotes", quotes },
    ...(more === 0 ? [] : [paragraph([`${rest} not told here. ${onPage}`])]),
  ];
}

/** Somebody asked us to remind everybody who has not voted. */
function remindedMail(facts: AskingFacts): MailContent {
  return toContent(subjectOf("Reminder", facts.summary), {
    heading: "An automated agent is still waiting for your decision.",
    preview: `It is waiting until ${instantInWords(facts.expiresAt)}.`,
    ...reviewBody(facts),
  });
}

export type OutcomeFacts = ReviewFacts & { outcome: MailedOutcome };

export type MailedOutcome = {
  status: "APPROVED" | "REJECTED" | "EXPIRED" | "CANCELLED";
  at: Date;
  /** Whose vote decided; null when none did. */
  byEmail: string | null;
  note: string | null;
  /** An approver changed the payload, and that is what was approved. */
  isEdited: boolean;
  /** Who approved what was decided, in order; at most `mailedPeopleMax` of them. */
  approvers: readonly MailedPerson[];
  approverCount: number;
};

export function outcomeMail(facts: OutcomeFacts): MailContent {
  const { outcome } = facts;
  const words = outcomeWords[outcome.status];
  const note: Quote[] =
    outcome.note === null
      ? []
      : [{ label: "Note with the decision", text: outcome.note, isMultiLine: true }];
  return toContent(subjectOf(words.subject, facts.summary), {
    heading: words.heading,
    preview: words.meaning,
    blocks: [
      paragraph([words.meaning]),
      { kind: "quotes", quotes: [...agentQuotes(facts), ...note] },
      {
        kind: "facts",
        facts: [
          { label: "Workspace", words: [{ theirs: facts.workspaceName }] },
          ...outcomeFacts(outcome),
        ],
      },
      ...codeBlocks(facts),
      { kind: "button", label: "See the outcome", url: facts.reviewUrl },
    ],
    footer: reviewFooter(facts),
  });
}

const outcomeWords = {
  APPROVED: {
    subject: "Approved",
    heading: "A request that you were asked about was approved.",
    meaning: "Nothing is left for you to do. The agent may carry it out now.",
  },
  REJECTED: {
    subject: "Rejected",
    heading: "A request that you were asked about was rejected.",
    meaning: "Nothing is left for you to do. The agent was told not to carry it out.",
  },
  EXPIRED: {
    subject: "Expired",
    heading: "A request that you were asked about has expired.",
    meaning: "Too few people approved in time, so nothing was approved.",
  },
  CANCELLED: {
    subject: "Cancelled",
    heading: "A request that you were asked about was cancelled.",
    meaning: "Nothing is left for you to do. Nothing was approved.",
  },
} as const;

/** For the mail, and for the request's place in a digest. */
export function outcomeFacts(outcome: MailedOutcome): Fact[] {
  const { status, at, byEmail, isEdited, approvers, approverCount } = outcome;
  const { subject } = outcomeWords[status];
  const by: Words = byEmail === null ? [] : [" by ", addressWord(byEmail)];
  const isTold = status === "APPROVED" ? approverCount > 1 : approverCount > 0;
  return [
    { label: "Outcome", words: [subject, ...by] },
    { label: "Time", words: [instantInWords(at)] },
    ...(isTold ? [{ label: "Approvals", words: peopleWords(approvers, approverCount) }] : []),
    ...(isEdited
      ? [{ label: "Payload", words: ["Changed by an approver. The page shows what was approved."] }]
      : []),
  ];
}

function paragraph(words: Words): Block {
  return { kind: "paragraph", words };
}
