// The scripts of the world by name, and how their words stand beside Latin ones.

import { once } from "./once.ts";

// Scripts with letters that look like Latin ones, or with their own digits. Rare ones come last.
const names =
  "Latin Cyrillic Greek Arabic Hebrew Han Hiragana Katakana Hangul Thai Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Lao Tibetan Myanmar Khmer Georgian Armenian Ethiopic Mongolian Syriac Thaana Nko Bopomofo Cherokee Coptic Lisu Deseret Osage Tifinagh Vai Canadian_Aboriginal Runic Ogham Old_Italic Lycian Lydian Carian Warang_Citi Elbasan Miao Bamum Adlam Balinese Javanese Sundanese Tai_Tham New_Tai_Lue Limbu Lepcha Ol_Chiki Saurashtra Kayah_Li Cham Meetei_Mayek Osmanya".split(
    " ",
  );

const scripts = once(() =>
  names.map((name) => ({
    name: name.replaceAll("_", " "),
    only: new RegExp(`\\p{Script=${name}}`, "u"),
    letters: once(
      () =>
        new RegExp(
          `[[\\p{Script_Extensions=${name}}&&\\p{L}]--\\p{Default_Ignorable_Code_Point}]`,
          "v",
        ),
    ),
    digits: once(() => new RegExp(`[\\p{Script_Extensions=${name}}&&\\p{Nd}]`, "v")),
  })),
);

export const otherScript = "another script";

/** The script of a letter. */
export function scriptOf(letter: string): string {
  return scripts().find(({ only }) => only.test(letter))?.name ?? otherScript;
}

/** The script whose texts have this digit. */
export function scriptOfDigit(digit: string): string {
  return scripts().find(({ digits }) => digits().test(digit))?.name ?? otherScript;
}

export function hasLettersOf(text: string, script: string): boolean {
  return (
    scripts()
      .find(({ name }) => name === script)
      ?.letters()
      .test(text) ?? false
  );
}

/** Their words stand beside Latin ones without a space, as in 日本Corp or בGoogle, and none reads as a Latin word. */
const joining = new Set(
  "Arabic Hebrew Han Hiragana Katakana Hangul Bopomofo Thai Lao Khmer Myanmar Tibetan Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Ethiopic Mongolian Syriac Thaana".split(
    " ",
  ),
);

export function joinsLatin(script: string): boolean {
  return joining.has(script);
}

/** Letters, not the fillers that only take up room. */
export const cjk = once(
  () =>
    /[[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]--\p{Default_Ignorable_Code_Point}]/v,
);
