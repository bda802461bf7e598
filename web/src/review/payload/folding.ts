// What of a payload is open at first, and what nobody has opened yet. Nothing is folded away silently: as long as a
// value has never been shown, the page says how many there are and Approve waits.

import { diffJson, isSameJson, type JsonChange } from "../../../../server/src/domain/json-diff.ts";
import {
  countValues,
  entriesOf,
  type JsonEntry,
  type JsonNode,
  type JsonPath,
  rootOf,
  stringOf,
  textOf,
} from "../../../../server/src/domain/json-tree.ts";
import { segmentsOf } from "../../../../server/src/domain/visible-text.ts";
import { lengthOf } from "../../json-escapes.ts";

/** So many values are open when the page appears: a screenful or ten, and quick on any phone. */
export const openValuesAtFirst = 250;
/** A longer text is folded after this many characters that can be seen. */
export const textCharactersAtFirst = 2_000;
/** How many entries of a long list one press shows. */
export const entriesPerStep = 200;

/**
 * How much of a value has been shown, by its path: the number of entries of a container, 1 for the whole of a long
 * text. What is not in here has never been opened.
 */
export type Seen = Map<string, number>;

/** One text for each path, and a short one even where names are megabytes long. */
export function keyOf(path: JsonPath): string {
  return path.map(keyOfStep).join("/");
}

const longSteps = new Map<string, number>();

function keyOfStep(step: string | number): string {
  if (typeof step === "number") return String(step);
  if (step.length <= 64) return JSON.stringify(step);
  const number = longSteps.get(step) ?? longSteps.size;
  longSteps.set(step, number);
  return `#${number}`;
}

export function isContainer({ kind }: JsonNode): boolean {
  return kind === "object" || kind === "array";
}

/** Opens level by level, so that the outline comes before the depths of its first branch. */
export function seenAtFirst(text: string): Seen {
  const seen: Seen = new Map();
  const queue: { path: JsonPath; node: JsonNode }[] = [{ path: [], node: rootOf(text) }];
  let left = openValuesAtFirst;
  for (const { path, node } of queue) {
    if (!isContainer(node)) continue;
    const entries = entriesOf(text, node);
    // An empty container hides nothing.
    if (entries.length > 0 && left <= 0) continue;
    const count = Math.min(entries.length, left);
    seen.set(keyOf(path), count);
    left -= count;
    for (const { step, node: child } of entries.slice(0, count)) {
      queue.push({ path: [...path, step], node: child });
    }
  }
  return seen;
}

/** How many values were never shown. A long text of which only the beginning was shown counts as one. */
export function countUnseen(text: string, seen: ReadonlyMap<string, number>): number {
  let unseen = 0;
  const visit = (path: JsonPath, node: JsonNode) => {
    if (node.kind === "string") {
      if (!seen.has(keyOf(path)) && isLongText(text, node)) unseen += 1;
      return;
    }
    if (!isContainer(node)) return;
    const shown = seen.get(keyOf(path));
    if (shown === undefined) {
      unseen += countValues(text, node);
      return;
    }
    const entries = entriesOf(text, node);
    for (const { step, node: child } of entries.slice(0, shown)) visit([...path, step], child);
    for (const { node: child } of entries.slice(shown)) unseen += 1 + countValues(text, child);
  };
  visit([], rootOf(text));
  return unseen;
}

/** Whatever stands in a payload, or in a part of it, all of it. */
export function seenWhole(text: string, from: JsonPath = [], part: JsonNode = rootOf(text)): Seen {
  const seen: Seen = new Map();
  const visit = (path: JsonPath, node: JsonNode) => {
    if (node.kind === "string" && isLongText(text, node)) seen.set(keyOf(path), 1);
    if (!isContainer(node)) return;
    const entries = entriesOf(text, node);
    seen.set(keyOf(path), entries.length);
    for (const { step, node: child } of entries) visit([...path, step], child);
  };
  visit(from, part);
  return seen;
}

/**
 * What still counts as seen after an edit: what is the same and stands where it stood, and what the edit itself brought
 * in, for the approver typed that and the second step lists it. What moved to another place must be opened again.
 */
