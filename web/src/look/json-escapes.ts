// Finds marks in JSON text as a reader of its strings would, despite the escapes.

import { stringEnd } from "../../../server/src/domain/shown/json-tree.ts";
import { type Segment, segmentsOf } from "../../../server/src/domain/shown/text/visible-text.ts";

/** The letter of an escape such as \\n isn't a letter of the next word. As long as the text itself. */
export function withoutEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:u[0-9a-fA-F]{4}|[\x20-\x7e])/g, (escaped) =>
    (escaped === "\\/" ? "/" : '"').repeat(escaped.length),
  );
}

/**
 * The segments of JSON text. Escapes are text, exactly as spelled. Each string is examined alone, so that it gets the
 * same marks here as by itself.
 */
export function jsonSegmentsOf(text: string): Segment[] {
  const segments: Segment[] = [];
  let end = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', end)) {
    const stop = Math.max(stringEnd(text, at), at + 1);
    const isClosed = stop - at > 1 && text[stop - 1] === '"';
    push(segments, text.slice(end, at + 1));
    push(segments, text.slice(at + 1, isClosed ? stop - 1 : stop));
    end = isClosed ? stop - 1 : stop;
    if (isClosed) {
      push(segments, '"');
      end = stop;
    }
  }
  push(segments, text.slice(end));
  return segments;
}

function push(segments: Segment[], text: string): void {
  let at = 0;
  for (const segment of segmentsOf(withoutEscapes(text), { isMultiLine: true })) {
    const from = at;
    at += lengthOf(segment);
    const last = segments.at(-1);
    const part = text.slice(from, at);
    const isText = segment.kind === "text" || isEscapedSlashes(segment, part);
    if (isText && last?.kind === "text") last.text += part;
    else if (isText) segments.push({ kind: "text", text: part });
    else segments.push("text" in segment ? { ...segment, text: part } : segment);
  }
}

/** Two slashes spelled \\/\\/ aren't four. */
export function isEscapedSlashes(segment: Segment, spelled: string): boolean {
  const isSlashes =
    segment.kind === "marked" && segment.mark.kind === "leads" && segment.mark.by === "slashes";
  return isSlashes && spelled.replaceAll("\\/", "/") === "//";
}

export function lengthOf(segment: Segment): number {
  if ("text" in segment) return segment.text.length;
  if (segment.kind === "space") return segment.count;
  return segment.count * String.fromCodePoint(segment.codePoint).length;
}
