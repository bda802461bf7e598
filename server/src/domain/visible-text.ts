// Makes what cannot be seen visible: a text that a stranger wrote becomes segments in which every hidden character
// and every long stretch of white space has a name. Nothing is removed, because that would change what is approved.
// Words that may be taken for others are marked: those that mix scripts, and names of hosts beyond ASCII.

export type Segment =
  | { kind: "text"; text: string }
  /** A word with letters of several scripts, such as "Latin and Cyrillic": some of them look the same. */
  | { kind: "mixed"; text: string; scripts: string }
  /** A host's name that is not plain ASCII, and what it is called on the wire. */
  | { kind: "host"; text: string; ascii: string }
  | { kind: "hidden"; codePoint: number; name: string | null; count: number }
  | { kind: "space"; count: number };

export type VisibleTextOptions = {
  /** Then line breaks and tabs are ordinary; elsewhere they are hidden characters like any other. */
  isMultiLine?: boolean;
};

// Each property catches what the others miss: Cf has no variation selectors, the default ignorable ones have no
// interlinear annotations, and neither has the blanks that fonts draw as nothing (NBSP, U+3000, U+2800).
const hidden = String.raw`[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}\u2800]--[\u0020]]`;
const hiddenInLines = `[${hidden}--[\\n\\t]]`;
// Repetitions have an upper bound, because one of millions would overflow the stack of the regular expression. What is
// longer is found in pieces and put together again.
const longSpace = " {9,65536}";
const longSpaceInLines = String.raw`[ \t]{9,65536}|\n(?:[ \t]{0,8}\n){8,4096}`;

// A well-formed emoji may hold joiners and selectors: they are how it is written. Its rough shape is looked for
// first, because to look for all emoji at every character of a long text takes seconds.
const pictograph = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;
const emojiShape = String.raw`[0-9#\*]\uFE0F\u20E3|\u{1F3F4}[\u{E0020}-\u{E007F}]{1,16}|${pictograph}(?:\u200D${pictograph}){0,16}`;
const emoji = /^\p{RGI_Emoji}$/v;

const inOneLine = patternsOf(hidden, longSpace);
const inLines = patternsOf(hiddenInLines, longSpaceInLines);