export function carrySeen(before: string, after: string, seen: ReadonlyMap<string, number>): Seen {
  const changes = diffJson(before, after);
  const typed = new Set(changes.filter(bringsIn).map(({ path }) => keyOf(path)));
  const touched = new Set(
    changes.flatMap(({ path }) => path.map((_, at) => keyOf(path.slice(0, at)))),
  );
  const carried: Seen = new Map();
  const keep = (entries: Iterable<[string, number]>) => {
    for (const [key, count] of entries) carried.set(key, count);
  };
  const visit = (path: JsonPath, node: JsonNode, old: JsonNode | null) => {
    const key = keyOf(path);
    if (typed.has(key)) return keep(seenWhole(after, path, node));
    if (old === null) return;
    if (!touched.has(key)) {
      // Not part of any change, it is either the same or came from elsewhere.
      const isSame = isSameJson(textOf(before, old), textOf(after, node));
      return isSame ? keep(seenBelow(after, { path, node, seen })) : undefined;
    }
    const count = seen.get(key);
    if (count === undefined || !isContainer(node)) return;
    const oldEntries = entriesOf(before, old);
    const entries = entriesOf(after, node);
    const shown = count >= oldEntries.length ? entries.length : Math.min(count, entries.length);
    carried.set(key, shown);
    const oldNodes = new Map(oldEntries.map((entry) => [entry.step, entry.node]));
    for (const { step, node: child } of entries.slice(0, shown)) {
      visit([...path, step], child, oldNodes.get(step) ?? null);
    }
  };
  visit([], rootOf(after), rootOf(before));
  return carried;
}

function bringsIn({ kind }: JsonChange): boolean {
  return kind === "changed" || kind === "added";
}

/** What was seen of a part of the document. */
function seenBelow(
  text: string,
  { path, node, seen }: { path: JsonPath; node: JsonNode; seen: ReadonlyMap<string, number> },
): Seen {
  const below: Seen = new Map();
  const visit = (at: JsonPath, part: JsonNode) => {
    const key = keyOf(at);
    const count = seen.get(key);
    if (count === undefined) return;
    below.set(key, count);
    for (const { step, node: child } of entriesOf(text, part).slice(0, count)) {
      visit([...at, step], child);
    }
  };
  visit(path, node);
  return below;
}

/** What must be open so that the value at a path can be seen. */
export function seenAlong(text: string, path: JsonPath): [key: string, count: number][] {
  const steps: [string, number][] = [];
  let node = rootOf(text);
  for (let depth = 0; depth < path.length; depth += 1) {
    const entries: JsonEntry[] = entriesOf(text, node);
    const at = entries.findIndex(({ step }) => step === path[depth]);
    const entry = entries[at];
    if (entry === undefined) break;
    steps.push([keyOf(path.slice(0, depth)), at + 1]);
    node = entry.node;
  }
  if (node.kind === "string") steps.push([keyOf(path), 1]);
  return steps;
}

/** A text whose hidden parts are chips can be long in characters and still short to read. */
export function isLongText(text: string, node: JsonNode): boolean {
  if (node.end - node.start <= textCharactersAtFirst) return false;
  return splitLongText(stringOf(text, node)).rest !== "";
}

/** Cuts a text where it is folded: never inside a pair of surrogates or a run that becomes one chip. */
export function splitLongText(value: string): { start: string; rest: string } {
  if (value.length <= textCharactersAtFirst) return { start: value, rest: "" };
  let visible = 0;
  let at = 0;
  for (const segment of segmentsOf(value, { isMultiLine: true })) {
    if (segment.kind !== "text") {
      visible += 12;
      at += lengthOf(segment);
      if (visible >= textCharactersAtFirst) break;
      continue;
    }
    const room = textCharactersAtFirst - visible;
    if (segment.text.length > room) {
      at += beforePair(segment.text, room);
      break;
    }
    visible += segment.text.length;
    at += segment.text.length;
  }
  // A few characters more are shorter than the words that would announce them.
  return value.length - at <= 200 ? { start: value, rest: "" } : cut(value, at);
}

function cut(value: string, at: number): { start: string; rest: string } {
  return { start: value.slice(0, at), rest: value.slice(at) };
}

function beforePair(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
