// Makes what cannot be seen visible: a text that a stranger wrote becomes segments in which every hidden character
// and every long stretch of white space has a name. Nothing is removed, because that would change what is approved.
// Words that may be taken for others are marked: those that mix scripts, and names of hosts beyond ASCII.

import { lookalikesIn } from "./lookalikes.ts";
import { codeAndName, isSaid, type Marked, wordsOf } from "./marks.ts";
import { once } from "./once.ts";

export type Segment =
  | { kind: "text"; text: string }
  | Marked
  | { kind: "hidden"; codePoint: number; name: string | null; count: number }
  | { kind: "space"; count: number };

export type VisibleTextOptions = {
  /** Then line breaks and tabs are ordinary; elsewhere they are hidden characters like any other. */
  isMultiLine?: boolean;
};

// Each property catches what the others miss: Cf has no variation selectors, the default ignorable ones have no
// interlinear annotations, and neither has the blanks that fonts draw as nothing (NBSP, U+3000, U+2800, and some of
// them that stand in for an object, a hieroglyph, a Khitan letter or the head of a note).
const blanks = String.raw`\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}\u{1D159}`;
const hidden = String.raw`[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}${blanks}]--[\u0020]]`;
const hiddenInLines = `[${hidden}--[\\n\\t]]`;
// Repetitions have an upper bound, because one of millions would overflow the stack of the regular expression. What is
// longer is found in pieces and put together again.
const longSpace = " {9,65536}";
const longSpaceInLines = String.raw`[ \t]{9,65536}|\n(?:[ \t]{0,8}\n){8,4096}`;

// A well-formed emoji may hold joiners and selectors: they are how it is written. Its rough shape is looked for
// first, because to look for all emoji at every character of a long text takes seconds.
const pictograph = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;
const emojiShape = String.raw`[0-9#\*]\uFE0F\u20E3|\u{1F3F4}[\u{E0020}-\u{E007F}]{1,16}|${pictograph}(?:\u200D${pictograph}){0,16}`;
/** The list of all emoji takes 40 ms to build. */
const emoji = once(() => /^\p{RGI_Emoji}$/v);

// Made when they are first needed: a page that shows ordinary words only should not wait for them.
const inOneLine = once(() => patternsOf(hidden, longSpace));
const inLines = once(() => patternsOf(hiddenInLines, longSpaceInLines));
const everyHidden = once(() => new RegExp(hidden, "gv"));

/** Most texts have none of these, and then there is nothing to look for. */
const unordinary = / {9}|[^ -~]/;

export function segmentsOf(
  text: string,
  { isMultiLine = false }: VisibleTextOptions = {},
): Segment[] {
  if (!unordinary.test(text)) return text === "" ? [] : [{ kind: "text", text }];
  const { suspect, each, eachWithEmoji } = isMultiLine ? inLines() : inOneLine();
  // This look is much cheaper than taking a text apart.
  if (!suspect.test(text)) return markedSegments(text);
  const isEmoji = rememberingIsEmoji();
  const segments: Segment[] = [];
  let end = 0;
  const take = (match: RegExpExecArray, offset: number) => {
    const at = match.index + offset;
    for (const segment of markedSegments(text.slice(end, at))) segments.push(segment);
    append(segments, segmentOf(match));
    end = at + match[0].length;
  };
  for (const match of text.matchAll(eachWithEmoji)) {
    const shape = match.groups?.emoji;
    if (shape === undefined) take(match, 0);
    else if (suspect.test(shape) && !isEmoji(shape)) {
      for (const part of shape.matchAll(each)) take(part, match.index);
    }
  }
  for (const segment of markedSegments(text.slice(end))) segments.push(segment);
  return segments;
}

/**
 * The text with a chip such as [U+202E RLO], [U+200B ZWSP ×3] or [40 spaces] for what cannot be seen, and one such as
 * [mixes Latin and Cyrillic] or [xn--80ak6aa92e.com] behind what may be taken for something else.
 */
export function toVisibleText(text: string, options: VisibleTextOptions = {}): string {
  return segmentsOf(text, options)
    .map((segment, index, all) => visibleTextOf(segment, all[index + 1]))
    .join("");
}

/** For comparing only: what is shown must keep them all. */
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
  const named = `(?<hidden>${hiddenSet})\\k<hidden>{0,65535}|(?<space>${space})`;
  return {
    suspect: new RegExp(`${hiddenSet}|${space}`, "v"),
    each: new RegExp(named, "gv"),
    eachWithEmoji: new RegExp(`(?<emoji>${emojiShape})|${named}`, "gv"),
  };
}

