// Finds misleading parts of a text: words and numbers with letters that only look plain, addresses that lead elsewhere,
// signs that look like a slash or a dot, and letters under piles of marks.

import {
  addressesIn,
  dots,
  encodedHostOf,
  hostCharactersMax,
  hostOf,
  indexOf,
  mayHoldAddress,
  mixesScripts,
  type Placed,
} from "./addresses.ts";
import { charactersLike, readingOf } from "./confusables.ts";
import { judgeNumber, judgeWord } from "./lookalike-words.ts";
import { pilesIn, strayMarkAt } from "./mark-piles.ts";
import { once } from "./once.ts";
import type { Evidence } from "./text-evidence.ts";

/**
 * In text order, each with its place. The evidence is that of the whole text, and `isStart` says whether this is its
 * first part.
 */
export function* lookalikesIn(
  text: string,
  evidence: Evidence,
  isStart: boolean,
): Generator<Placed> {
  if (isStart) {
    const stray = strayMarkAt(text);
    if (stray !== null) {
      yield stray;
      yield* shifted(
        lookalikesIn(text.slice(stray.text.length), evidence, false),
        stray.text.length,
      );
      return;
    }
  }
  const isOdd = oddInAscii.test(text) || (beyondAscii.test(text) && foreignSign().test(text));
  if (isOdd) yield* marksIn(text, evidence);
}

/** A quick check of plain text: most of it holds nothing misleading. */
export function isPlainAscii(text: string): boolean {
  return !beyondAscii.test(text) && !oddInAscii.test(text);
}

function* shifted(marks: Iterable<Placed>, by: number): Generator<Placed> {
  for (const placed of marks) yield { ...placed, at: placed.at + by };
}

const beyondAscii = /\P{ASCII}/u;
/** Plain text may hold numbers with letters in them, and addresses. Most has neither. */
const oddInAscii = /[0-9][-.,:'/]?[OolI|]|[OolI|][.,']?[0-9]|:[/\\]|https?:|ftp:|wss?:|xn--/i;
// The tables of the world's letters take a moment to build, so they are built when a text first needs them.
const foreignSign = once(
  () =>
    new RegExp(
      `[[\\p{L}\\p{M}\\p{N}]--\\p{ASCII}]|[@\uFF20\uFE6B]|${oddSeparator().source}|[${circled}]|${letterSymbol}`,
      "v",
    ),
);

function* marksIn(text: string, evidence: Evidence): Generator<Placed> {
  if (!mayHoldAddress().test(text)) return yield* plainMarks(text, 0, evidence);
  let end = 0;
  for (const address of addressesIn(text, evidence)) {
    yield* plainMarks(text.slice(end, address.at), end, evidence);
    yield address;
    end = address.at + address.text.length;
  }
  yield* plainMarks(text.slice(end), end, evidence);
}

/** Marks in a text without addresses; `offset` is its place in the whole. */
function* plainMarks(text: string, offset: number, evidence: Evidence): Generator<Placed> {
  if (!beyondAscii.test(text))
    return yield* inOrder([numberMarks(text, evidence), encodedHosts(text, evidence)], offset);
  let end = 0;
  for (const pile of pilesIn(text)) {
    yield* unpiledMarks(text.slice(end, pile.at), offset + end, evidence);
    yield { ...pile, at: offset + pile.at };
    end = pile.at + pile.text.length;
  }
  yield* unpiledMarks(text.slice(end), offset + end, evidence);
}

function unpiledMarks(text: string, offset: number, evidence: Evidence): Generator<Placed> {
  const found = [
    numberMarks(text, evidence),
    foreignNumbers(text, evidence),
    encodedHosts(text, evidence),
    wordMarks(text, evidence),
    separatorMarks(text, evidence),
  ];
  return inOrder(found, offset);
}

/** Merges the results of several searches in text order. Of two that overlap the first counts. */
function* inOrder(searches: Iterable<Placed>[], offset: number): Generator<Placed> {
  const found = searches.flatMap((search) => [...search]);
  if (found.length > 1) found.sort((one, other) => one.at - other.at);
  let end = 0;
  for (const placed of found) {
    if (placed.at < end) continue;
    end = placed.at + placed.text.length;
    yield { ...placed, at: offset + placed.at };
  }
}

// Numbers with letters in them

