// Judges one word or number of a text: whether it holds letters or digits that only look plain, what it reads as, and
// whether that is ordinary in such a text.

import { digitValueOf, plainOf, readingOf } from "./confusables.ts";
import type { Mark } from "./marks.ts";
import { once } from "./once.ts";
import type { Evidence } from "./text-evidence.ts";
import { joinsLatin, scriptOf, scriptOfDigit } from "./writing-systems.ts";

export type Judgement = { mark: Mark; isQuiet: boolean };

/** `plain` is its look in ASCII, or null. */
type Trait =
  | { kind: "ascii"; plain: string; isLetter: boolean }
  | { kind: "latin"; plain: string | null; isRare: boolean }
  | { kind: "foreign"; plain: string | null; script: string; isSmallGreek: boolean }
  | { kind: "digit"; plain: string; script: string }
  | { kind: "styled"; plain: string; form: "wide" | "roman" | "circled" | "other" }
  | { kind: "neutral"; plain: null };

export function judgeWord(word: string, evidence: Evidence): Judgement | null {
  const traits = [...word].map(traitOf);
  if (raisedInNumber.test(word)) return loud({ kind: "styled", reads: readingOf(word) });
  if (traits.some(isStyled)) return judgeStyled(word, traits, evidence);
  if (traits.some(({ kind }) => kind === "digit")) return judgeDigits(word, traits, evidence);
  if (traits.some(isForeign)) return judgeForeign(word, traits, evidence);
  return traits.some((trait) => trait.kind === "latin" && trait.isRare)
    ? judgeRareLatin(word, traits)
    : null;
}

/** Raised and lowered digits end a number, as in 10²; within one they are read as a part of it. */
const raisedInNumber = /[0-9][\u00B2\u00B3\u00B9\u2070\u2074-\u2079\u2080-\u2089]+[0-9]/;

// Wide, mathematical and other forms of plain letters

function judgeStyled(word: string, traits: readonly Trait[], evidence: Evidence): Judgement | null {
  const styled = traits.filter(isStyled);
  const isOnly = (form: string) => styled.every((trait) => trait.form === form);
  const letters = traits.filter(({ kind }) => kind !== "neutral").length;
  if (isOnly("circled") && styled.length === letters && !circledNumber.test(word)) return null;
  if (litre.test(word)) return null;
  const mark: Mark = { kind: "styled", reads: readingOf(word) };
  if (isOnly("wide")) {
    const isOrdinary = evidence.hasCjk() && !mixesWidths(word);
    return { mark, isQuiet: isOrdinary };
  }
  const isNumeral = isOnly("roman") && styled.length === letters;
  return { mark, isQuiet: isNumeral || letters === 1 };
}

/** No list has a zero behind its other points. */
const circledNumber = /[\u2460-\u24EA]\u24EA/;
const litre = /^[0-9]*[cdkmµμ]?\u2113$/;

function mixesWidths(word: string): boolean {
  const hasBoth = (plain: RegExp, wide: RegExp) => plain.test(word) && wide.test(word);
  return hasBoth(/[A-Za-z]/, /[\uFF21-\uFF3A\uFF41-\uFF5A]/) || hasBoth(/[0-9]/, /[\uFF10-\uFF19]/);
}

// Digits of other scripts

function judgeDigits(word: string, traits: readonly Trait[], evidence: Evidence): Judgement {
  const digits = traits.filter((trait) => trait.kind === "digit");
  const script = digits[0]?.script ?? "";
  const isOne = digits.every((digit) => digit.script === script);
  const mark: Mark = { kind: "digits", reads: readingOfDigits(word), script };
  const isOrdinary = isOne && !/[0-9]/.test(word) && isWrittenIn(script, evidence);
  return { mark, isQuiet: isOrdinary };
}

function isWrittenIn(script: string, evidence: Evidence): boolean {
  return evidence.hasLetters(script) || evidence.hasCurrencyOf(script);
}

const anyDigit = once(() => /\p{Nd}/gu);

function readingOfDigits(word: string): string {
  const reading = word.replace(anyDigit(), (digit) => String(digitValueOf(digit)));
  return reading.replaceAll("\u066B", ".").replaceAll("\u066C", ",");
}

