// Finds the sections of the documentation that answer a question, best first. It forgives: any of the words will do,
// their beginnings, one slip in each, and other names for the same thing. Small enough to search at every key.

import {
  fold,
  isFiller,
  isSlip,
  isSynonym,
  kinshipOf,
  type Stemmed,
  stemmed,
  termsOf,
  wordsOf,
} from "./search-words.ts";

/** One section, as the build writes it. */
export type SearchEntry = {
  /** The page's name. */
  page: string;
  /** The section's heading; the page's name at its beginning. */
  heading: string;
  /** Below /docs/. */
  href: string;
  text: string;
  /** Seldom what somebody looks for: it comes later. */
  isAside?: true;
};

export type Found = { entry: SearchEntry; heading: Piece[]; excerpt: Piece[] };
/** A piece of text, and whether it is a match. */
export type Piece = { text: string; isMatch: boolean };

export const foundMax = 12;
const excerptCharacters = 140;
/** The length of an excerpt before the first match. */
const excerptLead = 48;

/** How much a word counts, by the place where it stands. */
const weights = { heading: 6, page: 2.5, text: 2 };
/** A synonym and a slip count less than the word itself. */
const synonymShare = 0.6;
const slipShare = 0.5;
/** Of a term that comes often, the first few times count most. */
const saturation = 1.2;
/** Sections with fewer of the words come later: their score shrinks by this power of the share that they have. */
const coveragePower = 1.5;
const asideShare = 0.5;
/** The share of the best score below which a section is no answer. */
const scoreShareMin = 0.12;

