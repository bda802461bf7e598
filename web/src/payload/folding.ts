// Decides what of a payload is open at first, and where long texts are cut. Nothing is folded silently: while a value
// is undrawn (drawn.ts), the page says how many there are, and Approve waits.

import { nextOf, type Outline, stepsOf } from "../../../server/src/domain/shown/json-outline.ts";
import type { JsonNode, JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import { segmentsOf } from "../../../server/src/domain/shown/text/visible-text.ts";
import { lengthOf } from "../look/json-escapes.ts";

/** The number of values that are open at first: a screenful or ten, and quick on any phone. */
export const openValuesAtFirst = 250;
/** A longer text is folded after this many visible characters. */
export const textCharactersAtFirst = 2_000;
/** The number of entries that one press shows of a long list. */
export const entriesPerStep = 200;

/** A key per path, short even where names are megabytes long. */
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

/**
 * The number of entries that each open container shows, by path. Opens level by level, so that the outline comes before
 * the depths of its first branch.
 */
export function openAtFirst(outline: Outline): Map<string, number> {
  const counts = new Map<string, number>();
  const queue: { path: JsonPath; value: number }[] = [{ path: [], value: 0 }];
  let left = openValuesAtFirst;
  for (const { path, value } of queue) {
    if (left <= 0) break;
    if (nextOf(outline, value) === value + 1) continue;
    let count = 0;
    for (const [step, child] of stepsOf(outline, value)) {
      if (count === left) break;
      queue.push({ path: [...path, step], value: child });
      count += 1;
    }
    counts.set(keyOf(path), count);
    left -= count;
  }
  return counts;
}

/** The number of entries that each container on the way to a value must show, so that the value is there. */
export function wayTo(outline: Outline, path: JsonPath): [key: string, count: number][] {
  const way: [string, number][] = [];
  let value = 0;
  for (const [depth, wanted] of path.entries()) {
    let count = 0;
    let found: number | null = null;
    for (const [step, child] of stepsOf(outline, value)) {
      count += 1;
      if (step === wanted) found = child;
      if (found !== null) break;
    }
    if (found === null) break;
    way.push([keyOf(path.slice(0, depth)), count]);
    value = found;
  }
  return way;
}

/** Cuts a text where it is folded: never inside a surrogate pair or a run that becomes one chip. */
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
  // A few more characters are shorter than the words that would announce them.
  return value.length - at <= 200 ? { start: value, rest: "" } : cut(value, at);
}

function cut(value: string, at: number): { start: string; rest: string } {
  return { start: value.slice(0, at), rest: value.slice(at) };
}

function beforePair(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
