// What somebody gets to read after a click in Slack. Each says what happened, and what to do next. Only they see it.

import { type ApprovalState, describeResolution } from "../approval/approval.ts";
import { instantInWords } from "../mail/times.ts";
import { facts, plain, type SlackBlock, sentence, theirs } from "./slack-blocks.ts";
import { slackLinkCodeCharacters } from "./slack-link-code.ts";
import type { SlackView } from "./slack-modal.ts";

/** Buttons that we know again. Those of a message have its id as their value. */
export const slackActions = {
  approve: "countersign_approve",
  reject: "countersign_reject",
  /** Opens a page in the browser by itself. */
  review: "countersign_review",
  link: "countersign_link",
} as const;

/** The modal in which a code is typed. */
export const linkCallback = "countersign_link_code";
export const codeBlock = "countersign_code";
export const codeAction = "code";

/** A private answer: `text` is what a notification says. */
export type SlackSaid = { text: string; blocks: SlackBlock[] };

type Way = { label: string; url: string };

/** `ways` lead to pages of ours, which carry no right. */
export function said(
  text: string,
  { ways = [], linking = false }: { ways?: readonly Way[]; linking?: boolean } = {},
): SlackSaid {
  const buttons = [
    ...(linking
      ? [{ type: "button" as const, text: plain("Link my account"), action_id: slackActions.link }]
      : []),
    ...ways.map(({ label, url }, at) => ({
      type: "button" as const,
      text: plain(label),
      action_id: at === 0 ? slackActions.review : `${slackActions.review}_${at}`,
      url,
    })),
  ];
  const actions: SlackBlock[] =
    buttons.length === 0 ? [] : [{ type: "actions", elements: buttons }];
  return { text, blocks: [sentence(text), ...actions] };
}

/** Why Slack's word is not enough to know who clicked. */
export type Unidentified =
  | "other_team"
  | "whole_organization"
  | "guest"
  | "stranger"
  | "inactive"
  | "bot"
  | "unlinked"
  | "unconfirmed"
  | "linked_elsewhere"
  | "slack_fails"
  | "disconnected";

const whyUnidentified: Record<Unidentified, string> = {
  other_team:
    "This Slack account belongs to another Slack workspace than the one that is connected, so its clicks don’t count. Decide in your inbox, or by the link in the mail.",
  whole_organization:
    "The app is installed for a whole organization, so we can’t tell which workspace you are in. Decide in your inbox, or by the link in the mail.",
  guest:
    "Guests of a Slack workspace can’t decide in Slack. Decide in your inbox, or by the link in the mail.",
  stranger:
    "You are in this channel from another organization, so your clicks don’t count here. Decide in your inbox, or by the link in the mail.",
  inactive: "This Slack account is no longer active, so its clicks don’t count.",
  bot: "Only people decide. This Slack account is a bot.",
  unlinked:
    "We don’t know whose Slack account this is. Get a code in the settings of your inbox, then link your account here.",
  unconfirmed:
    "Slack hasn’t confirmed the address in your profile, so we can’t tell who you are. Confirm it in Slack, or get a code in the settings of your inbox and link your account here.",
  linked_elsewhere:
    "The address in your profile is linked to another Slack account. Decide with that one, or get a code in the settings of your inbox and link this one.",
  slack_fails:
    "Slack couldn’t tell us just now who you are. Try again in a moment, or decide in your inbox.",
  disconnected:
    "The connection to this Slack workspace is broken, so nothing can be decided here. Decide in your inbox, or by the link in the mail.",
};

export function unidentifiedSaid(why: Unidentified, inboxUrl: string): SlackSaid {
  const linking = why === "unlinked" || why === "unconfirmed" || why === "linked_elsewhere";
  const way = linking
    ? { label: "Get a code", url: `${inboxUrl}/settings` }
    : { label: "Open inbox", url: inboxUrl };
  return said(`${whyUnidentified[why]} Nothing was decided.`, { ways: [way], linking });
}

export function notAskedSaid(email: string, { isLinked }: { isLinked: boolean }): SlackSaid {
  const asked = `You are ${theirs(email)} here, who isn’t asked about this request, or no longer. Nothing was decided.`;
  if (isLinked) return said(asked);
  return said(`${asked} If you were asked at another address, link your account.`, {
    linking: true,
  });
}

/** How a request has ended. */
export function outcomeSentence(state: Exclude<ApprovalState, { kind: "PENDING" }>): string {
  const at = instantInWords(state.at);
  switch (state.kind) {
    case "APPROVED":
    case "REJECTED": {
      const how = state.kind === "APPROVED" ? "approved" : "rejected";
      const note = state.note === null ? "" : " with a note";
      return `This request was ${how} by ${theirs(state.byEmail)} on ${at}${note}.`;
    }
    case "EXPIRED":
    case "CANCELLED":
      return `This request ${describeResolution(state).split(" at ")[0]} on ${at}.`;
    default:
      return state satisfies never;
  }
}

export const needsPage =
  "This request has more to show than fits into Slack, or something that deserves a warning. Read and decide it on its page.";
export const notInSlack =
  "This request may not be decided in Slack. Read and decide it on its page.";
export const unknownMessage =
  "This message no longer belongs to a request that we know. Nothing was decided. Look into your inbox.";
export const unknownAction =
  "This button is of another version of the app, or not ours. Nothing was decided. Look into your inbox.";
export const ourFault =
  "Something went wrong on our side, and we can’t tell whether anything was recorded. Try again: a decision counts once, however often it is sent.";
export const stillWorking =
  "Your decision has arrived and is being recorded. This takes longer than usual: look at the message in a moment, or try again. A decision counts once, however often it is sent.";

/** The modal could not be opened. */
export function modalFailure(error: string): string {
  if (error === "expired_trigger_id" || error === "timeout") {
    return "That took too long, so Slack didn’t show the request. Press the button again. Nothing was decided.";
  }
  if (error === "ratelimited" || error === "rate_limited") {
    return "Slack has too much to do just now and didn’t show the request. Wait a moment, then press the button again. Nothing was decided.";
  }
  return "Slack couldn’t show the request. Try again in a moment, or decide it on its page. Nothing was decided.";
}

export function linkModal(): SlackView {
  return {
    type: "modal",
    callback_id: linkCallback,
    title: plain("Link my account"),
    submit: plain("Link"),
    close: plain("Cancel"),
    blocks: [
      sentence(
        "Type the code that the settings of your inbox show. Your clicks in this Slack workspace then count as yours.",
      ),
      {
        type: "input",
        block_id: codeBlock,
        label: plain("Code"),
        hint: plain(`${slackLinkCodeCharacters} letters and digits. It works once.`),
        optional: false,
        element: {
          type: "plain_text_input",
          action_id: codeAction,
          multiline: false,
          max_length: 40,
        },
      },
      facts([
        "Type only your own code, and tell it to nobody: the clicks of who types it count as yours.",
      ]),
    ],
  };
}
