// Makes the invisible visible: a stranger's text becomes segments in which every hidden character and every long
// stretch of white space has a name. Nothing is removed, because that would change what is approved. Misleading pieces
// are marked, and so are hidden characters that belong where they stand.

import { nameOf } from "./character-names.ts";
import { isHarmless } from "./harmless-characters.ts";
import { isPlainAscii, lookalikesIn } from "./lookalikes.ts";
import { codeAndName, isSaid, type Marked, wordsOf } from "./marks.ts";
import { once } from "./once.ts";
import { type Evidence, evidenceOf } from "./text-evidence.ts";

export type Segment =
  | { kind: "text"; text: string }
  | Marked
  | { kind: "hidden"; codePoint: number; name: string | null; count: number }
  | { kind: "space"; count: number };

export type VisibleTextOptions = {
  /** Line breaks and tabs are ordinary; elsewhere they are hidden characters like any other. */
  isMultiLine?: boolean;
};

// Each property catches what the others miss: Cf has no variation selectors, the default ignorable ones have no
// interlinear annotations, and neither has the blanks that fonts draw as nothing (NBSP, U+3000, U+2800, and some of
// them that stand in for an object, a hieroglyph, a Khitan letter or the head of a note).
const blanks = String.raw`\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}\u{1D159}`;
const hidden = String.raw`[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}${blanks}]--[\u0020]]`;
const hiddenInLines = `[${hidden}--[\\n\\t]]`;
// Repetitions have an upper bound, because one of millions would overflow the stack of the regular expression. Longer
// runs are found in pieces and joined again.
const longSpace = " {9,65536}";
const longSpaceInLines = String.raw`[ \t]{9,65536}|\r?\n(?:[ \t]{0,8}\r?\n){8,4096}`;

// A well-formed emoji may hold joiners and selectors as part of its spelling. Its rough shape is searched first,
// because searching for all emoji at every character of a long text takes seconds.
const pictograph = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;
const emojiShape = String.raw`[0-9#\*]\uFE0F\u20E3|\u{1F3F4}[\u{E0020}-\u{E007F}]{1,16}|${pictograph}(?:\u200D${pictograph}){0,16}`;
/** The list of all emoji takes 40 ms to build. */
const emoji = once(() => /^\p{RGI_Emoji}$/v);

// Made at their first use: a page with ordinary words only should not wait for them.
const inOneLine = once(() => patternsOf(hidden, longSpace));
const inLines = once(() => patternsOf(hiddenInLines, longSpaceInLines));
const everyHidden = once(() => new RegExp(hidden, "gv"));

/** Most texts have none of these, and then nothing is hidden. */
const unordinary = / {9}|[^ -~]/;

export function segmentsOf(
  text: string,
  { isMultiLine = false }: VisibleTextOptions = {},
): Segment[] {
  const isOrdinary = !unordinary.test(text);
  if (isOrdinary && isPlainAscii(text)) return text === "" ? [] : [{ kind: "text", text }];
  const evidence = evidenceOf(text);
  if (isOrdinary) return markedSegments(text, evidence, true);
  const { suspect, each, eachWithEmoji } = isMultiLine ? inLines() : inOneLine();
  // This check is much cheaper than taking a text apart.
  if (!suspect.test(text)) return markedSegments(text, evidence, true);
  const isEmoji = rememberingIsEmoji();
  const segments: Segment[] = [];
  let end = 0;
  const take = (match: RegExpExecArray, offset: number) => {
    const at = match.index + offset;
    for (const segment of markedSegments(text.slice(end, at), evidence, end === 0))
      segments.push(segment);
    end = at + match[0].length;
    const place = { text, at, end, isMultiLine, evidence };
    append(segments, harmlessOf(match, place, segments.at(-1)) ?? segmentOf(match));
  };
  for (const match of text.matchAll(eachWithEmoji)) {
    const shape = match.groups?.emoji;
    if (shape === undefined) take(match, 0);
    else if (suspect.test(shape) && !isEmoji(shape)) {
      for (const part of shape.matchAll(each)) take(part, match.index);
    }
  }
  for (const segment of markedSegments(text.slice(end), evidence, false)) segments.push(segment);
  return segments;
}

/**
 * The text with a chip such as [U+202E RLO], [U+200B ZWSP ×3] or [40 spaces] for everything invisible, and one such as
 * [only looks like paypal] or [goes to evil.com] behind misleading pieces.
 */
export function toVisibleText(text: string, options: VisibleTextOptions = {}): string {
  return segmentsOf(text, options)
    .map((segment, index, all) => visibleTextOf(segment, all[index + 1]))
    .join("");
}

