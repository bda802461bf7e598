// The mails to a workspace's owners: something needs them that nobody else would notice.

import type { Block, Quote, Words } from "./letter.ts";
import { addressWord, type MailContent, originOf, toContent } from "./mail.ts";
import { subjectOf } from "./subject.ts";
import { instantInWords } from "./times.ts";

export type EndpointFacts = {
  workspaceName: string;
  workspaceId: string;
  endpointId: string;
  endpointUrl: string;
  publicUrl: string;
};

export type FailingEndpointFacts = EndpointFacts & {
  failingSince: Date;
  disabledOnOrAfter: Date;
  /** How the last attempt went, in a few words. */
  lastOutcome: string;
};

export type DisabledEndpointFacts = EndpointFacts & {
  /** Null when it was disabled for another reason than failing for long. */
  failingSince: Date | null;
  disabledAt: Date;
  reason: string;
};

/** To the workspace's owners, at half of the time after which a failing endpoint is disabled. */
export function endpointFailingMail(facts: FailingEndpointFacts): MailContent {
  return toContent(subjectOf("Webhook endpoint failing", facts.workspaceName), {
    heading: "A webhook endpoint is failing and will be disabled.",
    preview: `No delivery has succeeded since ${instantInWords(facts.failingSince)}.`,
    blocks: [
      {
        kind: "paragraph",
        words: [
          "No delivery to this endpoint has succeeded for some time. If that doesn’t change, it will be disabled and get no more deliveries. One success keeps it.",
        ],
      },
      endpointFrame(facts, { label: "Last attempt", text: facts.lastOutcome, isMultiLine: false }),
      {
        kind: "facts",
        facts: [
          ...endpointIdentity(facts),
          { label: "Failing since", words: [instantInWords(facts.failingSince)] },
          {
            label: "Disabled on",
            words: [instantInWords(facts.disabledOnOrAfter), ", or soon after"],
          },
        ],
      },
      { kind: "paragraph", words: ["See each attempt and how it went:"] },
      {
        kind: "commands",
        commands: [`countersign delivery list --workspace ${facts.workspaceId} --failed`],
      },
    ],
    footer: ownersFooter(facts),
  });
}

export function endpointDisabledMail(facts: DisabledEndpointFacts): MailContent {
  const { failingSince, disabledAt } = facts;
  return toContent(subjectOf("Webhook endpoint disabled", facts.workspaceName), {
    heading: "A webhook endpoint has been disabled.",
    preview: "It gets no more deliveries until somebody enables it.",
    blocks: [
      {
        kind: "paragraph",
        words: [
          "It gets no more deliveries until somebody enables it. Nothing is lost: decisions are kept and can be read at any time, and missed deliveries can be sent again.",
        ],
      },
      endpointFrame(facts, { label: "Why", text: facts.reason, isMultiLine: false }),
      {
        kind: "facts",
        facts: [
          ...endpointIdentity(facts),
          ...(failingSince === null
            ? []
            : [{ label: "Failing since", words: [instantInWords(failingSince)] }]),
          { label: "Disabled at", words: [instantInWords(disabledAt)] },
        ],
      },
      {
        kind: "paragraph",
        words: ["Once it answers again, enable it and send what it missed:"],
      },
      {
        kind: "commands",
        commands: [
          `countersign webhook enable ${facts.endpointId}`,
          `countersign delivery resend-failed --workspace ${facts.workspaceId} --endpoint ${facts.endpointId} --since ${aMinuteBefore(failingSince ?? disabledAt)}`,
        ],
      },
    ],
    footer: ownersFooter(facts),
  });
}

export type RefusedMailFacts = {
  workspaceName: string;
  workspaceId: string;
  recipient: string;
  summary: string;
  approvalId: string;
  expiresAt: Date;
  /** The mail server's answer, or null when it gave none. */
  answer: string | null;
  publicUrl: string;
};

/** To the workspace's owners: an approver could not be reached, so nobody may know of an approval. */
export function mailRefusedMail(facts: RefusedMailFacts): MailContent {
  const answer: Quote[] =
    facts.answer === null
      ? []
      : [{ label: "The mail server answered", text: facts.answer, isMultiLine: true }];
  return toContent(subjectOf("Approver not reached", facts.summary), {
    heading: "A mail to an approver could not be delivered.",
    preview: `The request stays pending until ${instantInWords(facts.expiresAt)}.`,
    blocks: [
      {
        kind: "paragraph",
        words: [
          "The approver may not know that an agent is waiting for them. The request stays pending and can be read until it expires. Without a decision nothing is approved.",
        ],
      },
      {
        kind: "quotes",
        quotes: [{ label: "The agent wrote", text: facts.summary, isMultiLine: true }, ...answer],
      },
      {
        kind: "facts",
        facts: [
          { label: "Sent to", words: [addressWord(facts.recipient)] },
          { label: "Request", words: [facts.approvalId] },
          { label: "Workspace", words: [{ theirs: facts.workspaceName }] },
          { label: "Expires", words: [instantInWords(facts.expiresAt)] },
        ],
      },
      {
        kind: "paragraph",
        words: [
          "If the address is wrong, cancel this request and have the agent ask somebody else, or correct the members of the group. If it is right, see what was tried and send the mail again:",
        ],
      },
      {
        kind: "commands",
        commands: [
          `countersign delivery list --workspace ${facts.workspaceId} --request ${facts.approvalId}`,
          "countersign delivery resend DELIVERY_ID",
        ],
      },
    ],
    footer: ownersFooter(facts),
  });
}

function ownersFooter({ workspaceName, publicUrl }: { workspaceName: string; publicUrl: string }) {
  return [
    ["You get this mail because you own the workspace “", { theirs: workspaceName }, "”."],
    [`Sent by Countersign at ${originOf(publicUrl)}. It never asks for a password.`],
  ] satisfies Words[];
}

function endpointFrame({ endpointUrl }: EndpointFacts, more: Quote): Block {
  const url = { label: "Endpoint", text: endpointUrl, isMultiLine: false };
  return { kind: "quotes", quotes: [url, more] };
}

function endpointIdentity({ workspaceName, endpointId }: EndpointFacts) {
  return [
    { label: "Workspace", words: [{ theirs: workspaceName }] },
    { label: "Endpoint id", words: [endpointId] },
  ];
}

/** The delivery that caused it was made a little earlier. */
function aMinuteBefore(time: Date): string {
  return new Date(time.getTime() - 60_000).toISOString();
}
