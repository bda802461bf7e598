// Finds the sections of the documentation that hold all typed words, best first. Small enough to search every section
// at every key.

/** One section, as the build writes it. */
export type SearchEntry = {
  /** The page's name. */
  page: string;
  /** The section's heading; the page's name at its beginning. */
  heading: string;
  /** Below /docs/. */
  href: string;
  text: string;
};

export type Found = { entry: SearchEntry; excerpt: Piece[] };
/** A piece of text, and whether it is a match. */
export type Piece = { text: string; isMatch: boolean };

export const foundMax = 12;
const excerptCharacters = 140;
/** The length of an excerpt before the first match. */
const excerptLead = 48;

const weights = { headingStart: 12, heading: 8, page: 4, textStart: 2, text: 1 };

export function search(entries: readonly SearchEntry[], typed: string): Found[] {
  const words = wordsOf(typed);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, foundMax)
    .map(({ entry }) => ({ entry, excerpt: excerptOf(entry.text, words) }));
}

export function wordsOf(typed: string): string[] {
  return typed.toLowerCase().split(/\s+/).filter(Boolean);
}

/** 0 unless every word occurs in it. */
function scoreOf({ page, heading, text }: SearchEntry, words: string[]): number {
  const [inPage, inHeading, inText] = [page, heading, text].map((part) => part.toLowerCase());
  let score = 0;
  for (const word of words) {
    const here =
      strength(inHeading, word, weights.headingStart, weights.heading) +
      strength(inPage, word, weights.page, weights.page) +
      strength(inText, word, weights.textStart, weights.text);
    if (here === 0) return 0;
    score += here;
  }
  return score;
}

/** A match at the start of a word scores higher than one within. */
function strength(text: string | undefined, word: string, atStart: number, within: number): number {
  const at = text?.indexOf(word) ?? -1;
  if (text === undefined || at === -1) return 0;
  const isStart = at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1] ?? "");
  return isStart ? atStart : within;
}

function excerptOf(text: string, words: string[]): Piece[] {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at !== -1);
  const first = places.length === 0 ? 0 : Math.min(...places);
  // Cut between words.
  const start = first <= excerptLead ? 0 : text.indexOf(" ", first - excerptLead) + 1;
  const isCut = start + excerptCharacters < text.length;
  const cut = text.slice(start, start + excerptCharacters);
  const end = isCut ? `${cut.slice(0, cut.lastIndexOf(" "))} …` : cut;
  const shown = `${start > 0 ? "… " : ""}${end}`;
  return marked(shown, words);
}

export function marked(text: string, words: string[]): Piece[] {
  const lower = text.toLowerCase();
  const pieces: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    const next = nextMatch(lower, words, at);
    if (next === null) break;
    if (next.start > at) pieces.push({ text: text.slice(at, next.start), isMatch: false });
    pieces.push({ text: text.slice(next.start, next.end), isMatch: true });
    at = next.end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isMatch: false });
  return pieces;
}

function nextMatch(lower: string, words: string[], from: number) {
  const matches = words
    .map((word) => ({ start: lower.indexOf(word, from), length: word.length }))
    .filter(({ start }) => start !== -1)
    .sort((a, b) => a.start - b.start || b.length - a.length);
  const [first] = matches;
  return first === undefined ? null : { start: first.start, end: first.start + first.length };
}
