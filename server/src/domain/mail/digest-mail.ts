// The mail that asks one person for many decisions at once. Each request in it says the same as its own mail, in
// fewer words of ours, and keeps its own link and code.

import { formatReviewCode } from "../access/review-code.ts";
import { digestHtmlBytesMax, digestRequestsMax } from "../limits.ts";
import { htmlOfBlock } from "./html-part.ts";
import type { Block, Fact, ListedRequest, Quote, Words } from "./letter.ts";
import { addressWord, type MailContent, originOf, type ReviewFacts, toContent } from "./mail.ts";
import { subjectOf } from "./subject.ts";
import { instantInWords } from "./times.ts";

export type DigestRequest = Pick<
  ReviewFacts,
  "summary" | "agentName" | "groupName" | "expiresAt" | "reviewUrl" | "reviewCode"
> & {
  /** Its time is running out, and it was mailed before. */
  isReminder: boolean;
};

export type DigestFacts = Pick<ReviewFacts, "workspaceName" | "approverEmail" | "publicUrl"> & {
  requests: readonly DigestRequest[];
};

/** The request that ends first stands first. */
export function digestMail({
  requests,
  workspaceName,
  approverEmail,
  publicUrl,
}: DigestFacts): MailContent {
  const count = requests.length;
  const ours = `${count} requests are waiting for your decision`;
  const sorted = requests.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const first = sorted[0]?.expiresAt ?? new Date(0);
  return toContent(subjectOf(ours, workspaceName, " in "), {
    heading: `${ours}.`,
    preview: `Decide the first by ${instantInWords(first)}.`,
    blocks: [
      {
        kind: "paragraph",
        words: [
          "Automated agents asked for them within a short time, so this mail lists them together. Without a decision nothing is approved.",
        ],
      },
      ...codeParagraph(requests),
      { kind: "facts", facts: [{ label: "Workspace", words: [{ theirs: workspaceName }] }] },
      ...sorted.map((request, index) => requestBlock(request, `Request ${index + 1} of ${count}`)),
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
  const { summary, agentName, groupName, expiresAt, reviewUrl, reviewCode, isReminder } = request;
  const agent: Quote[] =
    agentName === null
      ? []
      : [{ label: "Agent name, unverified", text: agentName, isMultiLine: false }];
  const group: Fact[] =
    groupName === null ? [] : [{ label: "Approver group", words: [{ theirs: groupName }] }];
  return {
    kind: "request",
    title: isReminder ? `${name}: reminder, time is running out` : name,
    quotes: [{ label: "The agent wrote", text: summary, isMultiLine: true }, ...agent],
    facts: [...group, { label: "Decide by", words: [instantInWords(expiresAt)] }],
    code: reviewCode === null ? null : { label: "Your code", code: formatReviewCode(reviewCode) },
    link: { label: "Review request", url: reviewUrl },
  };
}
