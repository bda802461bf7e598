// Looks at JSON text as the reader of its strings would, where the rules for words meet the spelling of escapes.

import { stringEnd } from "../../server/src/domain/json-tree.ts";
import { type Segment, segmentsOf } from "../../server/src/domain/visible-text.ts";

/** The letter of an escape such as \\n is no letter of the word behind it. As long as the text itself. */
export function withoutEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:u[0-9a-fA-F]{4}|[\x20-\x7e])/g, (escaped) =>
    (escaped === "\\/" ? "/" : '"').repeat(escaped.length),
  );
}

/** The segments of JSON text: escapes are text, exactly as they are spelled. */
export function jsonSegmentsOf(text: string): Segment[] {
  const masked = withoutEscapes(text);
  const segments = segmentsOf(masked, { isMultiLine: true });
  if (masked === text) return segments;
  let at = 0;
  return segments.map((segment) => {
    const from = at;
    at += lengthOf(segment);
    return "text" in segment ? { ...segment, text: text.slice(from, at) } : segment;
  });
}

export type JsonPiece = {
  text: string;
  /** A string with letters that may run from right to left: it must not move what stands around it. */
  isForeign: boolean;
};

const maybeRightToLeft =
  /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\ud802\ud803\ud83a\ud83b]/;

/** JSON text in pieces, of which those that could run from right to left are strings, whole and alone. */
export function jsonPartsOf(text: string): JsonPiece[] {
  if (!maybeRightToLeft.test(text)) return [{ text, isForeign: false }];
  const parts: JsonPiece[] = [];
  let end = 0;
  for (let at = text.indexOf('"'); at !== -1; ) {
    const string = text.slice(at, stringEnd(text, at));
    if (maybeRightToLeft.test(string)) {
      if (at > end) parts.push({ text: text.slice(end, at), isForeign: false });
      parts.push({ text: string, isForeign: true });
      end = at + string.length;
    }
    at = text.indexOf('"', at + string.length);
  }
  if (end < text.length) parts.push({ text: text.slice(end), isForeign: false });
  return parts;
}

export function lengthOf(segment: Segment): number {
  if ("text" in segment) return segment.text.length;
  if (segment.kind === "space") return segment.count;
  return segment.count * String.fromCodePoint(segment.codePoint).length;
}