/** The list of all emoji is long to search, and a text that has one of them often has it again. */
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

/** What stands between two chips, with the words in it marked that may be taken for others. */
function markedSegments(text: string): Segment[] {
  const segments: Segment[] = [];
  let end = 0;
  for (const { at, ...segment } of lookalikesIn(text)) {
    if (at > end) segments.push({ kind: "text", text: text.slice(end, at) });
    segments.push(segment);
    end = at + segment.text.length;
  }
  if (end < text.length) segments.push({ kind: "text", text: text.slice(end) });
  return segments;
}

function nameOf(codePoint: number): string | null {
  if (codePoint >= 0xfe00 && codePoint <= 0xfe0f) return `VS${codePoint - 0xfe00 + 1}`;
  if (codePoint >= 0xe0100 && codePoint <= 0xe01ef) return `VS${codePoint - 0xe0100 + 17}`;
  if (codePoint >= 0xe0020 && codePoint <= 0xe007e) {
    return `TAG ${codePoint === 0xe0020 ? "SPACE" : String.fromCodePoint(codePoint - 0xe0000)}`;
  }
  return names.get(codePoint) ?? null;
}

/** Short names, as people who look into such texts know them. Others show their number alone. */
const names = new Map<number, string>([
  [0x0000, "NUL"],
  [0x0007, "BEL"],
  [0x0008, "BACKSPACE"],
  [0x0009, "TAB"],
  [0x000a, "LF"],
  [0x000b, "VT"],
  [0x000c, "FF"],
  [0x000d, "CR"],
  [0x001b, "ESC"],
  [0x007f, "DEL"],
  [0x0085, "NEL"],
  [0x00a0, "NBSP"],
  [0x00ad, "SHY"],
  [0x034f, "CGJ"],
  [0x061c, "ALM"],
  [0x115f, "HANGUL CHOSEONG FILLER"],
  [0x1160, "HANGUL JUNGSEONG FILLER"],
  [0x1680, "OGHAM SPACE"],
  [0x180e, "MVS"],
  [0x2000, "EN QUAD"],
  [0x2001, "EM QUAD"],
  [0x2002, "EN SPACE"],
  [0x2003, "EM SPACE"],
  [0x2004, "THREE-PER-EM SPACE"],
  [0x2005, "FOUR-PER-EM SPACE"],
  [0x2006, "SIX-PER-EM SPACE"],
  [0x2007, "FIGURE SPACE"],
  [0x2008, "PUNCTUATION SPACE"],
  [0x2009, "THIN SPACE"],
  [0x200a, "HAIR SPACE"],
  [0x200b, "ZWSP"],
  [0x200c, "ZWNJ"],
  [0x200d, "ZWJ"],
  [0x200e, "LRM"],
  [0x200f, "RLM"],
  [0x2028, "LINE SEPARATOR"],
  [0x2029, "PARAGRAPH SEPARATOR"],
  [0x202a, "LRE"],
  [0x202b, "RLE"],
  [0x202c, "PDF"],
  [0x202d, "LRO"],
  [0x202e, "RLO"],
  [0x202f, "NNBSP"],
  [0x205f, "MATH SPACE"],
  [0x2060, "WJ"],
  [0x2061, "FUNCTION APPLICATION"],
  [0x2062, "INVISIBLE TIMES"],
  [0x2063, "INVISIBLE SEPARATOR"],
  [0x2064, "INVISIBLE PLUS"],
  [0x2066, "LRI"],
  [0x2067, "RLI"],
  [0x2068, "FSI"],
  [0x2069, "PDI"],
  [0x2800, "BRAILLE BLANK"],
  [0x3000, "IDEOGRAPHIC SPACE"],
  [0x3164, "HANGUL FILLER"],
  [0xfeff, "BOM"],
  [0xffa0, "HALFWIDTH HANGUL FILLER"],
  [0xfff9, "ANNOTATION ANCHOR"],
  [0xfffa, "ANNOTATION SEPARATOR"],
  [0xfffb, "ANNOTATION END"],
  [0xfffc, "OBJECT REPLACEMENT"],
  [0x13441, "HIEROGLYPH FULL BLANK"],
  [0x13442, "HIEROGLYPH HALF BLANK"],
  [0x16fe4, "KHITAN FILLER"],
  [0x1d159, "NULL NOTEHEAD"],
  [0xe0001, "LANGUAGE TAG"],
  [0xe007f, "CANCEL TAG"],
]);
