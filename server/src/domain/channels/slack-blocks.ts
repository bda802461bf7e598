// The blocks of Slack that we draw with. Others' words stand in plain or rich text, where Slack reads no markup: no link,
// no mention and no emoji can come out of them.

import { toVisibleText } from "../shown/text/visible-text.ts";

export type PlainText = { type: "plain_text"; text: string; emoji: false };

type TextPiece = { type: "text"; text: string; style?: { bold: true } };
type RichPart =
  | {
      type: "rich_text_section" | "rich_text_quote" | "rich_text_preformatted";
      elements: TextPiece[];
    }
  | {
      type: "rich_text_list";
      style: "ordered" | "bullet";
      elements: { type: "rich_text_section"; elements: TextPiece[] }[];
    };

export type SlackBlock =
  | { type: "section"; text: PlainText }
  | { type: "context"; elements: PlainText[] }
  | { type: "rich_text"; elements: RichPart[] }
  | {
      type: "actions";
      elements: {
        type: "button";
        text: PlainText;
        action_id: string;
        value?: string;
        url?: string;
      }[];
    }
  | {
      type: "input";
      block_id: string;
      label: PlainText;
      hint?: PlainText;
      optional: boolean;
      element: {
        type: "plain_text_input";
        action_id: string;
        multiline: boolean;
        max_length: number;
        initial_value?: string;
      };
    };

/** Slack's own bounds. */
export const slackTextCharactersMax = 3_000;
export const slackModalBlocksMax = 100;
export const slackTitleCharactersMax = 24;
export const slackMetadataCharactersMax = 3_000;

export function plain(text: string): PlainText {
  return { type: "plain_text", text, emoji: false };
}

/** Our own words. */
export function sentence(text: string): SlackBlock {
  return { type: "section", text: plain(text) };
}

export function facts(lines: readonly string[]): SlackBlock {
  return { type: "context", elements: [plain(lines.join("\n"))] };
}

/** A label of ours above others' words, which stand behind a bar. */
export function quoted(label: string, text: string, options: { isMultiLine: boolean }): SlackBlock {
  const words: RichPart = {
    type: "rich_text_quote",
    elements: [piece(toVisibleText(text, options))],
  };
  return { type: "rich_text", elements: [heading(label), words] };
}

/** A label of ours above others' words, one numbered item each. */
export function listed(label: string, texts: readonly string[]): SlackBlock {
  const elements = texts.map((text) => ({
    type: "rich_text_section" as const,
    elements: [piece(toVisibleText(text, { isMultiLine: true }))],
  }));
  const list: RichPart = { type: "rich_text_list", style: "ordered", elements };
  return { type: "rich_text", elements: [heading(label), list] };
}

/** Text whose spaces and line breaks matter. It must be visible already. */
export function preformatted(label: string | null, text: string): SlackBlock {
  const block: RichPart = { type: "rich_text_preformatted", elements: [piece(text)] };
  return { type: "rich_text", elements: label === null ? [block] : [heading(label), block] };
}

/** Somebody else's name or address within a sentence of ours. */
export function theirs(text: string): string {
  return toVisibleText(text);
}

/**
 * Slack may read markup in the text of a notification. No mention, no link in angle brackets and no name of an emoji comes
 * out of others' words. Stars and the like stay as they were written: the worst they do is to make a word bold there.
 */
export function toMarkup(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/:(?=[^\s:]+:)/g, ": ");
}

/** Every text that Slack measures. */
export function textsOf(blocks: readonly SlackBlock[]): string[] {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name === "text" && typeof inner === "string") texts.push(inner);
      else walk(inner);
    }
  };
  walk(blocks);
  return texts;
}

function heading(label: string): RichPart {
  return {
    type: "rich_text_section",
    elements: [{ type: "text", text: label, style: { bold: true } }],
  };
}

function piece(text: string): TextPiece {
  // Slack refuses an empty text.
  return { type: "text", text: text === "" ? "(empty)" : text };
}
