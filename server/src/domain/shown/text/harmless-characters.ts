// Decides which invisible characters belong where they stand: the narrow space before a French colon, the joiners of
// Persian and Sinhala, the line ends of Windows. Alone in their place they are ordinary; runs of them, and the same
// ones elsewhere, are not.

import { isBreakInAddress } from "./addresses.ts";
import { once } from "./once.ts";
import {
  isNoBreakSpaceInPlace,
  isRareSpaceInPlace,
  noBreakSpaces,
  rareSpaces,
  type SpacePlace,
} from "./special-spaces.ts";
import { cjk } from "./writing-systems.ts";

export type Neighbours = SpacePlace & { isMultiLine: boolean };

export function isHarmless(character: string, count: number, around: Neighbours): boolean {
  // In a key or a name of one word, each hidden character makes it a different one.
  if (!around.isMultiLine && !around.evidence.hasSpaces()) return false;
  if (character === "\u3000") return count <= 2 && isIdeographicSpace(count, around);
  if (count > 1) return false;
  const rule = rules.get(character);
  return rule !== undefined ? rule(around) : isSelector(character) && isSelected(character, around);
}

type Rule = (around: Neighbours) => boolean;

const rules = new Map<string, Rule>([
  ...[...noBreakSpaces].map((space): [string, Rule] => [space, isNoBreakSpaceInPlace]),
  ...[...rareSpaces].map((space): [string, Rule] => [space, isRareSpaceInPlace]),
  ["\u00AD", isHyphenation],
  ["\u200B", ({ before, after }) => unspaced().test(before) && unspaced().test(after)],
  ["\u200C", ({ before, after }) => joined().test(before) && joined().test(after)],
  ["\u200D", isJoiner],
  ["\u200E", isBesideRightToLeft],
  ["\u200F", isBesideRightToLeft],
  ["\u061C", isBesideRightToLeft],
  ["\uFEFF", isStartOfFile],
  ["\u180E", ({ before, after }) => mongolian().test(before) && mongolian().test(after)],
  ["\r", isWindowsLineEnd],
]);

const visible = once(() => /^[\p{L}\p{M}\p{N}\p{P}\p{S}]/u);

function isWindowsLineEnd({ text, at, before, after, isMultiLine }: Neighbours): boolean {
  const isLineEnd = isMultiLine && after === "\n" && before !== "\r";
  return isLineEnd && !isBreakInAddress(text, at);
}

const twoLines = /\S[ \t]{0,8}\r?\n(?:\r?\n){0,4}[ \t]{0,8}\S/;

/** A value of one line is no file. */
function isStartOfFile({ at, text, isMultiLine }: Neighbours): boolean {
  return at === 0 && isMultiLine && twoLines.test(text);
}

function isIdeographicSpace(count: number, { before, after, evidence }: Neighbours): boolean {
  if (!evidence.hasCjk()) return false;
  // A paragraph begins with one or two of them.
  if (before === "" || before === "\n") return cjk().test(after);
  return count === 1 && before !== '"' && visible().test(before) && visible().test(after);
}

const letter = once(() => /^\p{L}/u);
const tokenCharactersMax = 64;

const hyphenatedLettersMin = 8;

/** Within a long word of prose. Nobody hyphenates an address, an identifier or a name that stands alone. */
function isHyphenation({ text, at, before, after, evidence }: Neighbours): boolean {
  if (!letter().test(before) || !letter().test(after) || !evidence.hasSpaces()) return false;
  const start =
    text
      .slice(Math.max(0, at - tokenCharactersMax), at)
      .split(/\s/)
      .at(-1) ?? "";
  const [end = ""] = text.slice(at + 1, at + 1 + tokenCharactersMax).split(/\s/);
  const word = start + end;
  const isOneScript =
    /^[\p{Script=Latin}\p{Script=Inherited}\p{Script=Common}]+$/u.test(word) ||
    !/\p{Script=Latin}/u.test(word);
  const letters = word.match(/\p{L}/gu) ?? [];
  return (
    letters.length >= hyphenatedLettersMin &&
    isOneScript &&
    !/[@/\\:_]|[^\p{L}\p{M}\p{P}\u00AD]|\.\p{L}/u.test(word)
  );
}

// These scripts write no spaces, so programs must be told where a line may break.
const unspaced = once(
  () => /^[[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]&&[\p{L}\p{M}\p{N}]]/v,
);
const indic = String.raw`\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}`;
const joined = once(
  () =>
    new RegExp(
      `^[[${indic}\\p{Script_Extensions=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}]&&[\\p{L}\\p{M}]]`,
      "v",
    ),
);
const arabicLetter = once(() => /^[\p{Script=Arabic}&&\p{L}]/v);
const mongolian = once(() => /^\p{Script=Mongolian}/u);
/** The signs that take the vowel from a consonant, of the scripts that join consonants. */
const virama = /^[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA\u1039\u103A\u17D2]/;

function isJoiner({ before, after }: Neighbours): boolean {
  if (plainName.test(after)) return false;
  if (virama.test(before)) return !hiddenNext.test(after);
  return (joined().test(before) && virama.test(after)) || arabicLetter().test(before);
}

/** No joiner belongs beside these. */
const plainName = /^[\p{Script=Latin}\p{N}_]/u;

const hiddenNext = /^[\u200B-\u200F\u2060-\u2069\u202A-\u202E\uFEFF]/;
const rightToLeft = String.raw`(?:[\u0590-\u0605\u0608-\u061B\u061D-\u06DC\u06DE-\u070E\u0710-\u088F\u0892-\u08E1\u08E3-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]|[\uD802\uD803\uD83A\uD83B][\uDC00-\uDFFF])`;
const between = String.raw`[ !-\/:-@\[-\`\{-~«»“”]?`;
const behind = new RegExp(`${rightToLeft}${between}$`);
const ahead = new RegExp(`^${between}${rightToLeft}`);

/** Next to such a letter, or with one sign or space between, or at a Latin word within a text of such letters. */
function isBesideRightToLeft({ text, at, before, after, evidence }: Neighbours): boolean {
  const isInside = visible().test(before) && visible().test(after);
  if (plainName.test(before) && plainName.test(after)) return false;
  if (isInside && evidence.isMainlyRightToLeft()) return true;
  return behind.test(text.slice(Math.max(0, at - 3), at)) || ahead.test(text.slice(at + 1, at + 4));
}

function isSelector(character: string): boolean {
  return /^[\uFE00-\uFE0F\u180B-\u180D\u180F\u{E0100}-\u{E01EF}]$/u.test(character);
}

const symbol = once(() => /^[[\p{Emoji}\p{So}\p{Sm}]--\p{ASCII}]/v);
const han = once(() => /^[\p{Script=Han}\u3001-\u303F\uFF01-\uFF60]/u);

/** A variant of the character before it that fonts know. */
function isSelected(selector: string, { before }: Neighbours): boolean {
  if (/[\u180B-\u180D\u180F]/.test(selector)) return mongolian().test(before);
  if (/[\uFE0E\uFE0F]/.test(selector) && symbol().test(before)) return true;
  return han().test(before) && !plainName.test(before);
}