/** For a terminal, where no mark is harmless: a carriage return there overwrites its own line. */
export function toTerminalText(text: string, options: VisibleTextOptions = {}): string {
  return segmentsOf(text, options)
    .map((segment, index, all) =>
      segment.kind === "marked" && segment.mark.kind === "harmless"
        ? chipOf(segment)
        : visibleTextOf(segment, all[index + 1]),
    )
    .join("");
}

/** For comparing only: the shown text must keep them all. */
export function withoutHidden(text: string): string {
  return unordinary.test(text) ? text.replace(everyHidden(), "") : text;
}

export function chipOf(segment: Exclude<Segment, { kind: "text" }>): string {
  if (segment.kind === "space") return `[${segment.count} spaces]`;
  if (segment.kind === "marked") return `[${wordsOf(segment)}]`;
  const times = segment.count === 1 ? "" : ` ×${segment.count}`;
  return `[${codeAndName(segment.codePoint, segment.name)}${times}]`;
}

function visibleTextOf(segment: Segment, next: Segment | undefined): string {
  if (segment.kind === "text") return segment.text;
  const chip = chipOf(segment);
  if (segment.kind !== "marked") return chip;
  if (!isSaid(segment)) return segment.text;
  // A text that went through here before has its chips already.
  const hasChip = next?.kind === "text" && next.text.startsWith(chip);
  return hasChip ? segment.text : segment.text + chip;
}

function patternsOf(hiddenSet: string, space: string) {
  const named = `(?<space>${space})|(?<hidden>${hiddenSet})\\k<hidden>{0,65535}`;
  return {
    suspect: new RegExp(`${hiddenSet}|${space}`, "v"),
    each: new RegExp(named, "gv"),
    eachWithEmoji: new RegExp(`(?<emoji>${emojiShape})|${named}`, "gv"),
  };
}

/** The list of all emoji is slow to search, and a text with one of them often repeats it. */
function rememberingIsEmoji(): (shape: string) => boolean {
  const known = new Map<string, boolean>();
  return (shape) => {
    const answer = known.get(shape) ?? emoji().test(shape);
    known.set(shape, answer);
    return answer;
  };
}

/** Two pieces of one run are one. */
function append(segments: Segment[], next: Segment): void {
  const last = segments.at(-1);
  const isSameSpace = last?.kind === "space" && next.kind === "space";
  const isSameHidden =
    last?.kind === "hidden" && next.kind === "hidden" && last.codePoint === next.codePoint;
  if (isSameSpace || isSameHidden) last.count += next.count;
  else segments.push(next);
}

function segmentOf(match: RegExpExecArray): Segment {
  const { hidden: character = "", space } = match.groups ?? {};
  if (space !== undefined) return { kind: "space", count: space.length };
  const codePoint = character.codePointAt(0) ?? 0;
  const count = match[0].length / character.length;
  return { kind: "hidden", codePoint, name: nameOf(codePoint), count };
}

type PlaceInText = {
  text: string;
  at: number;
  end: number;
  isMultiLine: boolean;
  evidence: Evidence;
};

function harmlessOf(
  match: RegExpExecArray,
  { end, ...place }: PlaceInText,
  last: Segment | undefined,
): Marked | null {
  const { hidden: character } = match.groups ?? {};
  if (character === undefined) return null;
  const { text, at } = place;
  const before = at === 0 ? "" : characterBefore(text, at);
  const after = end < text.length ? String.fromCodePoint(text.codePointAt(end) ?? 0) : "";
  const count = match[0].length / character.length;
  const isBehindChip = isChip(last);
  if (!isHarmless(character, count, { ...place, before, after, isBehindChip })) return null;
  // Behind a chip it is no longer beside the letter it belongs to.
  if (isBehindChip && !/\s/.test(character)) return null;
  const codePoint = character.codePointAt(0) ?? 0;
  const mark = { kind: "harmless", codePoint, name: nameOf(codePoint) } as const;
  return { kind: "marked", text: match[0], mark, isQuiet: true };
}

function isChip(segment: Segment | undefined): boolean {
  if (segment === undefined || segment.kind === "text") return false;
  if (segment.kind !== "marked") return true;
  // Honest digits show their value behind them, too, but a sign may still join them to a word.
  return isSaid(segment) && !(segment.isQuiet && segment.mark.kind === "digits");
}

function characterBefore(text: string, at: number): string {
  const pair = text.codePointAt(at - 2) ?? 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : text.charAt(at - 1);
}

/** The text between two chips, with misleading pieces marked. */
function markedSegments(text: string, evidence: Evidence, isStart: boolean): Segment[] {
  const segments: Segment[] = [];
  let end = 0;
  for (const { at, ...segment } of lookalikesIn(text, evidence, isStart)) {
    if (at > end) segments.push({ kind: "text", text: text.slice(end, at) });
    segments.push(segment);
    end = at + segment.text.length;
  }
  if (end < text.length) segments.push({ kind: "text", text: text.slice(end) });
  return segments;
}
