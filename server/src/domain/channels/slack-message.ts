// The message about a request in Slack, drawn from the request's state alone: the same state gives the same bytes. It
// says what is asked, by whom and until when, who has voted, and in the end the outcome. The payload stands in the modal
// or on the page, never here.

import type { ApprovalState } from "../approval/approval.ts";
import type { VotingRecord } from "../approval/voting-record.ts";
import { instantInWords } from "../mail/times.ts";
import { shownAdditionsOf } from "../shown/submitted-fields.ts";
import { toVisibleText } from "../shown/text/visible-text.ts";
import { outcomeSentence, slackActions } from "./slack-answers.ts";
import {
  facts,
  listed,
  plain,
  quoted,
  type SlackBlock,
  sentence,
  theirs,
  toMarkup,
} from "./slack-blocks.ts";
import { fitsIntoModal, type ModalRequest } from "./slack-modal.ts";
import { obstacleOf, stageLines } from "./slack-voting-words.ts";

export type MessageRequest = ModalRequest & {
  state: ApprovalState;
  /** An approver changed the payload and approved that. */
  isEdited: boolean;
  /** Only a passkey approves it, which Slack can't ask for. */
  needsSignature: boolean;
  /** All of it was read. A payload that nobody could show in Slack isn't. */
  isWhole: boolean;
  /** Its reader may still see it. Somebody who was removed from the group may not. */
  isSeen: boolean;
};

export type MessageFacts = {
  request: MessageRequest;
  messageId: string;
  /** The one person it is for; null in the channel of a group. */
  readerEmail: string | null;
  groupId: string | null;
  /** The connection and the request both allow to show the payload in Slack. */
  showsPayload: boolean;
  publicUrl: string;
};

/** Our own words alone: they may be markup. */
type Markup = { type: "context"; elements: { type: "mrkdwn"; text: string; verbatim: true }[] };

export type SlackMessage = {
  /** What notifications and screen readers say. */
  text: string;
  blocks: (SlackBlock | Markup)[];
};

/** Longer words are cut here, and whole in the modal or on the page. */
const wordsCharactersMax = 1_000;
const nameCharactersMax = 300;
const voteLinesMax = 12;
/** Below what Slack takes of one text, whatever the addresses are. */
const votesCharactersMax = 2_900;

const noLongerAsked = "You are no longer asked about this request.";

export function slackMessage(told: MessageFacts): SlackMessage {
  const { request } = told;
  if (!request.isSeen) return { text: noLongerAsked, blocks: [sentence(noLongerAsked)] };
  return request.state.kind === "PENDING" ? asking(told) : ended(request, request.state);
}

function asking(told: MessageFacts): SlackMessage {
  const { request, readerEmail } = told;
  const heading = headingOf(told);
  const standing = standingOf(request.voting, readerEmail);
  return {
    text: `${toMarkup(heading)} ${toMarkup(oneLine(request.summary))}`,
    blocks: [
      sentence(heading),
      ...(standing === null ? [] : [sentence(standing)]),
      ...askedBlocks(request),
      deadline(request.expiresAt),
      buttons(told, standing === null),
    ],
  };
}

function ended(
  request: MessageRequest,
  state: Exclude<ApprovalState, { kind: "PENDING" }>,
): SlackMessage {
  const note = "note" in state ? state.note : null;
  const outcome = outcomeSentence(state);
  return {
    text: toMarkup(outcome),
    blocks: [
      sentence(outcome),
      ...(request.isEdited ? [sentence("The payload was changed before it was approved.")] : []),
      ...(note === null ? [] : [words("The approver wrote", note)]),
      ...askedBlocks(request),
    ],
  };
}

function headingOf({ request, readerEmail, groupId }: MessageFacts): string {
  if (readerEmail !== null) return "An automated agent asks for your decision.";
  const { voting, groupName } = request;
  const stage = voting?.stages.find((each) => each.groupId === groupId);
  const name = stage?.groupName ?? (voting === null ? groupName : null);
  return name === null
    ? "An automated agent asks for a decision."
    : `An automated agent asks “${theirs(name)}” for a decision.`;
}