export function search(entries: readonly SearchEntry[], typed: string): Found[] {
  const words = wordsOf(typed).map(stemmed);
  if (words.length === 0) return [];
  const index = indexOf(entries);
  const wanted = words.map((word) => kinOf(word, words, index)).filter(isAnswered);
  const scored = index.sections
    .map((section) => ({ section, score: scoreOf(section, wanted, words.length) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const enough = (scored[0]?.score ?? 0) * scoreShareMin;
  return scored
    .filter(({ score }) => score >= enough)
    .slice(0, foundMax)
    .map(({ section }) => toFound(section, wanted));
}

/** A section, and how often each term stands in its parts. */
type Indexed = {
  entry: SearchEntry;
  heading: ReadonlySet<string>;
  page: ReadonlySet<string>;
  /** How many of its words say something. */
  headingWords: number;
  text: ReadonlyMap<string, number>;
  length: number;
};
type Index = { sections: Indexed[]; vocabulary: readonly Stemmed[]; lengthMean: number };
/** The terms that answer to a typed word, each by how well, and how much the word tells. */
type Kin = { terms: Map<string, number>; weight: number };

const indexes = new WeakMap<readonly SearchEntry[], Index>();

function indexOf(entries: readonly SearchEntry[]): Index {
  const known = indexes.get(entries);
  if (known !== undefined) return known;
  const sections = entries.map(toIndexed);
  const vocabulary = new Set<string>();
  for (const { heading, page, text } of sections) {
    for (const terms of [heading, page, text.keys()])
      for (const term of terms) vocabulary.add(term);
  }
  const lengths = sections.reduce((sum, { length }) => sum + length, 0);
  const terms = [...vocabulary].map(stemmed);
  const made = { sections, vocabulary: terms, lengthMean: lengths / Math.max(1, sections.length) };
  for (const section of sections) section.length /= Math.max(1, made.lengthMean);
  indexes.set(entries, made);
  return made;
}

function toIndexed(entry: SearchEntry): Indexed {
  const text = new Map<string, number>();
  const terms = termsOf(entry.text);
  for (const term of terms) text.set(term, (text.get(term) ?? 0) + 1);
  const heading = new Set(termsOf(entry.heading));
  const headingWords = [...heading].filter((term) => !isFiller(term)).length;
  const page = new Set(termsOf(entry.page));
  return { entry, heading, headingWords, page, text, length: terms.length };
}

function isAnswered({ terms }: Kin): boolean {
  return terms.size > 0;
}

/** Slips are looked for only if nothing else answers to the word. A synonym that was typed itself counts for itself. */
function kinOf(word: Stemmed, typed: readonly Stemmed[], { sections, vocabulary }: Index): Kin {
  const terms = new Map<string, number>();
  for (const term of vocabulary) {
    const kinship = kinshipOf(term, word);
    if (kinship > 0) terms.set(term.word, kinship);
    else if (isSynonym(term, word) && !typed.some((other) => kinshipOf(term, other) > 0)) {
      terms.set(term.word, synonymShare);
    }
  }
  if (terms.size === 0) {
    for (const term of vocabulary) if (isSlip(term, word)) terms.set(term.word, slipShare);
  }
  const having = sections.filter((section) => strengthOf(section, terms) > 0).length;
  return { terms, weight: Math.log(1 + sections.length / (1 + having)) };
}

function scoreOf(section: Indexed, wanted: readonly Kin[], typedWords: number): number {
  let score = 0;
  let covered = 0;
  for (const { terms, weight } of wanted) {
    const strength = strengthOf(section, terms);
    if (strength === 0) continue;
    covered += 1;
    score += weight * strength;
  }
  const share = section.entry.isAside === true ? asideShare : 1;
  return share * score * (covered / typedWords) ** coveragePower;
}

function strengthOf(section: Indexed, terms: Map<string, number>): number {
  const { heading, headingWords, page, text, length } = section;
  const best = { heading: 0, page: 0, text: 0 };
  for (const [term, share] of terms) {
    if (heading.has(term)) best.heading = Math.max(best.heading, share);
    if (page.has(term)) best.page = Math.max(best.page, share);
    const times = text.get(term) ?? 0;
    if (times === 0) continue;
    const often = times / (times + saturation * (0.4 + 0.6 * length));
    best.text = Math.max(best.text, share * (0.5 + often));
  }
  // A short heading is about its words; a long one only has them.
  const brevity = 1 / Math.sqrt(Math.max(1, headingWords / 3));
  return (
    best.heading * weights.heading * brevity + best.page * weights.page + best.text * weights.text
  );
}

function toFound({ entry }: Indexed, wanted: readonly Kin[]): Found {
  const terms = wanted.flatMap((kin) => [...kin.terms.keys()]);
  return { entry, heading: marked(entry.heading, terms), excerpt: excerptOf(entry.text, terms) };
}

function excerptOf(text: string, terms: readonly string[]): Piece[] {
  const first = nextMatch(text, new Set(terms), 0)?.start ?? 0;
  // Cut between words.
  const start = first <= excerptLead ? 0 : text.indexOf(" ", first - excerptLead) + 1;
  const isCut = start + excerptCharacters < text.length;
  const cut = text.slice(start, start + excerptCharacters);
  const end = isCut ? `${cut.slice(0, cut.lastIndexOf(" "))} …` : cut;
  return marked(`${start > 0 ? "… " : ""}${end}`, terms);
}

/** The text in pieces; those that are one of the terms, or begin a name with one, are matches. */
export function marked(text: string, terms: readonly string[]): Piece[] {
  const wanted = new Set(terms);
  const pieces: Piece[] = [];
  let at = 0;
  for (let next = nextMatch(text, wanted, 0); next !== null; next = nextMatch(text, wanted, at)) {
    if (next.start > at) pieces.push({ text: text.slice(at, next.start), isMatch: false });
    pieces.push({ text: text.slice(next.start, next.end), isMatch: true });
    at = next.end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isMatch: false });
  return pieces;
}

/** A word, or a part of a name between underscores or capital letters. */
const wordOrPart = /\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+(?!\p{Ll})|[\p{L}\p{N}]+/gu;

function nextMatch(text: string, terms: ReadonlySet<string>, from: number) {
  const parts = new RegExp(wordOrPart);
  parts.lastIndex = from;
  for (let found = parts.exec(text); found !== null; found = parts.exec(text)) {
    if (terms.has(fold(found[0]))) return { start: found.index, end: parts.lastIndex };
  }
  return null;
}
