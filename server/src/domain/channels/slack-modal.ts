// The second step in Slack: a modal that shows everything the review page would show, says what will happen and takes the
// note. What doesn't fit into it whole isn't decided in Slack.

import type { VotingRecord } from "../approval/voting-record.ts";
import { instantInWords, spanInWords } from "../mail/times.ts";
import { digestOfShown } from "../proof/shown-digest.ts";
import { resolutionNoteCharactersMax } from "../shown/field-limits.ts";
import { diffJson, type JsonChange } from "../shown/json-diff.ts";
import type { JsonText } from "../shown/json-text.ts";
import {
  decodeString,
  formatJson,
  formatPath,
  isClosing,
  isOpening,
  stringEnd,
} from "../shown/json-tree.ts";
import { type ShownName, type Submitted, shownAdditionsOf } from "../shown/submitted-fields.ts";
import { toVisibleText } from "../shown/text/visible-text.ts";
import { jsonMisleads, pageWarns } from "./page-only.ts";
import {
  facts,
  listed,
  type PlainText,
  plain,
  preformatted,
  quoted,
  type SlackBlock,
  sentence,
  slackModalBlocksMax,
  slackTextCharactersMax,
  textsOf,
  theirs,
} from "./slack-blocks.ts";
import { consequenceOf, stageLines, standingOf, type Verdict } from "./slack-voting-words.ts";

/** A request as its message and its modal need it. A review that somebody opened is one. */
export type ModalRequest = Pick<Submitted<JsonText>, ShownName> & {
  approvalId: string;
  workspaceName: string;
  groupName: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** The database's clock. */
  now: Date;
  voting: VotingRecord | null;
  /** What an approver made of the payload; null while it is the agent's. */
  change: { revision: number; payload: JsonText; byEmail: string; at: Date } | null;
};

export type ModalReview = ModalRequest & { reviewer: { email: string } };

export type SlackView = {
  type: "modal";
  callback_id: string;
  title: PlainText;
  submit?: PlainText;
  close: PlainText;
  private_metadata?: string;
  blocks: SlackBlock[];
};

/** Names by which we know our own modal and its field again. */
export const decisionCallback = "countersign_decide";
export const noteBlock = "countersign_note";
export const noteAction = "note";

/** More than this nobody reads in a small window. Far below Slack's own bound of 250 KB. */
const modalCharactersMax = 12_000;
/** Deeper JSON is indented out of sight on a phone. */
const modalDepthMax = 8;
/** Blocks that depend on the reader: a notice, the consequence, their standing, the facts, the note. */
const readerBlocksMax = 7;
const readerCharactersMax = 2_000;

/** Whether all of it can be shown in Slack, and nothing deserves a warning that only the page can give. */
export function fitsIntoModal(request: ModalRequest & { reviewer?: { email: string } }): boolean {
  const { change, payload, reviewer } = request;
  // Checked before anything is drawn, which may be megabytes.
  if (Math.max(payload?.length ?? 0, change?.payload.length ?? 0) > modalCharactersMax)
    return false;
  if ([payload, change?.payload ?? null].some((json) => json !== null && isTooDeep(json)))
    return false;
  const trusted = reviewer === undefined ? {} : { reviewerEmail: reviewer.email };
  if (pageWarns({ ...request, ...trusted })) return false;
  if (change !== null && jsonMisleads(change.payload)) return false;
  const blocks = requestBlocks(request);
  const texts = textsOf(blocks);
  return (
    blocks.length <= slackModalBlocksMax - readerBlocksMax &&
    texts.every((text) => text.length <= slackTextCharactersMax) &&
    texts.reduce((sum, text) => sum + text.length, 0) <= modalCharactersMax - readerCharactersMax
  );
}

export type ModalQuestion = {
  verdict: Verdict;
  /** Comes back with the decision: see slack-modal-ticket.ts. */
  metadata: string;
  /** Why it is asked once more. */
  notice?: string;
  /** What was typed before. */
  note?: string;
};

export function decisionModal(
  review: ModalReview,
  { verdict, metadata, notice, note = "" }: ModalQuestion,
): SlackView {
  const isApproval = verdict === "approve";
  return {
    type: "modal",
    callback_id: decisionCallback,
    title: plain(isApproval ? "Approve this request?" : "Reject this request?"),
    submit: plain(isApproval ? "Yes, approve" : "Yes, reject"),
    close: plain("Go back"),
    private_metadata: metadata,
    blocks: [
      ...(notice === undefined ? [] : [sentence(notice)]),
      sentence(consequenceOf(review, verdict)),
      ...standingOf(review).map(sentence),
      ...requestBlocks(review),
      facts(detailLines(review)),
      noteField(note),
    ],
  };
}

/** A modal that only says something, in place of the question. */
export function saidModal(title: string, lines: readonly string[]): SlackView {
  return {
    type: "modal",
    callback_id: "countersign_said",
    title: plain(title),
    close: plain("Close"),
    blocks: lines.map(sentence),
  };
}

