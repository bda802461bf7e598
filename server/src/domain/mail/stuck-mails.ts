// The mails to a workspace's owners about a request that can't go on by itself: too few people are left who could approve
// it, or nobody of the open stage could be reached.

import { requestNoticesPerDayMax } from "../approval/voting-limits.ts";
import type { Block, Fact, Quote, Words } from "./letter.ts";
import { type MailContent, toContent } from "./mail.ts";
import { ownersFooter } from "./owner-mails.ts";
import { subjectOf } from "./subject.ts";
import { instantInWords } from "./times.ts";
import { type MailedPerson, type MailedStage, peopleWords, stageName } from "./voting-words.ts";

type RequestFacts = {
  workspaceName: string;
  workspaceId: string;
  approvalId: string;
  summary: string;
  expiresAt: Date;
  publicUrl: string;
};

/** Who may still vote in a stage. `left` is null before the stage was entered: its people are fixed then. */
export type StuckStage = MailedStage & { left: { named: MailedPerson[]; count: number } | null };

/** To the workspace's owners: however everybody votes who still can, it won't be approved. */
export function stuckMail(facts: RequestFacts & { stages: readonly StuckStage[] }): MailContent {
  return toContent(subjectOf("Too few approvers left", facts.summary), {
    heading: "A request can’t be approved any more.",
    preview: "Too few different people are left who could approve it.",
    blocks: [
      paragraph([
        "Too few different people are left who could approve it. One person counts once, in whatever stage. It stays pending until somebody rejects or cancels it, or it expires; nothing is approved.",
      ]),
      { kind: "quotes", quotes: [agentQuote(facts)] },
      { kind: "facts", facts: [...identity(facts), ...facts.stages.map(stageFact)] },
      paragraph([
        "Cancel the request and have the agent ask enough people, or let somebody who was removed by mistake into the group again.",
      ]),
      ...requestButton(facts),
    ],
    footer: ownersFooter(facts),
  });
}

function stageFact(stage: StuckStage, index: number): Fact {
  const { required, approved, left } = stage;
  const progress = `: ${approved} of ${required} approved`;
  const people: Words =
    left === null || approved >= required
      ? []
      : left.count === 0
        ? ["; nobody is left who could"]
        : ["; left: ", ...peopleWords(left.named, left.count)];
  return { label: `Stage ${index + 1}`, words: [...stageName(stage), progress, ...people] };
}

export type UnreachableFacts = RequestFacts & {
  /** From 1 on; null where there is only one. */
  stage: number | null;
  people: { named: readonly MailedPerson[]; count: number };
  /** The last answer of the mail server, or null when it gave none. */
  answer: string | null;
};

/** To the workspace's owners: no mail to anybody who could vote just now was delivered. */
export function unreachableMail(facts: UnreachableFacts): MailContent {
  const { stage, people, answer } = facts;
  const quotes: Quote[] =
    answer === null ? [] : [{ label: "The mail server answered", text: answer, isMultiLine: true }];
  return toContent(subjectOf("Nobody reached", facts.summary), {
    heading: "Nobody who is asked for a decision could be reached.",
    preview: `The request stays pending until ${instantInWords(facts.expiresAt)}.`,
    blocks: [
      paragraph([
        "No mail to anybody who could vote just now was delivered, so nobody may know of this request. It stays pending until it expires. Without a decision nothing is approved.",
      ]),
      { kind: "quotes", quotes: [agentQuote(facts), ...quotes] },
      {
        kind: "facts",
        facts: [
          ...identity(facts),
          ...(stage === null ? [] : [{ label: "Stage", words: [String(stage)] }]),
          { label: "Asked", words: peopleWords(people.named, people.count) },
        ],
      },
      paragraph([
        "If the addresses are wrong, cancel this request and have the agent ask somebody else. If they are right, see what was tried and send the mails again.",
      ]),
      ...requestButton(facts),
    ],
    footer: ownersFooter(facts),
  });
}

function agentQuote({ summary }: RequestFacts): Quote {
  return { label: "The agent wrote", text: summary, isMultiLine: true };
}

function identity({ workspaceName, approvalId, expiresAt }: RequestFacts): Fact[] {
  return [
    { label: "Workspace", words: [{ theirs: workspaceName }] },
    { label: "Request", words: [approvalId] },
    { label: "Expires", words: [instantInWords(expiresAt)] },
  ];
}

function requestButton({ publicUrl, workspaceId, approvalId }: RequestFacts): Block[] {
  const url = `${publicUrl}/app/w/${workspaceId}/requests/${approvalId}`;
  return [
    { kind: "button", label: "Open the request", url },
    paragraph([`You get at most ${requestNoticesPerDayMax} such mails a day.`]),
  ];
}

function paragraph(words: Words): Block {
  return { kind: "paragraph", words };
}
