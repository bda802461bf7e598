// Finds words that may be taken for others: those that mix scripts whose letters look alike, and names of hosts beyond
// ASCII, which show what they are called on the wire.

import type { Marked } from "./marks.ts";
import { once } from "./once.ts";

type Placed = Marked & { at: number };

/** In the order in which they stand, each with its place. */
export function* lookalikesIn(text: string): Generator<Placed> {
  if (beyondAscii.test(text) && letterOrAddress().test(text)) yield* marksIn(text);
}

// What knows the letters of the world takes a moment to build, so it is built when a text first needs it.
const beyondAscii = /\P{ASCII}/u;
const letterOrAddress = once(
  () => /[[\p{L}\p{M}\p{N}]--\p{ASCII}]|[@\uFF20\uFE6B:\uFF1A\uFE55\uFE13]/v,
);
/** Programs and international domain names take these for a full stop. */
const dots = String.raw`.\uFF0E\uFE52\u2024\u3002\uFF61`;
const nameCharacters = String.raw`\p{L}\p{M}\p{N}_\-${dots}`;
// Signs belong to a host where one must stand: some look like the slash that would end it. So does what else
// emoji are made of, because no mark may stand inside one.
const hostCharacters = String.raw`${nameCharacters}[\p{S}--\p{ASCII}]\u200D\u{E0020}-\u{E007F}`;
// Where an end is looked for, each pattern is one character: a loop over a long text could outgrow its stack.
const nameEnd = once(() => new RegExp(`[^${nameCharacters}]`, "gv"));
const hostEnd = once(() => new RegExp(`[^${hostCharacters}]`, "gv"));
const userInfoEnd = once(() => new RegExp(`[^${nameCharacters}:~%!$\\&*+=]`, "gv"));
const foreignLetter = once(() => /[[\p{L}\p{M}\p{N}]--\p{ASCII}]/gv);

/** What a host follows: the slashes of an address, or the @ of a mailbox, but not the one of @somebody. */
const addressMark = once(
  () => /[:\uFF1A\uFE55\uFE13][/\\\uFF0F]{2,8}|(?<=[^\s\p{Ps}\p{Pi}<,;/])[@\uFF20\uFE6B]/gu,
);

function* marksIn(text: string): Generator<Placed> {
  let end = 0;
  for (const match of text.matchAll(addressMark())) {
    const start = match.index + match[0].length;
    const host = match[0].length > 1 && isUserInfo(text, start) ? null : hostAt(text, start);
    if (host === null) continue;
    yield* wordMarks(text.slice(end, start), end);
    yield { at: start, ...host };
    end = start + host.text.length;
  }
  yield* wordMarks(text.slice(end), end);
}

/** In https://name:password@host the host comes later. With quotes or commas between, the @ is somebody else's. */
function isUserInfo(text: string, start: number): boolean {
  return text[indexOf(userInfoEnd(), text, start)] === "@";
}

/** The longest piece that is a host; null when it is none, or a plain one. */
function hostAt(text: string, start: number): Marked | null {
  const longest = text.slice(start, indexOf(hostEnd(), text, start));
  if (!beyondAscii.test(longest)) return null;
  return hostOf(longest) ?? hostOf(text.slice(start, indexOf(nameEnd(), text, start)));
}

/** No name of a host is longer, and to translate a very long one would take very long. */
const hostCharactersMax = 253;
const dotsAtEnd = new RegExp(`[${dots}]+$`, "v");

function hostOf(name: string): Marked | null {
  if (name.length > hostCharactersMax) return null;
  const text = name.replace(dotsAtEnd, "");
  const url = `http://${text}`;
  if (!beyondAscii.test(text) || !URL.canParse(url)) return null;
  const mark = { kind: "host", ascii: new URL(url).hostname, reads: null } as const;
  return { kind: "marked", text, mark, isQuiet: false };
}

/** Marks in a text without addresses; `offset` is its place in the whole. */
function* wordMarks(text: string, offset: number): Generator<Placed> {
  for (let at = 0; at < text.length; ) {
    const first = indexOf(foreignLetter(), text, at);
    let start = first;
    while (start > at && isAsciiNameCode(text.charCodeAt(start - 1))) start -= 1;
    at = indexOf(nameEnd(), text, first);
    yield* nameMarks(text.slice(start, at), offset + start, text[at] ?? "");
  }
}

// A mark at the start belongs to what stands before, such as the sign of an emoji.
const dotsAround = once(() => new RegExp(`^[${dots}\\-\\p{M}]+|[${dots}\\-]+$`, "gv"));
const wordPattern = once(() => /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*/gu);

function* nameMarks(name: string, offset: number, next: string): Generator<Placed> {
  const isShort = name.length <= hostCharactersMax;
  const trimmed = isShort ? name.replaceAll(dotsAround(), "") : "";
  const host = next !== "@" && looksLikeHost(trimmed) ? hostOf(trimmed) : null;
  if (host !== null) yield { at: offset + name.indexOf(trimmed), ...host };
  else if (scriptsOf(name).length > 1) {
    for (const { 0: text, index } of name.matchAll(wordPattern())) {
      const scripts = scriptsOf(text);
      if (scripts.length < 2 || unitPattern.test(text)) continue;
      const mark = { kind: "lookAlike", reads: null, scripts: inWords(scripts), count: 1 } as const;
      yield { at: offset + index, kind: "marked", text, mark, isQuiet: false };
    }
  }
}

const confusable = once(
  () =>
    [
      ["Latin", /\p{Script=Latin}/u],
      ["Cyrillic", /\p{Script=Cyrillic}/u],
      ["Greek", /\p{Script=Greek}/u],
    ] as const,
);

/** Those of the scripts of which many letters look alike. */
function scriptsOf(text: string): string[] {
  return confusable()
    .filter(([, pattern]) => pattern.test(text))
    .map(([script]) => script);
}

function inWords(scripts: readonly string[]): string {
  return `${scripts.slice(0, -1).join(", ")} and ${scripts.at(-1)}`;
}

/** Such as 5kΩ, μm, ΔT: these Greek letters look like no Latin ones, and so short a word is a unit or a symbol. */
const unitPattern =
  /^[0-9]*(?:[A-Za-z]{1,2}[\u03A9\u2126]|[\u03A9\u2126\u03BC\u0394][A-Za-z]{1,3})[0-9]*$/u;

const anyDot = new RegExp(`[${dots}]`, "v");
const topLevelPattern = once(() => /^(?:\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$/iu);
const asciiPattern = /^\p{ASCII}+$/u;
/** In 请访问example.com the name begins where ASCII does. */
const plainNameInProse = once(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー][A-Za-z0-9][A-Za-z0-9._-]*$/u,
);
/** A new sentence after a full stop without a space. */
const sentenceStart = once(() => /^\p{Lu}\p{Ll}/u);
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
  if (!isDotted || !topLevelPattern().test(last) || fileEndings.has(last.toLowerCase()))
    return false;
  if (labels.some((label) => scriptsOf(label).length > 1)) return true;
  if (sentenceStart().test(last)) return false;
  if (asciiPattern.test(last)) return !plainNameInProse().test(name);
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
