// The mails to a workspace's owners: something needs them that nobody else would notice.

import { noticedCountMax } from "../limits.ts";
import { addressWord } from "./address-word.ts";
import type { Block, Quote, Words } from "./letter.ts";
import { type MailContent, originOf, toContent } from "./mail.ts";
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

export type FailedDeliveryFacts = EndpointFacts & {
  givenUpAt: Date;
  /** How the last attempt went, as a sentence of ours. */
  lastOutcome: string;
  event: string;
  /** Null for an event without a request. */
  approvalId: string | null;
  /** How many more deliveries to the endpoint wait, up to `noticedCountMax`. */
  waiting: number;
};

/** To the workspace's owners, when the first delivery to an endpoint is given up since it last worked. */
export function deliveryFailedMail(facts: FailedDeliveryFacts): MailContent {
  const { approvalId } = facts;
  return toContent(subjectOf("Webhook delivery failed", facts.workspaceName), {
    heading: "A webhook could not be delivered.",
    preview: "No attempt succeeded. You can send it again once the endpoint works.",
    blocks: [
      {
        kind: "paragraph",
        words: [
          "No attempt to deliver this event succeeded, so we stopped trying. Nothing is lost: the request can be read at any time, and you can resend the delivery once the endpoint works.",
        ],
      },
      endpointFrame(facts, { label: "Last attempt", text: facts.lastOutcome, isMultiLine: false }),
      {
        kind: "facts",
        facts: [
          ...endpointIdentity(facts),
          { label: "Event", words: [facts.event] },
          ...(approvalId === null ? [] : [{ label: "Request", words: [approvalId] }]),
          { label: "Given up", words: [instantInWords(facts.givenUpAt)] },
          { label: "Still waiting", words: [countInWords(facts.waiting)] },
        ],
      },
      endpointButton(facts),
      {
        kind: "paragraph",
        words: [
          "While it goes on failing, you get no further mail about single deliveries. If no attempt succeeds for days, we warn you before we disable it.",
        ],
      },
    ],
    footer: ownersFooter(facts),
  });
}

/** The deliveries that wait for an attempt to the same endpoint. */
function countInWords(waiting: number): string {
  if (waiting >= noticedCountMax) return `${noticedCountMax} or more deliveries`;
  return waiting === 1 ? "1 delivery" : `${waiting === 0 ? "no" : waiting} deliveries`;
}

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
      endpointButton(facts),
      { kind: "paragraph", words: ["Or see each attempt at the command line:"] },
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
        words: ["Once it answers again, enable it and send what it missed."],
      },
      endpointButton(facts),
      { kind: "paragraph", words: ["Or at the command line:"] },
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
          "If the address is wrong, cancel this request and have the agent ask somebody else, or correct the members of the group. If it is right, see what was tried and send the mail again.",
        ],
      },
      {
        kind: "button",
        label: "Open the request",
        url: `${facts.publicUrl}/app/w/${facts.workspaceId}/requests/${facts.approvalId}`,
      },
      { kind: "paragraph", words: ["Or at the command line:"] },
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

export type FailedCallbackFacts = {
  workspaceName: string;
  workspaceId: string;
  summary: string;
  approvalId: string;
  /** Not the whole address, which may be a secret. */
  callbackHost: string;
  event: string;
  givenUpAt: Date;
  /** How the last attempt went, as a sentence of ours. */
  lastOutcome: string;
  publicUrl: string;
};

/** To the workspace's owners: a request's outcome never reached the address that it named. */
export function callbackFailedMail(facts: FailedCallbackFacts): MailContent {
  return toContent(subjectOf("Callback failed", facts.summary), {
    heading: "The outcome of a request could not be delivered.",
    preview: "No attempt succeeded. What waits for it may wait for ever.",
    blocks: [
      {
        kind: "paragraph",
        words: [
          "The agent asked for the outcome of this request at an address of its own, and we stopped trying to reach it. What waits there may wait for ever. The outcome itself is safe: the request can be read at any time, and you can resend the delivery.",
        ],
      },
      {
        kind: "quotes",
        quotes: [
          { label: "The agent wrote", text: facts.summary, isMultiLine: true },
          { label: "Host of the callback", text: facts.callbackHost, isMultiLine: false },
          { label: "Last attempt", text: facts.lastOutcome, isMultiLine: false },
        ],
      },
      {
        kind: "facts",
        facts: [
          { label: "Workspace", words: [{ theirs: facts.workspaceName }] },
          { label: "Event", words: [facts.event] },
          { label: "Request", words: [facts.approvalId] },
          { label: "Given up", words: [instantInWords(facts.givenUpAt)] },
        ],
      },
      {
        kind: "button",
        label: "Open the request",
        url: `${facts.publicUrl}/app/w/${facts.workspaceId}/requests/${facts.approvalId}`,
      },
      {
        kind: "paragraph",
        words: ["You get no further mail about callbacks to this host for a day."],
      },
    ],
    footer: ownersFooter(facts),
  });
}

export type ForeignPasskeyFacts = {
  workspaceName: string;
  workspaceId: string;
  /** Whose passkey it is. */
  holder: string;
  passkeyName: string;
  at: Date;
  publicUrl: string;
};

/** To the workspace's owners: what this passkey signs counts as that person's decision. */
export function ownersPasskeyMail(facts: ForeignPasskeyFacts): MailContent {
  return toContent(subjectOf("Passkey added", facts.holder), {
    heading: "Somebody who decides in your workspace added a passkey.",
    preview: "It can sign decisions in their name.",
    blocks: [
      {
        kind: "paragraph",
        words: [
          "From now on this passkey signs them in, and can sign their decisions. Where your workspace requires signatures, it is enough to approve. If this surprises you, ask them in another way than by mail.",
        ],
      },
      {
        kind: "quotes",
        quotes: [{ label: "Its name", text: facts.passkeyName, isMultiLine: false }],
      },
      {
        kind: "facts",
        facts: [
          { label: "Person", words: [addressWord(facts.holder)] },
          { label: "Workspace", words: [{ theirs: facts.workspaceName }] },
          { label: "Added", words: [instantInWords(facts.at)] },
        ],
      },
      {
        kind: "button",
        label: "Open people and groups",
        url: `${facts.publicUrl}/app/w/${facts.workspaceId}/people`,
      },
    ],
    footer: ownersFooter(facts),
  });
}

export function ownersFooter({
  workspaceName,
  publicUrl,
}: {
  workspaceName: string;
  publicUrl: string;
}) {
  return [
    ["You get this mail because you own the workspace “", { theirs: workspaceName }, "”."],
    [`Sent by Countersign at ${originOf(publicUrl)}. It never asks for a password.`],
  ] satisfies Words[];
}

function endpointFrame({ endpointUrl }: EndpointFacts, more: Quote): Block {
  const url = { label: "Endpoint", text: endpointUrl, isMultiLine: false };
  return { kind: "quotes", quotes: [url, more] };
}

/** Owners have the dashboard; the command line may be the operator's alone. */
function endpointButton({ publicUrl, workspaceId, endpointId }: EndpointFacts): Block {
  const url = `${publicUrl}/app/w/${workspaceId}/endpoints/${endpointId}`;
  return { kind: "button", label: "Open the endpoint", url };
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
