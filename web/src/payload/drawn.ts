// Records which values have been drawn. Only a row marks its value, once the value stands in the document with all of
// its text. Approve waits for values without a mark.

import { isSameJson, type JsonChange } from "../../../server/src/domain/shown/json-diff.ts";
import {
  childrenOf,
  kindOf,
  membersOf,
  nextOf,
  type Outline,
  outlineOf,
  stepsOf,
  textAt,
} from "../../../server/src/domain/shown/json-outline.ts";

export type Drawn = {
  outline: Outline;
  /** One byte per value of the outline: 0, or how it was seen. */
  marks: Uint8Array;
  /** The number of values without a mark. */
  unseen: number;
};

const drawnMark = 1;
/** The approver typed it, and the second step lists it in full. */
const typedMark = 2;

export function nothingDrawn(text: string): Drawn {
  const outline = outlineOf(text);
  const count = outline.starts.length;
  return { outline, marks: new Uint8Array(count), unseen: count };
}

export function markDrawn(drawn: Drawn, value: number): void {
  mark(drawn, value, drawnMark);
}

export function markAllDrawn(drawn: Drawn): void {
  for (let value = 0; value < drawn.marks.length; value += 1) markDrawn(drawn, value);
}

export function isSeen({ marks }: Drawn, value: number): boolean {
  return marks[value] !== 0;
}

/** The number of values inside a container without a mark. */
export function unseenInside(drawn: Drawn, container: number): number {
  return unseenFrom(drawn, container, container + 1);
}

/** The same, starting at one of its entries. */
export function unseenFrom({ outline, marks }: Drawn, container: number, from: number): number {
  let unseen = 0;
  const end = nextOf(outline, container);
  for (let value = from; value < end; value += 1) if (marks[value] === 0) unseen += 1;
  return unseen;
}

/**
 * The record of an edited document. A value that was drawn before, at the same path and with the same text, need not be
 * drawn again; nor does one that the approver typed. `changes` are relative to the agent's document.
 */
export function drawnAfterEdit(
  text: string,
  before: readonly Drawn[],
  changes: readonly JsonChange[],
): Drawn {
  const drawn = nothingDrawn(text);
  for (const each of before) carryDrawn(each, 0, drawn, 0);
  markTyped(drawn, changes);
  return drawn;
}

/** Both values stand at the same path. */
function carryDrawn(from: Drawn, old: number, to: Drawn, now: number): void {
  const [before, after] = [textAt(from.outline, old), textAt(to.outline, now)];
  const kind = kindOf(from.outline, old);
  if (before === after) carryRange(from, old, to, now);
  if (before === after || kind !== kindOf(to.outline, now)) return;
  const isContainer = kind === "object" || kind === "array";
  const isSame = isContainer || isSameJson(before, after);
  if (isSame && isDrawn(from, old)) markDrawn(to, now);
  if (kind === "object") carryMembers(from, old, to, now);
  if (kind === "array") carryItems(from, old, to, now);
}

/** The same text has the same values in the same order. */
function carryRange(from: Drawn, old: number, to: Drawn, now: number): void {
  const count = nextOf(from.outline, old) - old;
  for (let at = 0; at < count; at += 1) if (isDrawn(from, old + at)) markDrawn(to, now + at);
}

function carryMembers(from: Drawn, old: number, to: Drawn, now: number): void {
  const members = membersOf(from.outline, old);
  for (const [key, value] of membersOf(to.outline, now)) {
    const counterpart = members.get(key);
    if (counterpart !== undefined) carryDrawn(from, counterpart, to, value);
  }
}

function carryItems(from: Drawn, old: number, to: Drawn, now: number): void {
  const items = childrenOf(from.outline, old);
  childrenOf(to.outline, now).forEach((value, index) => {
    const counterpart = items[index];
    if (counterpart !== undefined) carryDrawn(from, counterpart, to, value);
  });
}

/** The steps to the typed values: one walk marks all of them, however many changes there are. */
type TypedSteps = { isTyped: boolean; inside: Map<string | number, TypedSteps> };

function markTyped(drawn: Drawn, changes: readonly JsonChange[]): void {
  const root: TypedSteps = { isTyped: false, inside: new Map() };
  for (const { kind, path } of changes) {
    if (kind !== "changed" && kind !== "added") continue;
    let at = root;
    for (const step of path) {
      const next = at.inside.get(step) ?? { isTyped: false, inside: new Map() };
      at.inside.set(step, next);
      at = next;
    }
    at.isTyped = true;
  }
  markTypedAt(drawn, 0, root);
}

function markTypedAt(drawn: Drawn, value: number, { isTyped, inside }: TypedSteps): void {
  const { outline } = drawn;
  if (isTyped) {
    for (let at = value; at < nextOf(outline, value); at += 1) mark(drawn, at, typedMark);
  } else if (inside.size > 0) {
    for (const [step, child] of stepsOf(outline, value)) {
      const next = inside.get(step);
      if (next !== undefined) markTypedAt(drawn, child, next);
    }
  }
}

function isDrawn({ marks }: Drawn, value: number): boolean {
  return ((marks[value] ?? 0) & drawnMark) !== 0;
}

function mark(drawn: Drawn, value: number, how: number): void {
  const { marks } = drawn;
  if (marks[value] === 0) drawn.unseen -= 1;
  marks[value] = (marks[value] ?? 0) | how;
}
