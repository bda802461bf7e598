// Finds the differences of two JSON texts, member by member and by the exact texts of the values. The review page shows
// them before an edited payload is approved, so two texts that any reader could tell apart never count as the same.

import {
  childrenOf,
  keyTextAt,
  kindOf,
  membersOf,
  nextOf,
  type Outline,
  outlineOf,
  textAt,
} from "./json-outline.ts";
import { decodeString, type JsonPath } from "./json-tree.ts";

export type JsonChange =
  | { kind: "changed"; path: JsonPath; before: string; after: string }
  | { kind: "added"; path: JsonPath; after: string }
  | { kind: "removed"; path: JsonPath; before: string }
  /** An object in which the common keys stand in another order. */
  | { kind: "reordered"; path: JsonPath };

/**
 * Takes linear time in the length of both texts: each is read once, and no value is examined by more than one pair of
 * containers. (See diffArrays for the one walk that goes ahead.) Each change has its own copy of its path, so the
 * result takes as much memory as there are changes times their depth.
 */
export function diffJson(before: string, after: string): JsonChange[] {
  if (before === after) return [];
  const comparison: Comparison = {
    before: outlineOf(before),
    after: outlineOf(after),
    path: [],
    changes: [],
  };
  diffValues(comparison, 0, 0);
  return comparison.changes;
}

/** True when diffJson finds nothing. */
export function isSameJson(before: string, after: string): boolean {
  return before === after || isSameValue(outlineOf(before), 0, outlineOf(after), 0);
}

type Comparison = {
  before: Outline;
  after: Outline;
  /** The path of the compared values. The steps are the same in both texts. */
  path: (string | number)[];
  changes: JsonChange[];
};

function diffValues(comparison: Comparison, old: number, now: number): void {
  const { before, after } = comparison;
  const kind = kindOf(before, old);
  if (kind !== kindOf(after, now)) noteChanged(comparison, old, now);
  else if (kind === "object") diffObjects(comparison, old, now);
  else if (kind === "array")
    diffArrays(comparison, childrenOf(before, old), childrenOf(after, now));
  else if (!isSameScalar(before, old, after, now)) noteChanged(comparison, old, now);
}

/** Members in the order of the new text, then removed ones. */
function diffObjects(comparison: Comparison, old: number, now: number): void {
  const { before, after, path, changes } = comparison;
  const gone = membersOf(before, old);
  const members = membersOf(after, now);
  if (isReordered(gone, members)) changes.push({ kind: "reordered", path: [...path] });
  for (const [key, member] of members) {
    const counterpart = gone.get(key);
    gone.delete(key);
    if (counterpart === undefined) noteAdded(comparison, key, member);
    else diffStep(comparison, key, [counterpart, member]);
  }
  for (const [key, member] of gone) noteRemoved(comparison, key, member);
}

/** A value's number rises with its place, so the numbers of the kept members rise as long as their order is kept. */
function isReordered(old: Map<string, number>, now: Map<string, number>): boolean {
  let last = -1;
  for (const key of now.keys()) {
    const place = old.get(key) ?? last;
    if (place < last) return true;
    last = place;
  }
  return false;
}

/**
 * Skips equal starts and equal ends, and compares the rest in pairs. With equal lengths that is the same as comparing
 * in pairs from the start. With different lengths the walk from the end may look at one element in vain, but the
 * element of the longer array is then surplus and is not looked at again, and no walk takes longer than its shorter
 * side.
 */
function diffArrays(comparison: Comparison, old: readonly number[], now: readonly number[]): void {
  const { before, after, changes } = comparison;
  const mark = changes.length;
  const shared = Math.min(old.length, now.length);
  const diffPair = (index: number) =>
    diffStep(comparison, index, [old[index] ?? 0, now[index] ?? 0]);
  const alike = countWhile(shared, (index) => {
    diffPair(index);
    return changes.length === mark;
  });
  const ending = countWhile(old.length === now.length ? 0 : shared - alike, (index) =>
    isSameValue(before, old.at(-1 - index) ?? 0, after, now.at(-1 - index) ?? 0),
  );
  const paired = shared - ending;
  // The first two that differ are no pair if one of them belongs to the equal end.
  if (paired === alike) changes.length = mark;
  for (let index = alike + 1; index < paired; index += 1) diffPair(index);
  for (const [index, value] of between(old, paired, ending)) noteRemoved(comparison, index, value);
  for (const [index, value] of between(now, paired, ending)) noteAdded(comparison, index, value);
}

function diffStep(
  comparison: Comparison,
  step: string | number,
  [old, now]: readonly [number, number],
): void {
  comparison.path.push(step);
  diffValues(comparison, old, now);
  comparison.path.pop();
}

function countWhile(max: number, holds: (index: number) => boolean): number {
  let count = 0;
  while (count < max && holds(count)) count += 1;
  return count;
}

function* between(
  values: readonly number[],
  start: number,
  ending: number,
): Generator<[index: number, value: number]> {
  for (let index = start; index < values.length - ending; index += 1) {
    yield [index, values[index] ?? 0];
  }
}

function noteChanged({ before, after, path, changes }: Comparison, old: number, now: number): void {
  const texts = { before: textAt(before, old), after: textAt(after, now) };
  changes.push({ kind: "changed", path: [...path], ...texts });
}

function noteAdded({ after, path, changes }: Comparison, step: string | number, now: number): void {
  changes.push({ kind: "added", path: [...path, step], after: textAt(after, now) });
}

function noteRemoved(
  { before, path, changes }: Comparison,
  step: string | number,
  old: number,
): void {
  changes.push({ kind: "removed", path: [...path, step], before: textAt(before, old) });
}

/** The same tokens in the same order. It stops at the first that differs. */
function isSameValue(one: Outline, first: number, other: Outline, second: number): boolean {
  const size = nextOf(one, first) - first;
  if (size !== nextOf(other, second) - second) return false;
  for (let index = 0; index < size; index += 1) {
    if (index > 0 && !isSameKey(one, first + index, other, second + index)) return false;
    if (!isSameToken(one, first + index, other, second + index)) return false;
  }
  return true;
}

function isSameToken(one: Outline, first: number, other: Outline, second: number): boolean {
  const kind = kindOf(one, first);
  if (kind !== kindOf(other, second)) return false;
  if (kind !== "object" && kind !== "array") return isSameScalar(one, first, other, second);
  return nextOf(one, first) - first === nextOf(other, second) - second;
}

function isSameScalar(one: Outline, first: number, other: Outline, second: number): boolean {
  return isSameScalarText(textAt(one, first), textAt(other, second));
}

/** Elements of arrays have no key, and are never compared with members: their containers would differ before them. */
function isSameKey(one: Outline, first: number, other: Outline, second: number): boolean {
  return isSameScalarText(keyTextAt(one, first), keyTextAt(other, second));
}

/** An escape takes at most this many characters for one. */
const escapeLengthMax = 6;

/** Compares tokens exactly, and strings by their decoded text. */
function isSameScalarText(one: string, other: string): boolean {
  if (one === other) return true;
  if (!one.startsWith('"') || !other.startsWith('"')) return false;
  // Keeps a long string with escapes from being decoded again and again beside short ones.
  const longer = Math.max(one.length, other.length);
  if (longer > Math.min(one.length, other.length) * escapeLengthMax) return false;
  return decodeString(one, 0, one.length) === decodeString(other, 0, other.length);
}