export function segmentsOf(
  text: string,
  { isMultiLine = false }: VisibleTextOptions = {},
): Segment[] {
  const { suspect, each, eachWithEmoji } = isMultiLine ? inLines : inOneLine;
  // Most texts are ordinary, and this look is much cheaper than taking one apart.
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

export function chipOf(segment: Exclude<Segment, { kind: "text" }>): string {
  if (segment.kind === "space") return `[${segment.count} spaces]`;
  if (segment.kind === "mixed") return `[mixes ${segment.scripts}]`;
  if (segment.kind === "host") return `[${segment.ascii}]`;
  const code = segment.codePoint.toString(16).toUpperCase().padStart(4, "0");
  const name = segment.name === null ? "" : ` ${segment.name}`;
  const times = segment.count === 1 ? "" : ` ×${segment.count}`;
  return `[U+${code}${name}${times}]`;
}

function visibleTextOf(segment: Segment, next: Segment | undefined): string {
  if (segment.kind === "text") return segment.text;
  const chip = chipOf(segment);
  if (segment.kind === "hidden" || segment.kind === "space") return chip;
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
    const answer = known.get(shape) ?? emoji.test(shape);
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
  if (beyondAscii.test(text) && letterOrAddress.test(text)) {
    for (const { at, segment } of marksIn(text)) {
      if (at > end) segments.push({ kind: "text", text: text.slice(end, at) });
      segments.push(segment);
      end = at + segment.text.length;
    }
  }
  if (end < text.length) segments.push({ kind: "text", text: text.slice(end) });
  return segments;
}

type Mark = { at: number; segment: Extract<Segment, { kind: "mixed" | "host" }> };

// Without these there is nothing to mark, and most texts have none.
const beyondAscii = /\P{ASCII}/u;
const letterOrAddress = /[[\p{L}\p{M}\p{N}]--\p{ASCII}]|[@\uFF20\uFE6B:\uFF1A\uFE55\uFE13]/v;
/** Programs and international domain names take these for a full stop. */
const dots = String.raw`.\uFF0E\uFE52\u2024\u3002\uFF61`;
const nameCharacters = String.raw`\p{L}\p{M}\p{N}_\-${dots}`;
// Signs belong to a host where one must stand: some look like the slash that would end it. So does what else
// emoji are made of, because no mark may stand inside one.
const hostCharacters = String.raw`${nameCharacters}[\p{S}--\p{ASCII}]\u200D\u{E0020}-\u{E007F}`;
// Where an end is looked for, each pattern is one character: a loop over a long text could outgrow its stack.
const nameEnd = new RegExp(`[^${nameCharacters}]`, "gv");
const hostEnd = new RegExp(`[^${hostCharacters}]`, "gv");
const userInfoEnd = new RegExp(`[^${nameCharacters}:~%!$\\&*+=]`, "gv");
const foreignLetter = /[[\p{L}\p{M}\p{N}]--\p{ASCII}]/gv;

/** What a host follows: the slashes of an address, or the @ of a mailbox, but not the one of @somebody. */
const addressMark =
  /[:\uFF1A\uFE55\uFE13][/\\\uFF0F]{2,8}|(?<=[^\s\p{Ps}\p{Pi}<,;/])[@\uFF20\uFE6B]/gu;

function* marksIn(text: string): Generator<Mark> {
  let end = 0;
  for (const match of text.matchAll(addressMark)) {
    const start = match.index + match[0].length;
    const host = match[0].length > 1 && isUserInfo(text, start) ? null : hostAt(text, start);
    if (host === null) continue;
    yield* wordMarks(text.slice(end, start), end);
    yield { at: start, segment: host };
    end = start + host.text.length;
  }
  yield* wordMarks(text.slice(end), end);
}

/** In https://name:password@host the host comes later. With quotes or commas between, the @ is somebody else's. */
function isUserInfo(text: string, start: number): boolean {
  return text[indexOf(userInfoEnd, text, start)] === "@";
}

/** The longest piece that is a host; null when it is none, or a plain one. */
function hostAt(text: string, start: number): HostSegment | null {
  const longest = text.slice(start, indexOf(hostEnd, text, start));
  if (!beyondAscii.test(longest)) return null;
  return hostOf(longest) ?? hostOf(text.slice(start, indexOf(nameEnd, text, start)));
}

type HostSegment = Extract<Segment, { kind: "host" }>;

/** No name of a host is longer, and to translate a very long one would take very long. */
const hostCharactersMax = 253;
const dotsAtEnd = new RegExp(`[${dots}]+$`, "v");

function hostOf(name: string): HostSegment | null {
  if (name.length > hostCharactersMax) return null;
  const text = name.replace(dotsAtEnd, "");
  const url = `http://${text}`;
  if (!beyondAscii.test(text) || !URL.canParse(url)) return null;
  return { kind: "host", text, ascii: new URL(url).hostname };
}

/** Marks in a text without addresses; `offset` is its place in the whole. */
function* wordMarks(text: string, offset: number): Generator<Mark> {
  for (let at = 0; at < text.length; ) {
    const first = indexOf(foreignLetter, text, at);
    let start = first;
    while (start > at && isAsciiNameCode(text.charCodeAt(start - 1))) start -= 1;
    at = indexOf(nameEnd, text, first);
    yield* nameMarks(text.slice(start, at), offset + start, text[at] ?? "");
  }
}

// A mark at the start belongs to what stands before, such as the sign of an emoji.
const dotsAround = new RegExp(`^[${dots}\\-\\p{M}]+|[${dots}\\-]+$`, "gv");
const wordPattern = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*/gu;

function* nameMarks(name: string, offset: number, next: string): Generator<Mark> {
  const isShort = name.length <= hostCharactersMax;
  const trimmed = isShort ? name.replaceAll(dotsAround, "") : "";
  const host = next !== "@" && looksLikeHost(trimmed) ? hostOf(trimmed) : null;
  if (host !== null) yield { at: offset + name.indexOf(trimmed), segment: host };
  else if (scriptsOf(name).length > 1) {
    for (const { 0: text, index } of name.matchAll(wordPattern)) {
      const scripts = scriptsOf(text);
      if (scripts.length < 2 || unitPattern.test(text)) continue;
      yield { at: offset + index, segment: { kind: "mixed", text, scripts: inWords(scripts) } };
    }
  }
}

const confusable = [
  ["Latin", /\p{Script=Latin}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
] as const;

/** Those of the scripts of which many letters look alike. */
function scriptsOf(text: string): string[] {
  return confusable.filter(([, pattern]) => pattern.test(text)).map(([script]) => script);
}

function inWords(scripts: readonly string[]): string {
  return `${scripts.slice(0, -1).join(", ")} and ${scripts.at(-1)}`;
}

/** Such as 5kΩ, μm, ΔT: these Greek letters look like no Latin ones, and so short a word is a unit or a symbol. */
const unitPattern =
  /^[0-9]*(?:[A-Za-z]{1,2}[\u03A9\u2126]|[\u03A9\u2126\u03BC\u0394][A-Za-z]{1,3})[0-9]*$/u;

const anyDot = new RegExp(`[${dots}]`, "v");
const topLevelPattern = /^(?:\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$/iu;
const asciiPattern = /^\p{ASCII}+$/u;
/** In 请访问example.com the name begins where ASCII does. */
const plainNameInProse =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー][A-Za-z0-9][A-Za-z0-9._-]*$/u;
/** A new sentence after a full stop without a space. */
const sentenceStart = /^\p{Lu}\p{Ll}/u;
/** Ends of names of files; none is a top-level domain. */
const fileEndings = new Set(
  "pdf doc docx xls xlsx xlsm ppt pptx odt ods odp rtf txt csv tsv json jsonl xml yaml yml toml html htm css scss js mjs cjs jsx ts tsx sql log ini cfg conf bak tmp png jpg jpeg gif svg webp bmp tif tiff heic wav ogg avi mkv webm exe dll msi dmg pkg deb rpm apk iso tar gz tgz xz rar eml msg ics vcf".split(
    " ",
  ),
);

/** Whether a name with dots, with nothing around it that says so, is more likely a host than prose or a file. */
function looksLikeHost(name: string): boolean {
  const labels = name.split(anyDot);
  const last = labels.at(-1) ?? "";
  const isDotted = labels.length > 1 && name.at(-1 - last.length) === "." && !labels.includes("");
  if (!isDotted || !topLevelPattern.test(last) || fileEndings.has(last.toLowerCase())) return false;
  if (labels.some((label) => scriptsOf(label).length > 1)) return true;
  if (sentenceStart.test(last)) return false;
  if (asciiPattern.test(last)) return !plainNameInProse.test(name);
  // In one script it is prose; in two it may be google.сом, but "e.g.это" is prose again.
  return scriptsOf(name).length > 1 && labels.every((label) => /\p{L}\p{M}*\p{L}/u.test(label));
}

/** The place of the first match of a pattern from `start` on, or the end of the text. */
function indexOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.exec(text)?.index ?? text.length;
}

function isAsciiNameCode(code: number): boolean {
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  const isDigit = code >= 0x30 && code <= 0x39;
  return isLetter || isDigit || code === 0x2d || code === 0x2e || code === 0x5f;
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
  [0xe0001, "LANGUAGE TAG"],
  [0xe007f, "CANCEL TAG"],
]);
