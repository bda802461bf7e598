// Splits text into the words by which it is found, in any language. Index and search use the same rules.
//
// Letters are compared without case, accents and invisible characters. A text such as `ann.lee@example.com` is found by
// the beginning of each of its parts: `ann.lee@ex`, `lee@example`, `example.com`. Scripts without spaces are found by
// any two neighbouring characters.

import { searchWordCharactersMax } from "../limits.ts";

/** A word of a search: whole, or only its beginning. */
export type Term = { word: string; isBeginning: boolean };

export function wordsOf(text: string): string[] {
  const words: string[] = [];
  split(text, {
    onCompound: ({ joined, starts }) => {
      for (const start of starts) words.push(cut(joined.slice(start)));
    },
    onUnspaced: (characters) => {
      const last = characters.length - 1;
      characters.forEach((character, at) => {
        words.push(at === last ? character : character + characters[at + 1]);
      });
    },
  });
  return words;
}

/** Every term must be found. Empty when the typed text holds no letter or digit. */
export function termsOf(typed: string): Term[] {
  const terms = new Map<string, Term>();
  const add = (term: Term) => terms.set(`${term.isBeginning} ${term.word}`, term);
  split(typed, {
    onCompound: ({ joined }) => add({ word: cut(joined), isBeginning: true }),
    onUnspaced: (characters) => {
      if (characters.length === 1) add({ word: characters[0] ?? "", isBeginning: true });
      for (const [at, character] of characters.slice(0, -1).entries()) {
        add({ word: character + characters[at + 1], isBeginning: false });
      }
    },
  });
  return [...terms.values()];
}

export function isMatch({ word, isBeginning }: Term, words: Iterable<string>): boolean {
  for (const each of words) {
    if (isBeginning ? each.startsWith(word) : each === word) return true;
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
  for (const { groups = {} } of folded(text).matchAll(parts)) {
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

function folded(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(ignored, "")
    .normalize("NFC")
    .replaceAll("ß", "ss")
    .replaceAll("ς", "σ");
}

/** Never in the middle of a character. */
function cut(word: string): string {
  if (word.length <= searchWordCharactersMax) return word;
  return word.slice(0, searchWordCharactersMax).replace(/[\ud800-\udbff]$/, "");
}
