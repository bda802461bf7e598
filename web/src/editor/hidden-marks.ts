// Finds invisible and misleading characters in a line of JSON text, by the same rules as the rest of the page.
// hidden-chips.ts draws the marks.

import { jsonDepthMax } from "../../../server/src/domain/shown/field-limits.ts";
import { isSaid } from "../../../server/src/domain/shown/text/marks.ts";
import {
  chipOf,
  type Segment,
  segmentsOf,
} from "../../../server/src/domain/shown/text/visible-text.ts";
import { isEscapedSlashes, lengthOf, withoutEscapes } from "../look/json-escapes.ts";

export type HiddenMark = {
  from: number;
  to: number;
  /**
   * A line end is the CR of a CR LF. A word is visible, but looks like another one. Harmless characters belong where
   * they stand, and need no chip.
   */
  kind: "hidden" | "space" | "lineEnd" | "word" | "harmless";
  /** Such as "U+202E RLO", "40 spaces" or "only looks like paypal". */
  label: string;
  isQuiet: boolean;
};

/** Nested JSON has up to this much white space at the start of a line; more of it hides what follows. */
const indentationMax = jsonDepthMax * 2;

/** An emoji or a host's name at the edge of the window must be read as a whole. */
const marginCharacters = 300;

/** `longRunsOf` finds runs of one character from this length on, no matter which part is in view. */
export const longRunCharacters = 1000;

/**
 * The marks of one line that reach into the window, where `from` and `to` count from the start of the line.
 * Only the window and its surroundings are read, because a line may be as long as the whole document.
 */
export function hiddenMarksOf(
  line: string,
  window: { from: number; to: number; isLastLine: boolean },
): HiddenMark[] {
  const start = startOfRun(line, Math.max(0, window.from - marginCharacters));
  const end = endOfRun(line, Math.min(line.length, window.to + marginCharacters));
  const marks: HiddenMark[] = [];
  let at = start;
  for (const segment of segmentsOf(withoutEscapes(line.slice(start, end)), { isMultiLine: true })) {
    const from = at;
    at += lengthOf(segment);
    const isInWindow = from < window.to && at > window.from;
    if (segment.kind === "text" || !isInWindow || at - from >= longRunCharacters) continue;
    if (isEscapedSlashes(segment, line.slice(from, at))) continue;
    if (segment.kind === "space" && from === 0 && segment.count <= indentationMax) continue;
    const isLineEnd = at === line.length && line.slice(from) === "\r" && !window.isLastLine;
    const kind = isLineEnd ? "lineEnd" : kindOf(segment);
    const isQuiet = isLineEnd || (segment.kind === "marked" && segment.isQuiet);
    marks.push({ from, to: at, kind, label: labelOf(segment), isQuiet });
  }
  return marks;
}

/** All long runs of a hidden character or of white space in a line. Each is one mark, however long. */
export function longRunsOf(line: string): HiddenMark[] {
  const marks: HiddenMark[] = [];
  // No long run fits between two probes, so most of a long line need not be read.
  const stride = longRunCharacters / 2;
  for (let probe = 0; probe < line.length; probe += stride) {
    if (!isInLongRun(line, probe)) continue;
    const { from, to } = runAround(line, probe);
    const mark = to - from < longRunCharacters ? null : longMark(line, from, to);
    if (mark !== null) marks.push(mark);
    probe = Math.max(probe, to - stride);
  }
  return marks;
}

/** A sample tells the kind of the run: regular expressions would overflow the stack on runs of millions. */
function longMark(line: string, from: number, to: number): HiddenMark | null {
  const [sample] = segmentsOf(line.slice(from, from + 20), { isMultiLine: true });
  if (sample?.kind !== "hidden" && sample?.kind !== "space") return null;
  const count = (to - from) / lengthOf({ ...sample, count: 1 });
  return { from, to, kind: sample.kind, label: labelOf({ ...sample, count }), isQuiet: false };
}

function kindOf(segment: Exclude<Segment, { kind: "text" }>): HiddenMark["kind"] {
  if (segment.kind !== "marked") return segment.kind;
  return isSaid(segment) ? "word" : "harmless";
}

function labelOf(segment: Exclude<Segment, { kind: "text" }>): string {
  return chipOf(segment).slice(1, -1);
}

/** A chip counts its whole run, even if the window begins inside it. */
function startOfRun(line: string, offset: number): number {
  const least = Math.max(0, offset - longRunCharacters);
  let start = offset;
  while (start > least && start < line.length && isInRun(line, start)) start -= 1;
  return start;
}

function endOfRun(line: string, offset: number): number {
  const most = Math.min(line.length, offset + longRunCharacters);
  let end = offset;
  while (end > 0 && end < most && isInRun(line, end)) end += 1;
  return end;
}

/** Whether the characters around this place may belong together: the same, both blank, or a pair. */
function isInRun(line: string, offset: number): boolean {
  const before = line.charCodeAt(offset - 1);
  const after = line.charCodeAt(offset);
  return before === after || (isBlank(before) && isBlank(after)) || isInPairs(line, offset);
}

/** Inside a surrogate pair, or between two of the same: a character beyond U+FFFF is two units of the text. */
function isInPairs(line: string, offset: number): boolean {
  const before = line.charCodeAt(offset - 1);
  const after = line.charCodeAt(offset);
  if (isHigh(before) && isLow(after)) return true;
  return isLow(before) && line.codePointAt(offset - 2) === line.codePointAt(offset);
}

/** A quick check: true in every long run, and seldom elsewhere. Two units on is the same half of a pair. */
function isInLongRun(line: string, offset: number): boolean {
  const code = line.charCodeAt(offset);
  const next = line.charCodeAt(offset + 2);
  return code === next || (isBlank(code) && isBlank(next));
}

/** The run of one character, or of white space, around this place. */
function runAround(line: string, offset: number): { from: number; to: number } {
  let from = offset;
  let to = offset;
  if (isBlank(line.charCodeAt(offset))) {
    while (isBlank(line.charCodeAt(from - 1))) from -= 1;
    while (isBlank(line.charCodeAt(to))) to += 1;
    return { from, to };
  }
  if (isHigh(line.charCodeAt(offset - 1)) && isLow(line.charCodeAt(offset))) from -= 1;
  const codePoint = line.codePointAt(from) ?? 0;
  const length = codePoint > 0xffff ? 2 : 1;
  to = from;
  while (line.codePointAt(from - length) === codePoint) from -= length;
  while (line.codePointAt(to) === codePoint) to += length;
  return { from, to };
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
