// Splits text into the words by which it is found, in any language. Index and search use the same rules.
//
// Letters are compared without case, accents and invisible characters. A text such as `ann.lee@example.com` is found by
// the beginning of each of its parts: `ann.lee@ex`, `lee@example`, `example.com`. Scripts without spaces are found by
// any two neighbouring characters.
//
// Anybody may send any text, so the time it takes depends on the length of the text alone. Long texts come in pieces: a
// caller can do other work between two of them.

import {
  gluedCharactersMax,
  searchMarksMax,
  searchPieceCharacters,
  searchWordCharactersMax,
} from "../limits.ts";

/** A word of a search: whole, or only its beginning. `glued` are words that do as well, see gluedNumbers. */
export type Term = { word: string; isBeginning: boolean; glued?: readonly string[] };

export function wordsOf(text: string): string[] {
  if (text.length <= searchPieceCharacters) return wordsOfPiece(text);
  return [...piecesOf(text)].flatMap(wordsOfPiece);
}

/** Divided at a space if a piece has one, else at a sign, else anywhere. */
export function* piecesOf(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > searchPieceCharacters) {
    const piece = text.slice(from, from + searchPieceCharacters);
    const length =
      endOfLast(/\s/, piece) || endOfLast(/[\p{P}\p{S}]/u, piece) || whole(piece).length;
    yield piece.slice(0, length);
    from += length;
  }
  yield text.slice(from);
}

function endOfLast(sign: RegExp, piece: string): number {
  for (let end = piece.length; end > 0; end -= 1) {
    if (sign.test(piece.charAt(end - 1))) return end;
  }
  return 0;
}

function wordsOfPiece(piece: string): string[] {
  const words: string[] = [];
  const text = folded(piece);
  split(text, {
    onCompound: ({ joined, starts }) => {
      for (const start of starts) words.push(cut(joined.slice(start)));
      // People leave signs out: `obrien`, `ord20240017`.
      if (starts.length > 1 && joined.length <= gluedCharactersMax) {
        words.push(joined.replaceAll(".", ""));
      }
    },
    onUnspaced: (characters) => {
      const last = characters.length - 1;
      characters.forEach((character, at) => {
        words.push(at === last ? character : character + characters[at + 1]);
      });
    },
  });
  for (const [number] of text.matchAll(spacedNumbers)) {
    words.push(glue(number), glue(withoutLetters(number)));
  }
  return words;
}

/** Phone, card, account and order numbers: digits in groups. They may begin with letters, `DE89 3704` or `ORD 2024 0017`. */
const spacedNumbers = /(?<![\p{L}\p{N}])(?:[a-z]{1,5}[ -]?)?[0-9][0-9 ()/.-]{5,40}[0-9](?![0-9])/gu;

