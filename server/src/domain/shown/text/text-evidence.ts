// The evidence of a whole text about its words: the languages it is evidently in. A word that looks odd in an English
// sentence is ordinary in a Russian or Japanese one.

import { plainOf } from "./confusables.ts";
import { once } from "./once.ts";
import { isMainlyRightToLeft } from "./writing-order.ts";
import { cjk, hasLettersOf, scriptOf } from "./writing-systems.ts";

export type Evidence = {
  /** Whether ordinary spaces separate its words. */
  hasSpaces: () => boolean;
  /** Whether it has three words or more, with any white space between them. */
  hasSeveralWords: () => boolean;
  hasCjk: () => boolean;
  isMainlyRightToLeft: () => boolean;
  /** Letters that only Turkish and related languages have. */
  hasTurkish: () => boolean;
  /** Whether it has letters of this script at all. */
  hasLetters: (script: string) => boolean;
  /** Whether it has the sign of a currency of the people who write this script. */
  hasCurrencyOf: (script: string) => boolean;
  /** Whether it has a word of this script that nobody could read as a Latin one. */
  isIn: (script: string) => boolean;
};

const severalWords =
  /^(?:\p{L}[\p{L}\p{M}’'-]{0,40}[.,]?\s){2,40}\p{L}[\p{L}\p{M}’'-]{0,40}[.,!?]?(?:\s|$)/u;
const turkish = /[ğşİĞŞəƏ]/;
const foreignWord = once(
  () => /(?<![\p{L}\p{M}])[[\p{L}\p{M}]--\p{Script=Latin}]{1,64}(?![\p{L}\p{M}])/gv,
);
const letters = once(() => /\p{L}/gu);

export function evidenceOf(text: string): Evidence {
  const hasLetters = new Map<string, boolean>();
  const scriptsIn = once(() => nativeScriptsOf(text));
  return {
    hasSpaces: once(() => /\S {1,16}\S/.test(text)),
    hasSeveralWords: once(() => severalWords.test(text)),
    hasCjk: once(() => cjk().test(text)),
    isMainlyRightToLeft: once(() => isMainlyRightToLeft(text)),
    hasTurkish: once(() => turkish.test(text)),
    hasLetters: (script) => {
      const known = hasLetters.get(script) ?? hasLettersOf(text, script);
      hasLetters.set(script, known);
      return known;
    },
    hasCurrencyOf: (script) => currencyOf.get(script)?.test(text) ?? false,
    isIn: (script) => scriptsIn().has(script),
  };
}

const currencyOf = new Map(
  [
    ["₹", "Devanagari Gujarati Gurmukhi Kannada Malayalam Oriya Tamil Telugu"],
    ["৳", "Bengali"],
    ["฿", "Thai"],
    ["₭", "Lao"],
    ["៛", "Khmer"],
    ["﷼", "Arabic"],
  ].flatMap(([sign = "", scripts = ""]) =>
    scripts.split(" ").map((script): [string, RegExp] => [script, new RegExp(sign)]),
  ),
);

function nativeScriptsOf(text: string): Set<string> {
  const found = new Set<string>();
  for (const [word] of text.matchAll(foreignWord())) {
    const inWord = word.match(letters()) ?? [];
    const script = scriptOf(inWord[0] ?? "");
    // A Greek letter alone is a symbol, while в, и and я are words.
    const isWord = inWord.length > 1 || script === "Cyrillic";
    const isNative = isWord && inWord.some((letter) => !looksPlain(letter));
    if (isNative && !found.has(script) && inWord.every((letter) => scriptOf(letter) === script)) {
      found.add(script);
    }
  }
  return found;
}

function looksPlain(letter: string): boolean {
  return plainOf(letter) !== undefined || letter.normalize("NFKC") !== letter;
}