/** Letters of any alphabet that look like a zero or a one. */
const digitLike = once(() =>
  ["O", "o", "l", "I"]
    .flatMap(charactersLike)
    .filter((character) => /\p{L}/u.test(character))
    .join(""),
);
const numberToken = once(() => {
  const digit = `0-9OolI\\|${digitLike()}`;
  const before = String.raw`(?<![^\s"'“”„«»\(\)\[\]\{\}<>=;])[\-+−]?[$€£¥₹]?`;
  const after = String.raw`(?=[.,:'\/\-]{0,2}(?:EUR|USD|GBP|CHF|JPY|CNY|INR|[kKmM%€$£])?[.,;:!?]?(?:[\s"'“”«»\(\)\[\]\{\}<>;]|$))`;
  return new RegExp(
    `${before}(?<token>[${digit}][${digit}.,:'\\/\\-]{0,40}[${digit}])${after}`,
    "gv",
  );
});
const letterAtDigit = once(
  () =>
    new RegExp(`[0-9][\\-.,:'\\/]?[OolI\\|${digitLike()}]|[OolI\\|${digitLike()}][.,']?[0-9]`, "v"),
);

function* numberMarks(text: string, evidence: Evidence): Generator<Placed> {
  if (!letterAtDigit().test(text)) return;
  for (const match of text.matchAll(numberToken())) {
    const token = match.groups?.token ?? "";
    const judged = judgeNumber(token, evidence);
    const at = match.index + match[0].length - token.length;
    if (judged !== null) yield { at, kind: "marked", text: token, ...judged };
  }
}