function glue(number: string): string {
  return number.replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function withoutLetters(number: string): string {
  return number.replace(/^\D+/, "");
}

/** A typed number in groups. A dot is no sign of one: `49.00` must not find 4900. */
const typedNumbers =
  /(?<![\p{L}\p{N}.,])(?:[a-z]{1,5}[ -]?)?[0-9][0-9 ()/-]{3,40}[0-9](?![0-9]|[.,][0-9])/gu;
/** Two numbers that somebody types beside each other, such as an amount and a year, rarely have more digits together. */
const typedDigitsMin = 6;

/** Every term must be found. Empty when the typed text holds no letter or digit. */
export function termsOf(typed: string): Term[] {
  const terms = new Map<string, Term>();
  const add = (term: Term) => terms.set(`${term.isBeginning} ${term.word}`, term);
  const text = folded(typed);
  const numbers = gluedNumbers(text);
  split(text, {
    onCompound: ({ joined }) => {
      const glued = numbers.get(joined);
      add({ word: cut(joined), isBeginning: true, ...(glued === undefined ? {} : { glued }) });
    },
    onUnspaced: (characters) => {
      if (characters.length === 1) add({ word: characters[0] ?? "", isBeginning: true });
      for (const [at, character] of characters.slice(0, -1).entries()) {
        add({ word: character + characters[at + 1], isBeginning: false });
      }
    },
  });
  return [...terms.values()];
}

/**
 * The groups of each typed number, with the whole number that does as well in the place of every one of them: `+49 171
 * 123` finds +49171123. A part such as `ord-2024` is never taken without its letters: that would find inv-2024.
 */
function gluedNumbers(text: string): Map<string, string[]> {
  const glued = new Map<string, string[]>();
  for (const [number] of text.matchAll(typedNumbers)) {
    if (number.replaceAll(/\D/g, "").length < typedDigitsMin) continue;
    for (const form of new Set([number, withoutLetters(number)])) {
      split(form, {
        onCompound: ({ joined }) => {
          glued.set(joined, [...(glued.get(joined) ?? []), glue(form)]);
        },
        onUnspaced: () => {},
      });
    }
  }
  return glued;
}

export function isMatch({ word, isBeginning, glued = [] }: Term, words: Iterable<string>): boolean {
  for (const each of words) {
    if (isBeginning ? each.startsWith(word) : each === word) return true;
    if (glued.some((number) => each.startsWith(number))) return true;
  }
  return false;
}

type Parts = {
  /** Words that only signs divide, joined by dots, and where each of them starts. */
  onCompound: (compound: { joined: string; starts: number[] }) => void;
  /** The characters of a run in a script without spaces. */
  onUnspaced: (characters: string[]) => void;
};

function split(text: string, { onCompound, onUnspaced }: Parts): void {
  let joined = "";
  let starts: number[] = [];
  const endCompound = () => {
    if (starts.length > 0) onCompound({ joined, starts });
    joined = "";
    starts = [];
  };
  for (const { groups = {} } of text.matchAll(parts)) {
    const { word, unspaced } = groups;
    if (word !== undefined) {
      if (starts.length > 0) joined += ".";
      starts.push(joined.length);
      joined += word;
    } else {
      endCompound();
      if (unspaced !== undefined) onUnspaced([...unspaced]);
    }
  }
  endCompound();
}

/** Scripts whose writers put no spaces between words. */
const unspacedScripts =
  "\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}";
const letters = "[\\p{L}\\p{N}\\p{M}]";
/** Signs are matched by none of these, so they only divide. */
const parts = new RegExp(
  `(?<unspaced>[[${unspacedScripts}]&&${letters}]+)|(?<word>[${letters}--[${unspacedScripts}]]+)|(?<space>\\s+)`,
  "gv",
);

/** Accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic, and characters that nobody sees. */
const ignored =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\p{VS}\p{Cf}]/gu;

/** Letters that Unicode doesn't take apart, and the many shapes of an apostrophe. */
const plainLetters = new Map(
  Object.entries({
    ...{ ß: "ss", ς: "σ", ø: "o", ł: "l", đ: "d", ð: "d", ħ: "h", ı: "i", ŧ: "t" },
    ...{ æ: "ae", œ: "oe", þ: "th", ʼ: "'", ʹ: "'", ʻ: "'" },
  }),
);
const ascii = /^[\0-\x7f]*$/;
const otherLetters = new RegExp(`[${[...plainLetters.keys()].join("")}]`, "g");

function folded(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  const decomposed = fewMarks(text.toWellFormed().replaceAll(ignored, ""))
    .replaceAll(longSigns, " ")
    .normalize("NFKD");
  return fewMarks(decomposed.toLowerCase().replaceAll(ignored, ""))
    .normalize("NFC")
    .replaceAll(otherLetters, (letter) => plainLetters.get(letter) ?? letter);
}

/** One character of these becomes a sentence of up to 18. Each is a pious wish, by which nobody searches. */
const longSigns = /[\ufdfa\ufdfb]/g;

/** Normalising sorts the marks of a letter, in time that grows with the square of their number. No language has many. */
function fewMarks(text: string): string {
  return text.replaceAll(manyMarks, (marks) => whole(marks.slice(0, searchMarksMax)));
}

/** Half-width sound marks are no marks until they are normalised. */
const manyMarks = new RegExp(`[\\p{M}\\uff9e\\uff9f]{${searchMarksMax + 1},}`, "gu");

function cut(word: string): string {
  return word.length <= searchWordCharactersMax
    ? word
    : whole(word.slice(0, searchWordCharactersMax));
}

/** Without the first half of a character at its end. */
function whole(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "");
}
