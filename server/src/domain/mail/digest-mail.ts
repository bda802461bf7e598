// The mail that asks one person for many decisions at once. Each request in it says the same as its own mail, in
// fewer words of ours, and keeps its own link and code.

import { formatReviewCode } from "../access/review-code.ts";
import { digestHtmlBytesMax, digestRequestsMax } from "../limits.ts";
import { addressWord } from "./address-word.ts";
import { htmlOfBlock } from "./html-part.ts";
import type { Block, Fact, ListedRequest, Quote, Words } from "./letter.ts";
import { type MailContent, originOf, type ReviewFacts, toContent } from "./mail.ts";
import { subjectOf } from "./subject.ts";
import { instantInWords } from "./times.ts";
import { type MailedOutcome, outcomeFacts } from "./voting-mails.ts";
import { type MailedVoting, votingFacts } from "./voting-words.ts";

export type DigestRequest = Pick<
  ReviewFacts,
  "summary" | "agentName" | "groupName" | "expiresAt" | "reviewUrl" | "reviewCode"
> & {
  /** Why it is listed, where it isn't simply asked: its time is running out, it was changed, it is over. */
  news: string | null;
  voting?: MailedVoting;
  /** Only once it is over. */
  outcome?: MailedOutcome;
};

export type DigestFacts = Pick<ReviewFacts, "workspaceName" | "approverEmail" | "publicUrl"> & {
  requests: readonly DigestRequest[];
};

/** The request that ends first stands first, and those that are over stand last. */
export function digestMail({
  requests,
  workspaceName,
  approverEmail,
  publicUrl,
}: DigestFacts): MailContent {
  const count = requests.length;
  const isWaiting = ({ outcome }: DigestRequest) => outcome === undefined;
  const waiting = requests
    .filter(isWaiting)
    .toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const ended = requests.filter((request) => !isWaiting(request));
  const isOver = waiting.length === 0 && ended.length > 0;
  const first = waiting[0]?.expiresAt ?? new Date(0);
  const ours = isOver ? endedWords(count) : waitingWords(waiting.length);
  return toContent(subjectOf(ours, workspaceName, " in "), {
    heading: `${ours}.`,
    preview: isOver
      ? "Nothing is left for you to do."
      : `Decide the first by ${instantInWords(first)}.`,
    blocks: [
      { kind: "paragraph", words: [introOf(waiting.length, ended.length)] },
      ...codeParagraph(requests),
      { kind: "facts", facts: [{ label: "Workspace", words: [{ theirs: workspaceName }] }] },
      ...[...waiting, ...ended].map((request, index) =>
        requestBlock(request, `Request ${index + 1} of ${count}`),
      ),
    ],
    footer: [
      [
        "You get this mail at ",
        addressWord(approverEmail),
        " because agents in the workspace “",
        { theirs: workspaceName },
        "” ask for your decision. The links are yours alone: do not pass them on.",
      ],
      [
        `The pages they open must be at ${originOf(publicUrl)}. Opening one decides nothing, and Countersign never asks for a password.`,
      ],
    ],
  });
}

function waitingWords(count: number): string {
  const who = count === 1 ? "1 request is" : `${count} requests are`;
  return `${who} waiting for your decision`;
}

function endedWords(count: number): string {
  return count === 1 ? "1 request has ended" : `${count} requests have ended`;
}

function introOf(waiting: number, ended: number): string {
  if (waiting === 0 && ended > 0) {
    return "They ended within a short time, so this mail lists them together. Nothing is left for you to do.";
  }
  const over = ended === 0 ? "" : ` ${endedWords(ended)}: listed last.`;
  return `Automated agents asked for them within a short time, so this mail lists them together. Without a decision nothing is approved.${over}`;
}

/** How many requests, from the first on, fit into one digest: at least one, even if it is too large. */
export function countFitting({ requests, ...around }: DigestFacts): number {
  let bytes = Buffer.byteLength(digestMail({ ...around, requests: [] }).html) + bytesOfParagraph;
  const tooMuch = requests.findIndex((request) => {
    bytes += Buffer.byteLength(htmlOfBlock(requestBlock(request, "Request 99 of 99"))) + 1;
    return bytes > digestHtmlBytesMax;
  });
  const fitting = tooMuch === -1 ? requests.length : tooMuch;
  return Math.min(Math.max(fitting, 1), digestRequestsMax);
}

/** The paragraph about codes, if there are any. */
const bytesOfParagraph = 512;

function codeParagraph(requests: readonly DigestRequest[]): Block[] {
  if (requests.every(({ reviewCode }) => reviewCode === null)) return [];
  const words: Words = [
    "A review page asks for the code of its request. Countersign asks for it nowhere else.",
  ];
  return [{ kind: "paragraph", words }];
}

function requestBlock(request: DigestRequest, name: string): { kind: "request" } & ListedRequest {
  const { summary, agentName, reviewUrl, reviewCode, news, outcome } = request;
  const agent: Quote[] =
    agentName === null
      ? []
      : [{ label: "Agent name, unverified", text: agentName, isMultiLine: false }];
  return {
    kind: "request",
    title: news === null ? name : `${name}: ${news}`,
    quotes: [{ label: "The agent wrote", text: summary, isMultiLine: true }, ...agent],
    facts: outcome === undefined ? waitingFacts(request) : outcomeFacts(outcome),
    code: reviewCode === null ? null : { label: "Your code", code: formatReviewCode(reviewCode) },
    link: { label: outcome === undefined ? "Review request" : "See the outcome", url: reviewUrl },
  };
}

function waitingFacts({ groupName, expiresAt, voting }: DigestRequest): Fact[] {
  const deadline: Fact = { label: "Decide by", words: [instantInWords(expiresAt)] };
  if (voting === undefined) {
    const group = groupName === null ? [] : [{ theirs: groupName }];
    return group.length === 0 ? [deadline] : [{ label: "Approver group", words: group }, deadline];
  }
  const { reason, person } = voting.seat;
  const isStandIn = reason === "away" || reason === "handed_over";
  return [
    ...(isStandIn ? [{ label: "In place of", words: [addressWord(person)] }] : []),
    deadline,
    ...votingFacts(voting),
  ];
}
