// The card that a group gets in Teams: what is asked, by whom and until when, with a link to the inbox; and a second card
// that says how it ended. All words stand in text runs, in which Teams reads no Markdown. Never the payload, never a link
// that gives a right.

import { inertLines, toInertText } from "../mail/inert-text.ts";
import { instantInWords } from "../mail/times.ts";

/** What Teams takes of one message, as JSON. */
export const teamsMessageBytesMax = 28 * 1024;
/** Of the agent's words, hidden characters made visible. The rest is in the inbox. */
const quotedCharactersMax = 3_000;
const quotedLinesMax = 40;
const nameCharactersMax = 500;
const more = "… (more in the inbox)";

export type TeamsRequest = {
  id: string;
  workspaceName: string;
  groupName: string;
  summary: string;
  agentName: string | null;
  expiresAt: Date;
  /** Null while it is open. */
  outcome: TeamsOutcome | null;
};

export type TeamsOutcome =
  | { status: "APPROVED" | "REJECTED"; byEmail: string; isEdited: boolean }
  | { status: "EXPIRED" | "CANCELLED" };

type TextRun = { type: "TextRun"; text: string; weight?: "Bolder"; isSubtle?: true };
type RichTextBlock = { type: "RichTextBlock"; spacing?: "None"; inlines: TextRun[] };
type Container = { type: "Container"; style: "emphasis"; items: RichTextBlock[] };

export type TeamsMessage = {
  type: "message";
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive";
      contentUrl: null;
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json";
        type: "AdaptiveCard";
        version: "1.4";
        body: (RichTextBlock | Container)[];
        actions: [{ type: "Action.OpenUrl"; title: string; url: string }];
      };
    },
  ];
};

export function teamsMessageOf(request: TeamsRequest, publicUrl: string): TeamsMessage {
  const { outcome, expiresAt } = request;
  const body = [
    line(bold(outcome === null ? "Approval needed" : headingOf(outcome))),
    quote(request.summary),
    ...(request.agentName === null ? [] : [fact("Agent", name(request.agentName))]),
    fact("Workspace", name(request.workspaceName)),
    fact("Asked", name(request.groupName)),
    outcome === null ? fact("Expires", instantInWords(expiresAt)) : decidedBy(outcome),
  ].filter((part) => part !== null);
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body,
          actions: [
            {
              type: "Action.OpenUrl",
              title: "Open in inbox",
              url: `${publicUrl}/inbox/requests/${request.id}`,
            },
          ],
        },
      },
    ],
  };
}

const headings = {
  APPROVED: "Approved",
  REJECTED: "Rejected",
  EXPIRED: "Expired without a decision",
  CANCELLED: "Cancelled",
} as const;

function headingOf(outcome: TeamsOutcome): string {
  const isEdited = "isEdited" in outcome && outcome.isEdited;
  return isEdited ? `${headings[outcome.status]} with changes` : headings[outcome.status];
}

function decidedBy(outcome: TeamsOutcome): RichTextBlock | null {
  return "byEmail" in outcome ? fact("Decided by", name(outcome.byEmail)) : null;
}

/** The agent's words, in a box of their own under words of ours. */
function quote(summary: string): Container {
  const texts = inertLines(summary).map((pieces) => pieces.map(({ text }) => text).join(""));
  const lines: RichTextBlock[] = [];
  let room = quotedCharactersMax;
  for (const text of texts.slice(0, quotedLinesMax)) {
    if (room > 0) lines.push(line(run(cut(text, room)), "None"));
    room -= text.length;
  }
  if (texts.length > quotedLinesMax) lines.push(line(run(more), "None"));
  return {
    type: "Container",
    style: "emphasis",
    items: [line(subtle("The agent wrote")), ...lines],
  };
}

function fact(label: string, value: string): RichTextBlock {
  return line([subtle(`${label}: `), run(value)].flat(), "None");
}

/** Somebody's name, of a person, a group or an agent. */
function name(text: string): string {
  return cut(toInertText(text), nameCharactersMax);
}

function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  // No half of a character is left at the end.
  return text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, "") + more;
}

function line(inlines: TextRun | TextRun[], spacing?: "None"): RichTextBlock {
  const block = { type: "RichTextBlock" as const, inlines: [inlines].flat() };
  return spacing === undefined ? block : { ...block, spacing };
}

function run(text: string): TextRun {
  return { type: "TextRun", text };
}

function bold(text: string): TextRun {
  return { type: "TextRun", text, weight: "Bolder" };
}

function subtle(text: string): TextRun {
  return { type: "TextRun", text, isSubtle: true };
}