/** Why there is nothing to do for its reader just now; null if there is. Somebody who is needed later can still reject. */
function standingOf(voting: VotingRecord | null, email: string | null): string | null {
  return voting === null || email === null ? null : obstacleOf(voting, email, "reject");
}

function askedBlocks(request: MessageRequest): SlackBlock[] {
  const { summary, agentName, voting } = request;
  const { workspaceName, createdAt, approvalId } = request;
  const lines = voting === null ? [] : voteLines(voting);
  return [
    words("The agent wrote", summary),
    agentName === null ? sentence("Unnamed agent") : name("Agent name, unverified", agentName),
    ...shownAdditionsOf(request).map(({ label, isList, texts }) =>
      isList ? listed(label, texts.map(oneLine)) : name(label, texts[0] ?? ""),
    ),
    ...(lines.length === 0 ? [] : [sentence(cut(lines.join("\n"), votesCharactersMax))]),
    facts([
      `Asked ${instantInWords(createdAt)} in the workspace “${theirs(workspaceName)}”`,
      `Request ${approvalId}`,
    ]),
  ];
}

/** Notes stand in the modal and on the page. */
function voteLines(voting: VotingRecord): string[] {
  const lines = stageLines(voting).flatMap(({ line, votes }) => [
    line,
    ...votes.map(({ said }) => `• ${said}`),
  ]);
  const more = lines.length - voteLinesMax;
  return more <= 1
    ? lines
    : [...lines.slice(0, voteLinesMax), `… and ${more} more lines in the inbox`];
}

/** Slack writes the time as each reader's clock shows it; whoever reads no markup gets it in words. */
function deadline(at: Date): Markup {
  const seconds = Math.floor(at.getTime() / 1_000);
  const when = `<!date^${seconds}^{date_long_pretty} at {time}|${instantInWords(at)}>`;
  const text = `Decide by ${when}. Without a decision nothing is approved.`;
  return { type: "context", elements: [{ type: "mrkdwn", text, verbatim: true }] };
}

/** To decide in Slack, all must be there to see. Otherwise there is one button, and it leads to the page. */
function buttons(told: MessageFacts, isAsked: boolean): SlackBlock {
  const { request, readerEmail, showsPayload, messageId: value, publicUrl } = told;
  const reviewer = readerEmail === null ? {} : { reviewer: { email: readerEmail } };
  const decidesHere =
    isAsked &&
    showsPayload &&
    request.isWhole &&
    !request.needsSignature &&
    fitsIntoModal({ ...request, ...reviewer });
  const button = (label: string, action_id: string, url?: string) => ({
    type: "button" as const,
    text: plain(label),
    action_id,
    ...(url === undefined ? { value } : { url }),
  });
  const pageUrl = `${publicUrl}/inbox/requests/${request.approvalId}`;
  const page = button(decidesHere ? "Open in inbox" : "Review", slackActions.review, pageUrl);
  const decisions = [
    button("Approve", slackActions.approve),
    button("Reject", slackActions.reject),
  ];
  return { type: "actions", elements: decidesHere ? [...decisions, page] : [page] };
}

function words(label: string, text: string): SlackBlock {
  const visible = toVisibleText(text, { isMultiLine: true });
  return quoted(label, cut(visible, wordsCharactersMax), { isMultiLine: true });
}

function name(label: string, text: string): SlackBlock {
  return quoted(label, cut(toVisibleText(text), nameCharactersMax), { isMultiLine: false });
}

function oneLine(text: string): string {
  return cut(toVisibleText(text), nameCharactersMax);
}

/** Never between the halves of one character. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${text
    .slice(0, charactersMax)
    .toWellFormed()
    .replace(/\ufffd$/, "")}… (cut here)`;
}
