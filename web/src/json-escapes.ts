// Looks at JSON text as the reader of its strings would, where the rules for words meet the spelling of escapes.

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

export function lengthOf(segment: Segment): number {
  if ("text" in segment) return segment.text.length;
  if (segment.kind === "space") return segment.count;
  return segment.count * String.fromCodePoint(segment.codePoint).length;
}
