// What an approver changed in a payload, as a mail tells it: the first changes, each with its place and both values, cut
// short. The texts are strangers' words. The review page shows all of it.

import {
  mailedChangeCharactersMax,
  mailedChangesMax,
  mailedDiffCharactersMax,
} from "../approval/voting-limits.ts";
import { diffJson, type JsonChange } from "../shown/json-diff.ts";
import { formatPath } from "../shown/json-tree.ts";
import { toInertText } from "./inert-text.ts";
import type { Quote } from "./letter.ts";

export type TextDiff = { quotes: Quote[] /** How many changes are not told. */; more: number };

/** An edited payload is never the same as before, but for the order of keys. */
export function describeChanges(before: string, after: string): TextDiff {
  const changes = diffJson(before, after);
  const quotes: Quote[] = [];
  let characters = 0;
  for (const change of changes.slice(0, mailedChangesMax)) {
    const quote = toQuote(change);
    // A hidden character is told in many visible ones.
    characters += toInertText(quote.text, { isMultiLine: true }).length;
    if (characters > mailedDiffCharactersMax) break;
    quotes.push(quote);
  }
  return { quotes, more: changes.length - quotes.length };
}

function toQuote(change: JsonChange): Quote {
  const place = change.path.length === 0 ? "the whole payload" : cutPlace(formatPath(change.path));
  const quoteOf = (label: string, ...values: string[]): Quote => ({
    label,
    text: [place, ...values].join("\n"),
    isMultiLine: true,
  });
  switch (change.kind) {
    case "changed": {
      const [before, after] = [onOneLine(change.before), onOneLine(change.after)];
      const from = firstDifference(before, after);
      return quoteOf("Changed", `before: ${cut(before, from)}`, `after: ${cut(after, from)}`);
    }
    case "added":
      return quoteOf("Added", `after: ${cut(onOneLine(change.after), 0)}`);
    case "removed":
      return quoteOf("Removed", `before: ${cut(onOneLine(change.before), 0)}`);
    case "reordered":
      return quoteOf("Keys in another order");
    default:
      return change satisfies never;
  }
}

/** JSON has line breaks only between its tokens, so no value changes by this. */
function onOneLine(json: string): string {
  return json.replaceAll(/[\r\n\t]+ */g, " ");
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}

/** So many characters before a difference are told. */
const leadCharacters = 24;

/** As much as fits, from a little before `from` on. Never half a character. */
function cut(text: string, from: number): string {
  if (text.length <= mailedChangeCharactersMax) return text;
  const start = whole(text, Math.max(0, from - leadCharacters));
  const end = whole(text, Math.min(text.length, start + mailedChangeCharactersMax));
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}

/** Its begin and its end, which tells what was changed. */
function cutPlace(path: string): string {
  if (path.length <= mailedChangeCharactersMax) return path;
  const half = mailedChangeCharactersMax / 2;
  return `${path.slice(0, whole(path, half))}…${path.slice(whole(path, path.length - half))}`;
}

function whole(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