/** Numbers of several parts, such as ১,২৫০.০০. */
const foreignNumber = once(
  () =>
    /(?<![\p{L}\p{M}\p{N}_])\p{Nd}{1,64}(?:[.,'’:/\-\u066B\u066C]\p{Nd}{1,64}){1,16}(?![\p{L}\p{M}\p{N}_])/gu,
);
const foreignDigit = once(() => /[\p{Nd}--[0-9]]/v);

function* foreignNumbers(text: string, evidence: Evidence): Generator<Placed> {
  if (!foreignDigit().test(text)) return;
  for (const { 0: number, index } of text.matchAll(foreignNumber())) {
    const judged = foreignDigit().test(number) ? judgeWord(number, evidence) : null;
    if (judged !== null) yield { at: index, kind: "marked", text: number, ...judged };
  }
}

// Hosts in wire form, but not those of our own chips

const encodedHost =
  /(?<![\w.-]|\[(?:really |goes to )?)(?:[a-z0-9_-]{1,63}\.){0,8}xn--[a-z0-9-]{1,59}(?:\.[a-z0-9_-]{1,63}){0,8}/gi;

function* encodedHosts(text: string, evidence: Evidence): Generator<Placed> {
  if (!/xn--/i.test(text)) return;
  for (const { 0: name, index } of text.matchAll(encodedHost)) {
    const host = encodedHostOf(name, evidence);
    if (host !== null) yield { at: index, ...host };
  }
}

// Words

const circled = String.raw`\u249C-\u24E9\u{1F110}-\u{1F12B}\u{1F130}-\u{1F149}`;
const nameCharacters = String.raw`\p{L}\p{M}\p{N}_\-${circled}${dots}`;
const nameEnd = once(() => new RegExp(`(?:[^${nameCharacters}])`, "gv"));
const foreignLetter = once(
  () => new RegExp(`[[\\p{L}\\p{M}\\p{N}${circled}]--\\p{ASCII}]|${letterSymbol}`, "gv"),
);
/** Symbols of APL and others that read as a letter between letters. */
const letterSymbol = "(?<=[A-Za-z0-9])[\\u212E\\u2223\\u2373\\u2374\\u237A](?=[A-Za-z0-9])";

function* wordMarks(text: string, evidence: Evidence): Generator<Placed> {
  for (let at = 0; at < text.length; ) {
    const first = indexOf(foreignLetter(), text, at);
    let start = first;
    while (start > at && isAsciiNameCode(text.charCodeAt(start - 1))) start -= 1;
    at = endOfName(text, first);
    yield* nameMarks(text.slice(start, at), { offset: start, next: text[at] ?? "", evidence });
  }
}

/** A symbol that reads as a letter belongs to the name it stands in. */
function endOfName(text: string, first: number): number {
  let end = indexOf(nameEnd(), text, first);
  while (symbolInName().test(text.slice(end - 1, end + 2))) end = indexOf(nameEnd(), text, end + 1);
  return end;
}

const symbolInName = once(() => /^[A-Za-z0-9][\u212E\u2223\u2373\u2374\u237A][A-Za-z0-9]$/);

// A mark at the start belongs to the text before, such as the sign of an emoji.
const dotsAround = once(() => new RegExp(`^[${dots}\\-\\p{M}]+|[${dots}\\-]+$`, "gv"));
const word = once(
  () =>
    new RegExp(
      `[\\p{L}\\p{N}_${circled}](?:[\\p{L}\\p{M}\\p{N}_${circled}]|${letterSymbol}){0,255}`,
      "gv",
    ),
);

type Surroundings = { offset: number; next: string; evidence: Evidence };

function* nameMarks(name: string, { offset, next, evidence }: Surroundings): Generator<Placed> {
  const isShort = name.length <= hostCharactersMax;
  const trimmed = isShort ? name.replaceAll(dotsAround(), "") : "";
  const host = next !== "@" && looksLikeHost(trimmed) ? hostOf(trimmed, evidence) : null;
  if (host !== null) {
    yield { at: offset + name.indexOf(trimmed), ...host };
    return;
  }
  for (const { 0: text, index } of name.matchAll(word())) {
    const judged = beyondAscii.test(text) ? judgeWord(text, evidence) : null;
    if (judged !== null) yield { at: offset + index, kind: "marked", text, ...judged };
  }
}

const anyDot = new RegExp(`[${dots}]`, "v");
const topLevelPattern = once(() => /^(?:\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$/iu);
const asciiPattern = /^\p{ASCII}+$/u;
/** In 请访问example.com the name begins where ASCII does. */
const plainNameInProse = once(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー][A-Za-z0-9][A-Za-z0-9._-]*$/u,
);
/** A new sentence after a full stop without a space. */
const sentenceStart = once(() => /^\p{Lu}\p{Ll}/u);
/** File extensions; none is a top-level domain. */
const fileEndings = new Set(
  "pdf doc docx xls xlsx xlsm ppt pptx odt ods odp rtf txt csv tsv json jsonl xml yaml yml toml html htm css scss js mjs cjs jsx ts tsx sql log ini cfg conf bak tmp png jpg jpeg gif svg webp bmp tif tiff heic wav ogg avi mkv webm exe dll msi dmg pkg deb rpm apk iso tar gz tgz xz rar eml msg ics vcf".split(
    " ",
  ),
);

/** Whether a bare name with dots is more likely a host than prose or a file. */
function looksLikeHost(name: string): boolean {
  const labels = name.split(anyDot);
  const last = labels.at(-1) ?? "";
  const isDotted = labels.length > 1 && name.at(-1 - last.length) === "." && !labels.includes("");
  if (!isDotted || !topLevelPattern().test(last) || fileEndings.has(last.toLowerCase()))
    return false;
  if (labels.some(mixesScripts)) return true;
  if (sentenceStart().test(last)) return false;
  if (asciiPattern.test(last)) return !plainNameInProse().test(name);
  // In one script it is prose; in two it may be google.сом, but "e.g.это" is prose again.
  return mixesScripts(name) && labels.every((label) => /\p{L}\p{M}*\p{L}/u.test(label));
}

function isAsciiNameCode(code: number): boolean {
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  const isDigit = code >= 0x30 && code <= 0x39;
  return isLetter || isDigit || code === 0x2d || code === 0x2e || code === 0x5f;
}

// Signs that look like those of addresses, paths and numbers

/** They belong to Chinese, Japanese and Korean text. */
const wideSeparators = "／＼：．，。｡﹕﹒﹐";
const arabicSeparators = "\u066B\u066C";
const separatorReadings = new Map([
  ["。", "."],
  ["｡", "."],
  ["\u066B", "."],
  ["\u066C", ","],
]);
const oddSeparator = once(() => {
  const alike = ["/", "\\", ":", ".", ","].flatMap(charactersLike);
  const signs = alike.filter((character) => !/[\p{L}\p{M}\p{N}]/u.test(character));
  return new RegExp(`[${signs.join("")}${wideSeparators}\u2024\uFE13\uFE68\u066B\u066C]`, "gu");
});

function* separatorMarks(text: string, evidence: Evidence): Generator<Placed> {
  for (const { 0: sign, index } of text.matchAll(oddSeparator())) {
    const before = text[index - 1] ?? "";
    const after = text[index + sign.length] ?? "";
    const reads = separatorReadings.get(sign) ?? readingOf(sign);
    if (!isSeparator(reads, before, after)) continue;
    if (wideSeparators.includes(sign) && evidence.hasCjk()) continue;
    if (arabicSeparators.includes(sign) && evidence.hasLetters("Arabic")) continue;
    const mark = { kind: "separator", reads, codePoint: sign.codePointAt(0) ?? 0 } as const;
    yield { at: index, kind: "marked", text: sign, mark, isQuiet: false };
  }
}

/** Between letters it separates names; between digits only number signs do: 1⁄2 and 4∶3 are honest. */
function isSeparator(reads: string, before: string, after: string): boolean {
  const isNumber = /[0-9]/.test(before) && /[0-9]/.test(after);
  if (reads === ",") return isNumber;
  if (isNumber) return reads === ".";
  return /[A-Za-z0-9/\\:.]/.test(before) && /[A-Za-z0-9/\\:.]/.test(after);
}