// Letters of other scripts

function judgeForeign(
  word: string,
  traits: readonly Trait[],
  evidence: Evidence,
): Judgement | null {
  const foreign = traits.filter(isForeign);
  const scripts = new Set(foreign.map(({ script }) => script));
  const hasLatin = traits.some(isLatinLetter);
  if (hasLatin || scripts.size > 1) return judgeMixed(word, traits, evidence);
  const [script = ""] = scripts;
  if (foreign.some(({ plain }) => plain === null)) return null;
  const hasDigits = traits.some(({ kind }) => kind === "ascii");
  if (foreign.length === 1 && foreign[0]?.isSmallGreek) return null;
  if (hasDigits) {
    const isOrdinary = evidence.isIn(script) || (joinsLatin(script) && !foreign.every(isDigitLike));
    if (isOrdinary && (!hidesInNumber(traits) || licencePlate.test(word))) return null;
  } else if (evidence.isIn(script) || joinsLatin(script)) return null;
  const isNumber = hasDigits && foreign.every(isDigitLike) && !licencePlate.test(word);
  const reads = isNumber ? asNumber(readingOf(word)) : readingOf(word);
  const mark: Mark = { kind: "lookAlike", reads, scripts: script, count: foreign.length };
  return { mark, isQuiet: !isNumber && houseNumber.test(word) };
}

const licencePlate = /^[АВЕКМНОРСТУХ]{1,2}[0-9]{3,4}(?:[АВЕКМНОРСТУХ]{1,2}[0-9]{0,3})?$/;
/** Such as 5А: a house, a class, a flat. */
const houseNumber = /^[0-9]{1,4}[\u0400-\u04FF]$/;

function judgeMixed(word: string, traits: readonly Trait[], evidence: Evidence): Judgement | null {
  const foreign = traits.filter(isForeign);
  const scripts = [...new Set(traits.flatMap(scriptsIn))];
  const others = scripts.filter((script) => script !== "Latin");
  const areFarApart = others.every((script) => joinsLatin(script));
  if (areFarApart && !hasStray(traits, evidence)) return null;
  const isAllPlain = traits.every(
    (trait) => trait.kind === "neutral" || trait.plain !== null || trait.kind === "latin",
  );
  if (!isAllPlain && isUnit(word)) return null;
  const isDisguise = runsOfForeign(traits).some(({ run }) =>
    run.every(({ plain }) => plain !== null),
  );
  if (!isDisguise && !others.some(isKin)) return null;
  const reads = isAllPlain && foreign.every(({ plain }) => plain !== null) ? readingOf(word) : null;
  const names = reads === null ? inWords(scripts) : inWords(others);
  return loud({ kind: "lookAlike", reads, scripts: names, count: foreign.length });
}

/** Together with Latin letters in one word, they are rarely honest. */
function isKin(script: string): boolean {
  return script === "Cyrillic" || script === "Greek";
}

/** A letter that looks Latin among Latin ones, in a script whose words often stand beside Latin words. */
function hasStray(traits: readonly Trait[], evidence: Evidence): boolean {
  return runsOfForeign(traits).some(({ run, isInside }) => {
    const isPlain = run.every(({ plain }) => plain !== null);
    return isPlain && (isInside || !run.every(({ script }) => evidence.isIn(script)));
  });
}

function isDigitLike({ plain }: Foreign): boolean {
  return /^[OolI]$/.test(plain ?? "");
}

/** Whether letters that look like digits have digits on both sides. */
function hidesInNumber(traits: readonly Trait[]): boolean {
  return runsOfForeign(traits).some(({ run, isInside }) => isInside && run.every(isDigitLike));
}

type Foreign = Extract<Trait, { kind: "foreign" }>;

function runsOfForeign(traits: readonly Trait[]): { run: Foreign[]; isInside: boolean }[] {
  const runs: { run: Foreign[]; isInside: boolean }[] = [];
  let run: Foreign[] = [];
  let isAfterPlain = false;
  for (const trait of traits) {
    if (trait.kind === "neutral") continue;
    if (trait.kind === "foreign") {
      run.push(trait);
      continue;
    }
    if (run.length > 0) runs.push({ run, isInside: isAfterPlain });
    run = [];
    isAfterPlain = true;
  }
  if (run.length > 0) runs.push({ run, isInside: false });
  return runs;
}

