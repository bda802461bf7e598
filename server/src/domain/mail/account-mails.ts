// The mails about somebody's own account: codes to sign in, passkeys, invitations.

import { formatSignInCode } from "../access/sign-in.ts";
import { addressWord } from "./address-word.ts";
import type { Block, Words } from "./letter.ts";
import { type MailContent, originOf, toContent } from "./mail.ts";
import { subjectOf } from "./subject.ts";
import { instantInWords } from "./times.ts";

export type SignInFacts = { code: string; expiresAt: Date; email: string; publicUrl: string };

/** The code stands in the subject, so that a phone shows it without opening the mail. */
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
        " because somebody asked to sign in with this address. If it wasn’t you, do nothing: nobody gets in without the code.",
      ],
      [
        `The page that asks for it must be at ${originOf(publicUrl)}. Don’t tell anybody the code: nobody who works on Countersign asks for it.`,
      ],
    ],
  });
}

export type PasskeyFacts = { passkeyName: string; at: Date; email: string; publicUrl: string };

/** To the owner of the account: a thief of a session could add a passkey and keep getting in with it. */
export function passkeyAddedMail(facts: PasskeyFacts): MailContent {
  return toContent(subjectOf("Passkey added", facts.passkeyName), {
    heading: "A passkey was added to your account.",
    preview: "It lets its holder sign in as you.",
    blocks: [
      ...passkeyBlocks(facts, "Added"),
      {
        kind: "paragraph",
        words: [
          "If this was you, there is nothing to do. If it wasn’t you, sign in, remove the passkey under your account, and end all other sessions there.",
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
          "If this was you, there is nothing to do. If it wasn’t you, sign in with a code by mail, end all other sessions under your account, remove passkeys you don’t know, and add yours again.",
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
  return { kind: "button", label: "Open your account", url: `${publicUrl}/app/account` };
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
  /** Null when the operator invited them. */
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
        " because you were invited. If you don’t want to join, do nothing, or sign in and decline.",
      ],
      [
        `The page it opens must be at ${originOf(publicUrl)}. Countersign never asks for a password.`,
      ],
    ],
  });
}
