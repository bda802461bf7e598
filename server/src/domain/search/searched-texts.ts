// The parts of an approval that a search looks into, and where in them it found something. JSON is searched by its
// values as people read them, never by its keys: a key such as `orderId` is in every request of an agent.

import { searchedJsonCharactersMax, searchWordsMax } from "../limits.ts";
import { formatStep } from "../shown/json-text.ts";
import { isMatch, piecesOf, type Term, wordsOf } from "./words.ts";

/** Work in steps, between which a caller can do other work. Each step tells how many characters it has looked at. */
export type Steps<Result> = Generator<number, Result>;

/** JSON texts may be cut off anywhere. */
export type Searched = {
  summary: string;
  agentName: string | null;
  approverEmail: string | null;
  groupKey: string | null;
  groupName: string | null;
  decidedBy: string | null;
  edit: string | null;
  payload: string | null;
  metadata: string | null;
};

/** The words of an approval, the most telling parts first: those beyond the limit are not indexed. */
export function* wordsOfApproval(searched: Searched): Steps<Set<string>> {
  const words = new Set<string>();
  for (const text of textsOf(searched)) {
    for (const piece of piecesOf(text)) {
      for (const word of wordsOf(piece)) {
        if (words.size >= searchWordsMax) return words;
        words.add(word);
      }
      yield piece.length;
    }
  }
  return words;
}

/** A value inside JSON in which something was found. */
export type FoundValue = { field: "payload" | "edit" | "metadata"; path: string; text: string };

/**
 * The first value inside JSON that holds a term which the row of a list doesn't show by itself. Null when the row shows
 * all of them.
 */
export function* findInJson(searched: Searched, terms: readonly Term[]): Steps<FoundValue | null> {
  const shown = new Set([searched.summary, ...namesOf(searched)].flatMap(wordsOf));
  const hidden = terms.filter((term) => !isMatch(term, shown));
  if (hidden.length === 0) return null;
  for (const field of ["edit", "payload", "metadata"] as const) {
    for (const { path, text } of valuesOf(searched[field])) {
      for (const piece of piecesOf(text)) {
        yield piece.length;
        if (!holdsAny(piece, hidden)) continue;
        return { field, path: path(), text: yield* excerptOf(text, hidden) };
      }
    }
  }
  return null;
}

function holdsAny(text: string, terms: readonly Term[]): boolean {
  const words = wordsOf(text);
  return terms.some((term) => isMatch(term, words));
}

function* textsOf(searched: Searched): Generator<string> {
  yield searched.summary;
  yield* namesOf(searched);
  for (const json of [searched.edit, searched.payload, searched.metadata]) {
    for (const { text } of valuesOf(json)) yield text;
  }
}

function namesOf(searched: Searched): string[] {
  const { agentName, approverEmail, groupKey, groupName, decidedBy } = searched;
  return [agentName, approverEmail, groupKey, groupName, decidedBy].filter((name) => name !== null);
}

type Value = { path: () => string; text: string };

/** A string, a number, or a sign that opens, closes or divides. Words such as `true` say nothing by themselves. */
const tokens = /"(?:[^"\\]|\\.)*"?|-?[0-9][0-9.eE+-]*|[{}[\]:,]/gs;

/** Strings and numbers of a JSON text, up to the limit. */
function* valuesOf(json: string | null): Generator<Value> {
  if (json === null) return;
  /** A key, a place in a list, or null in an object whose next key has not come yet. */
  const steps: (string | number | null)[] = [];
  const path = () => pathOf(steps);
  let key = "";
  for (const [token] of json.slice(0, searchedJsonCharactersMax).matchAll(tokens)) {
    const last = steps.length - 1;
    const step = steps[last];
    if (token === "{") steps.push(null);
    else if (token === "[") steps.push(0);
    else if (token === "}" || token === "]") steps.pop();
    else if (token === ":") steps[last] = key;
    else if (token === ",") steps[last] = typeof step === "number" ? step + 1 : null;
    else if (step === null) key = textOf(token);
    else yield { path, text: textOf(token) };
  }
}

function pathOf(steps: readonly (string | number | null)[]): string {
  return steps
    .filter((step) => step !== null)
    .map((step, at) => formatStep(step, at === 0))
    .join("");
}

/** Escapes hide nothing. A string that is cut off is taken as it is. */
function textOf(token: string): string {
  if (!token.startsWith('"')) return token;
  try {
    return String(JSON.parse(token));
  } catch {
    return token.slice(1);
  }
}

/** The part of a long text that holds a term, with a little around it. */
function* excerptOf(text: string, terms: readonly Term[]): Steps<string> {
  if (text.length <= excerptCharacters) return text;
  const step = excerptCharacters / 2;
  for (let from = 0; from < text.length; from += step) {
    const part = text.slice(from, from + excerptCharacters).toWellFormed();
    yield part.length;
    if (!holdsAny(part, terms)) continue;
    const isEnd = from + excerptCharacters >= text.length;
    return `${from === 0 ? "" : "…"}${part}${isEnd ? "" : "…"}`;
  }
  return `${text.slice(0, excerptCharacters).toWellFormed()}…`;
}

const excerptCharacters = 120;
