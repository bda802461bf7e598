// Every mail that Countersign sends, as subject, text and HTML. Pure: the same facts give the same bytes, so that a
// mail that is sent again is the same mail. What an agent wrote is quoted as its words, and shows neither payload,
// reasoning nor state: those are for the review page.

import { formatReviewCode } from "../access/review-code.ts";
import { formatSignInCode } from "../access/sign-in.ts";
import { htmlPart } from "./html-part.ts";
import type { Block, Letter, Quote, Words } from "./letter.ts";
import { subjectOf } from "./subject.ts";
import { textPart } from "./text-part.ts";
import { instantInWords, spanInWords } from "./times.ts";

export type MailContent = { subject: string; text: string; html: string };

export type ReviewFacts = {
  summary: string;
  agentName: string | null;
  workspaceName: string;
  approverEmail: string;
  /** The group that was asked, of which this approver is a member; null when they were named themselves. */
  groupName: string | null;
  createdAt: Date;
  expiresAt: Date;
  reviewUrl: string;
  /** What the page will ask for; null when the link alone is enough. */
  reviewCode: string | null;
  publicUrl: string;
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
    heading: "Time is running out: an automated agent still asks for your decision.",
    preview: `Nobody has decided yet. It is waiting until ${instantInWords(facts.expiresAt)}.`,
    ...reviewBody(facts),
  });
}

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
    heading: "A webhook endpoint fails, and will be disabled.",
    preview: `No delivery has succeeded since ${instantInWords(facts.failingSince)}.`,
    blocks: [
      {
        kind: "paragraph",
        words: [
          "No delivery to this endpoint has succeeded for some time. If that does not change, it gets no more deliveries. One success is enough to keep it.",
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
      { kind: "paragraph", words: ["See what was tried, and how it went:"] },
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
          "It gets no more deliveries until somebody enables it. Nothing is lost: decisions are kept and can be read at any time, and what was missed can be sent again.",
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
        words: ["Once it answers again, enable it, and send what it has missed:"],
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
  /** What the mail server said, or null when it said nothing. */
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
          "The approver may not know that an agent waits for them. The request stays pending and can be read until it expires; without a decision nothing is approved.",
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
          "If the address is wrong, have the agent cancel this request and ask somebody else, or correct the members of the group. If it is right, see what was tried, and send the mail again:",
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

export type SignInFacts = { code: string; expiresAt: Date; email: string; publicUrl: string };

/** To whoever asked to sign in. The code stands in the subject, where a phone shows it without opening anything. */
export function signInMail({ code, expiresAt, email, publicUrl }: SignInFacts): MailContent {
  const printed = formatSignInCode(code);
  return toContent(`Your sign-in code is ${printed}`, {
    heading: "Your code to sign in",
    preview: `Good until ${instantInWords(expiresAt)}.`,
    blocks: [
      {
        kind: "code",
        label: "Your code",
        code: printed,
        words: ["Type it on the page where you asked for it, and nowhere else."],
      },
      { kind: "facts", facts: [{ label: "Good until", words: [instantInWords(expiresAt)] }] },
    ],
    footer: [
      [
        "You get this mail at ",
        addressWord(email),
        " because somebody asked to sign in with this address. If it was not you, do nothing: without the code nobody gets in.",
      ],
      [
        `The page that asks for it must be at ${originOf(publicUrl)}. Never tell the code to anybody: nobody who works on Countersign asks for it.`,
      ],
    ],
  });
}

export type PasskeyFacts = { passkeyName: string; at: Date; email: string; publicUrl: string };

/** To its owner: whoever stole a session could add one, and come back with it for good. */
export function passkeyAddedMail(facts: PasskeyFacts): MailContent {
  return toContent(subjectOf("Passkey added", facts.passkeyName), {
    heading: "A passkey was added to your account.",
    preview: "Whoever holds it can sign in as you.",
    blocks: [
      ...passkeyBlocks(facts, "Added"),
      {
        kind: "paragraph",
        words: [
          "If this was you, there is nothing to do. If it was not you, sign in, remove the passkey under your account, and end all other sessions there.",
        ],
      },
      accountButton(facts),
    ],
    footer: passkeyFooter(facts),
  });
}

export function passkeyRemovedMail(facts: PasskeyFacts): MailContent {
  return toContent(subjectOf("Passkey removed", facts.passkeyName), {
    heading: "A passkey was removed from your account.",
    preview: "Nobody can sign in with it any more.",
    blocks: [
      ...passkeyBlocks(facts, "Removed"),
      {
        kind: "paragraph",
        words: [
          "If this was you, there is nothing to do. If it was not you, sign in with a code by mail, end all other sessions under your account, remove passkeys that you do not know, and add yours again.",
        ],
      },
      accountButton(facts),
    ],
    footer: passkeyFooter(facts),
  });
}

function passkeyBlocks({ passkeyName, at }: PasskeyFacts, what: string): Block[] {
  return [
    { kind: "quotes", quotes: [{ label: "Its name", text: passkeyName, isMultiLine: false }] },
    { kind: "facts", facts: [{ label: what, words: [instantInWords(at)] }] },
  ];
}

function accountButton({ publicUrl }: PasskeyFacts): Block {
  return { kind: "button", label: "Look at your account", url: `${publicUrl}/app/account` };
}

function passkeyFooter({ email, publicUrl }: PasskeyFacts): Words[] {
  return [
    ["You get this mail at ", addressWord(email), " because you sign in with this address."],
    [`The page it opens must be at ${originOf(publicUrl)}. Countersign never asks for a password.`],
  ];
}

export type InvitationFacts = {
  workspaceName: string;
  role: string;
  /** Null when the operator did it. */
  invitedBy: string | null;
  email: string;
  publicUrl: string;
};

const roleInWords: Record<string, string> = {
  owner: "an owner, who may do everything",
  admin: "an admin, who manages keys, webhooks, groups and settings",
  viewer: "a viewer, who sees everything and changes nothing",
};

export function invitationMail(facts: InvitationFacts): MailContent {
  const { workspaceName, role, invitedBy, email, publicUrl } = facts;
  return toContent(subjectOf("Invitation to a workspace", workspaceName), {
    heading: "You are invited to a workspace.",
    preview: "Sign in with this address to join or decline.",
    blocks: [
      {
        kind: "facts",
        facts: [
          { label: "Workspace", words: [{ theirs: workspaceName }] },
          ...(invitedBy === null ? [] : [{ label: "Invited by", words: [addressWord(invitedBy)] }]),
          { label: "You would be", words: [roleInWords[role] ?? role] },
        ],
      },
      { kind: "button", label: "Sign in to join", url: `${publicUrl}/app` },
    ],
    footer: [
      [
        "You get this mail at ",
        addressWord(email),
        " because you were invited. If you do not want to join, do nothing, or decline after signing in.",
      ],
      [
        `The page it opens must be at ${originOf(publicUrl)}. Countersign never asks for a password.`,
      ],
    ],
  });
}

function reviewBody(facts: ReviewFacts): Pick<Letter, "blocks" | "footer"> {
  const name: Quote[] =
    facts.agentName === null
      ? []
      : [{ label: "It calls itself", text: facts.agentName, isMultiLine: false }];
  return {
    blocks: [
      {
        kind: "quotes",
        quotes: [{ label: "The agent wrote", text: facts.summary, isMultiLine: true }, ...name],
      },
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
        ],
      },
      ...codeBlocks(facts),
      { kind: "button", label: "Review request", url: facts.reviewUrl },
    ],
    footer: reviewFooter(facts),
  };
}

function codeBlocks({ reviewCode }: ReviewFacts): Block[] {
  if (reviewCode === null) return [];
  const words = ["The review page will ask for it. Countersign asks for it nowhere else."];
  return [{ kind: "code", label: "Your code", code: formatReviewCode(reviewCode), words }];
}

function reviewFooter({
  workspaceName,
  groupName,
  approverEmail,
  publicUrl,
}: ReviewFacts): Words[] {
  const role: Words =
    groupName === null
      ? ["you are named as the approver"]
      : ["you are a member of the approver group “", { theirs: groupName }, "”"];
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

/** An agent may choose the address. As long as it is a plain one, a program can only link it to itself. */
export function addressWord(address: string): string | { theirs: string } {
  return /^[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$/.test(address) ? address : { theirs: address };
}

export function originOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

export function toContent(subject: string, letter: Letter): MailContent {
  return { subject, text: textPart(letter), html: htmlPart(letter) };
}

/** The delivery that brought it about was made a little earlier. */
function aMinuteBefore(time: Date): string {
  return new Date(time.getTime() - 60_000).toISOString();
}