/** The same for each of its readers, in the page's order. */
function requestBlocks(request: ModalRequest): SlackBlock[] {
  const { summary, agentName, reasoning, recentActions, voting } = request;
  const stages = voting === null ? [] : stageLines(voting);
  return [
    quoted("The agent wrote", summary, { isMultiLine: true }),
    agentName === null
      ? sentence("Unnamed agent")
      : quoted("Agent name, unverified", agentName, { isMultiLine: false }),
    ...shownAdditionsOf(request).map(({ label, isList, texts }) =>
      isList ? listed(label, texts) : quoted(label, texts[0] ?? "", { isMultiLine: true }),
    ),
    ...(reasoning === null ? [] : [quoted("Why, in its words", reasoning, { isMultiLine: true })]),
    ...payloadBlocks(request),
    ...stages.flatMap(({ line, votes }) => [
      sentence(line),
      ...votes.flatMap(({ said, note }) => [
        sentence(said),
        ...(note === null ? [] : [quoted("The approver wrote", note, { isMultiLine: true })]),
      ]),
    ]),
    ...(recentActions.length === 0
      ? []
      : [listed("What the agent says it did before", recentActions)]),
  ];
}

function payloadBlocks({ payload, change }: ModalRequest): SlackBlock[] {
  if (payload === null) return [sentence("Payload: the agent sent none.")];
  if (change === null) return chunksOf("Payload", jsonLines(payload));
  const { byEmail, at } = change;
  const differences = diffJson(payload, change.payload);
  const count = differences.length === 1 ? "1 difference" : `${differences.length} differences`;
  const changed = `${theirs(byEmail)} changed the agent’s payload on ${instantInWords(at)}.`;
  return [
    ...chunksOf("Payload, as changed by an approver", jsonLines(change.payload)),
    sentence(
      differences.length === 0
        ? `${changed} It is what the agent sent.`
        : `${changed} ${count} from what the agent sent:`,
    ),
    ...(differences.length === 0 ? [] : chunksOf(null, differences.flatMap(differenceLines))),
  ];
}

function differenceLines(change: JsonChange): string[] {
  const place =
    change.path.length === 0 ? "the whole payload" : toVisibleText(formatPath(change.path));
  switch (change.kind) {
    case "changed":
      return [place, ...valueLines("before", change.before), ...valueLines("after", change.after)];
    case "added":
      return [`${place} (added)`, ...valueLines("after", change.after)];
    case "removed":
      return [`${place} (removed)`, ...valueLines("before", change.before)];
    case "reordered":
      return [`${place}: keys in another order`];
    default:
      return change satisfies never;
  }
}

function valueLines(label: string, json: string): string[] {
  const [first = "", ...others] = jsonLines(json);
  return [`  ${label}: ${first}`, ...others.map((line) => `  ${line}`)];
}

/**
 * One value to a line. Numbers stand as they were sent, to the digit. A string is decoded and quoted anew, because an
 * escape such as \u0070 hides a letter from its reader.
 */
export function jsonLines(json: string): string[] {
  const text = formatJson(json);
  const parts: string[] = [];
  let end = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', end)) {
    parts.push(text.slice(end, at));
    end = stringEnd(text, at);
    parts.push(toVisibleText(JSON.stringify(decodeString(text, at, end))));
  }
  parts.push(text.slice(end));
  return parts.join("").split("\n");
}

/** As many lines to a block as fit. A line that is too long alone makes a block that doesn't fit. */
function chunksOf(label: string | null, lines: readonly string[]): SlackBlock[] {
  const chunks: string[] = [];
  for (const line of lines) {
    const grown = `${chunks.at(-1)}\n${line}`;
    if (chunks.length === 0 || grown.length > slackTextCharactersMax) chunks.push(line);
    else chunks[chunks.length - 1] = grown;
  }
  return chunks.map((chunk, at) => preformatted(at === 0 ? label : null, chunk));
}

function isTooDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x22) at = stringEnd(json, at) - 1;
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
    if (depth > modalDepthMax) return true;
  }
  return false;
}

function detailLines(review: ModalReview): string[] {
  const { approvalId, workspaceName, groupName, reviewer, createdAt, expiresAt, now } = review;
  const member =
    groupName === null || review.voting !== null ? "" : `, a member of “${theirs(groupName)}”`;
  return [
    `Expires ${instantInWords(expiresAt)}, in ${spanInWords(now, expiresAt)}`,
    `Asked ${instantInWords(createdAt)} in the workspace “${theirs(workspaceName)}”`,
    `You are ${theirs(reviewer.email)}${member}`,
    `Request ${approvalId}`,
    `Digest of what is shown: ${digestOfShown(review)}`,
  ];
}

function noteField(note: string): SlackBlock {
  return {
    type: "input",
    block_id: noteBlock,
    label: plain("Note"),
    hint: plain("Optional. The agent and its owners will read it. It can’t be undone."),
    optional: true,
    element: {
      type: "plain_text_input",
      action_id: noteAction,
      multiline: true,
      max_length: resolutionNoteCharactersMax,
      ...(note === "" ? {} : { initial_value: note }),
    },
  };
}