function scriptsIn(trait: Trait): string[] {
  if (trait.kind === "foreign") return [trait.script];
  return isLatinLetter(trait) ? ["Latin"] : [];
}

function inWords(scripts: readonly string[]): string {
  if (scripts.length < 2) return scripts[0] ?? "";
  return `${scripts.slice(0, -1).join(", ")} and ${scripts.at(-1)}`;
}

// Such as 5kΩ, μm, ΔT, 2πr: these Greek letters look like no Latin ones, and so short a word is a unit or a symbol.
const unit =
  /^[0-9]*(?:[A-Za-z]{1,2}(?<greek>[\u0370-\u03FF\u2126])|(?<sign>[\u0370-\u03FF\u2126])[A-Za-z]{1,3})[0-9]*$/u;

function isUnit(word: string): boolean {
  const { greek, sign } = unit.exec(word)?.groups ?? {};
  const letter = greek ?? sign;
  return letter !== undefined && plainOf(letter) === undefined;
}

// Latin letters that few languages have

function judgeRareLatin(word: string, traits: readonly Trait[]): Judgement | null {
  // Signs of pronunciation stand among others that look like nothing plain, or lengthen and stress.
  if (pronunciation.test(word)) return null;
  const isReadable = traits.every((trait) => trait.kind === "neutral" || trait.plain !== null);
  if (!isReadable || traits.filter(isLatinLetter).length < 2) return null;
  const rare = traits.filter((trait) => trait.kind === "latin" && trait.isRare);
  return loud({ kind: "lookAlike", reads: readingOf(word), scripts: "Latin", count: rare.length });
}

const pronunciation = /[\u02B0-\u02FF]/;

// Letters among plain digits

/** A number, an amount or a date in which letters stand for digits. Codes, units and names of roads are none. */
export function judgeNumber(token: string, evidence: Evidence): Judgement | null {
  const reading = readingOf(token);
  const isNumber = /[0-9]/.test(reading) && numberShapes.some((shape) => shape.test(reading));
  if (!isNumber || octal.test(reading)) return null;
  const reads = asNumber(reading);
  const foreign = [...token].map(traitOf).filter(isForeign);
  const [first] = foreign;
  if (first !== undefined) {
    const isNative = ({ script }: Foreign) => joinsLatin(script) && evidence.isIn(script);
    if (foreign.every(isNative) && !/[0-9]\P{ASCII}+[0-9]/u.test(token)) return null;
    return loud({ kind: "lookAlike", reads, scripts: first.script, count: foreign.length });
  }
  const letters = [...new Set(token.match(/[OolI|]/g) ?? [])].join("");
  return loud({ kind: "letterDigits", reads, letters });
}

const octal = /^0o[0-7]+$/;
const numberShapes = [
  // A letter between digits, or between a digit and the sign of a fraction: 1O0, 2O26-01-01.
  /^[0-9l|].*(?<=[0-9][-.,:'/]?)[OoI]+[-.,:'/]?[0-9]/,
  /^[0-9l|].*(?<=[0-9][.,]?)l+[.,:]?[0-9]/,
  // The last ones: 1OO, 5,OOO, 10O, 49.9I. But 10l are litres, and 1o is Italian.
  /[0-9][.,']?[OolI]{2,}$/,
  /[0-9][.,'][Oo]$/,
  /[0-9]O$/,
  /[.,'][0-9]+[OI]$/,
  // The first one: l00, and before a fraction any: O.50, I00.00. A stroke is else the end of a column.
  /^l[0-9]{2}/,
  /^[Oo][.,][0-9]/,
  /^l[0-9]*[.,'][0-9]/,
  /^I[0-9]+[.,'][0-9]/,
  /^[0-9]*\|[0-9]*[.,][0-9]{2}$/,
];

/** Its reading, if all of it is a number. */
function asNumber(reading: string): string {
  return reading.replaceAll(/[Oo]/g, "0").replaceAll(/[lI|]/g, "1");
}

// Single characters

const traits = new Map<string, Trait>();

/** Looked up once for each character: no text has more than some thousands of different ones. */
function traitOf(character: string): Trait {
  const known = traits.get(character);
  if (known !== undefined) return known;
  const trait = findTrait(character);
  traits.set(character, trait);
  return trait;
}

const isLetter = once(() => /\p{L}/u);
const isDecimal = once(() => /\p{Nd}/u);
const isLatin = once(() => /\p{Script=Latin}/u);

function findTrait(character: string): Trait {
  if (character < "\x80")
    return { kind: "ascii", plain: character, isLetter: /[A-Za-z]/.test(character) };
  const form = formOf(character);
  if (form !== null) return { kind: "styled", plain: readingOf(character), form };
  if (isDecimal().test(character)) {
    const plain = String(digitValueOf(character));
    return { kind: "digit", plain, script: scriptOfDigit(character) };
  }
  const plain = plainOf(character) ?? null;
  if (!isLetter().test(character)) return plain === null ? neutral : symbolTrait(plain);
  if (isLatin().test(character)) return latinTrait(character, plain);
  if (modifier().test(character)) return neutral;
  const script = scriptOf(character);
  const isSmallGreek = script === "Greek" && character !== "\u03BF" && /\p{Ll}/u.test(character);
  return { kind: "foreign", plain, script, isSmallGreek };
}

const neutral: Trait = { kind: "neutral", plain: null };
const modifier = once(() => /[\p{Lm}&&[\p{Script=Common}\p{Script=Inherited}]]/v);

function symbolTrait(plain: string): Trait {
  return { kind: "foreign", plain, script: "a symbol", isSmallGreek: false };
}

function latinTrait(character: string, plain: string | null): Trait {
  const isRare = plain !== null && !inUse.test(character) && rareLatin.test(character);
  if (isRare) return { kind: "latin", plain, isRare };
  // To the eye, é is an e with something on it, while æ is no plain letter.
  const [base = ""] = character.normalize("NFD");
  return { kind: "latin", plain: base < "\x80" ? base : null, isRare };
}

// Latin letters that look like plain ones: those of phonetics, of old books and of small capitals. The others are of
// living languages: Turkish, Icelandic and those of Africa.
const rareLatin = /[\u0180-\u02AF\u1D00-\u1DBF\u1E9D\u1EFF\u2C60-\u2C7F\uA720-\uA7FF\uAB30-\uAB6F]/;
const inUse = /[\u0131\u0192\u0196\u01C0\u0263\u0269\u028B]/;

function formOf(character: string): "wide" | "roman" | "circled" | "other" | null {
  if (!styledForms().test(character)) return null;
  const codePoint = character.codePointAt(0) ?? 0;
  if (!/^[A-Za-z0-9()]+$/.test(readingOf(character))) return null;
  if (codePoint >= 0xff00 && codePoint <= 0xff5a) return "wide";
  if (codePoint >= 0x2160 && codePoint <= 0x217f) return "roman";
  return (codePoint >= 0x2460 && codePoint <= 0x24ff) || codePoint >= 0x1f100 ? "circled" : "other";
}

// Forms of letters and digits that some programs make the plain ones again. Raised and lowered ones, ligatures and
// fractions are not among them: they cannot be taken for plain ones.
const styledForms = once(
  () =>
    /[\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A\u{1D400}-\u{1D7FF}\u{1FBF0}-\u{1FBF9}\u2102-\u2139\u2145-\u2149\u2160-\u217F\u2460-\u24EA\u{1F110}-\u{1F149}]/u,
);

function isStyled(trait: Trait): trait is Extract<Trait, { kind: "styled" }> {
  return trait.kind === "styled";
}

function isForeign(trait: Trait): trait is Foreign {
  return trait.kind === "foreign";
}

function isLatinLetter(trait: Trait): boolean {
  return trait.kind === "latin" || (trait.kind === "ascii" && trait.isLetter);
}

function loud(mark: Mark): Judgement {
  return { mark, isQuiet: false };
}
