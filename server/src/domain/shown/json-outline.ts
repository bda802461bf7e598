// Numbers the values of a JSON text, so that a walk over millions of them makes no object for each. The text must be
// known to be valid JSON.

import {
  comma,
  countValues,
  decodeString,
  isClosing,
  isOpening,
  type JsonNode,
  type JsonPath,
  kindAt,
  openBrace,
  rootOf,
  skipSpace,
  stringEnd,
  valueEnd,
} from "./json-tree.ts";

/**
 * The values of a text, numbered in the order in which they begin: a container is followed by its content. Numbers in
 * typed arrays, because a text of a few megabytes may hold millions of values.
 */
export type Outline = {
  text: string;
  starts: Int32Array;
  ends: Int32Array;
  /** The number of the first value after this one that is not inside it. */
  nexts: Int32Array;
  /** The offset of a member's key; meaningless outside of objects. */
  keyStarts: Int32Array;
  keyEnds: Int32Array;
};

export function outlineOf(text: string): Outline {
  const root = rootOf(text);
  const size = countValues(text, root) + 1;
  const outline: Outline = {
    text,
    starts: new Int32Array(size),
    ends: new Int32Array(size),
    nexts: new Int32Array(size),
    keyStarts: new Int32Array(size),
    keyEnds: new Int32Array(size),
  };
  fillOutline(outline, root.start);
  return outline;
}

export function kindOf({ text, starts }: Outline, value: number): JsonNode["kind"] {
  return kindAt(text, starts[value] ?? 0);
}

export function nextOf({ nexts }: Outline, value: number): number {
  return nexts[value] ?? 0;
}

export function textAt({ text, starts, ends }: Outline, value: number): string {
  return text.slice(starts[value], ends[value]);
}

export function keyTextAt({ text, keyStarts, keyEnds }: Outline, value: number): string {
  return text.slice(keyStarts[value], keyEnds[value]);
}

export function childrenOf(outline: Outline, container: number): number[] {
  const children: number[] = [];
  const end = nextOf(outline, container);
  for (let child = container + 1; child < end; child = nextOf(outline, child)) children.push(child);
  return children;
}

export function membersOf(outline: Outline, object: number): Map<string, number> {
  const members = new Map<string, number>();
  for (const child of childrenOf(outline, object)) members.set(keyAt(outline, child), child);
  return members;
}

/** The step that leads from its container to a value: its key, or its place in the list. */
export function* stepsOf(
  outline: Outline,
  container: number,
): Generator<[step: string | number, value: number]> {
  const isObject = kindOf(outline, container) === "object";
  const end = nextOf(outline, container);
  let index = 0;
  for (let child = container + 1; child < end; child = nextOf(outline, child)) {
    yield [isObject ? keyAt(outline, child) : index, child];
    index += 1;
  }
}

export function keyAt(outline: Outline, member: number): string {
  const { text, keyStarts, keyEnds } = outline;
  return decodeString(text, keyStarts[member] ?? 0, keyEnds[member] ?? 0);
}

/** The number of the value at a path, or null when there is none. */
export function numberAt(outline: Outline, path: JsonPath): number | null {
  let value = 0;
  for (const step of path) {
    const child = childAt(outline, value, step);
    if (child === null) return null;
    value = child;
  }
  return value;
}

function childAt(outline: Outline, container: number, wanted: string | number): number | null {
  for (const [step, child] of stepsOf(outline, container)) if (step === wanted) return child;
  return null;
}

/** One walk over the text, without calling itself, in which every value gets its number when it begins. */
function fillOutline(outline: Outline, start: number): void {
  const { text, starts, ends, nexts } = outline;
  const open: number[] = [];
  let isInObject = false;
  let count = 0;
  for (let at = skipSpace(text, start); at < text.length; at = skipSpace(text, at)) {
    const code = text.charCodeAt(at);
    if (code === comma) at += 1;
    else if (isClosing(code)) {
      at += 1;
      const container = open.pop() ?? 0;
      ends[container] = at;
      nexts[container] = count;
      isInObject = text.charCodeAt(starts[open.at(-1) ?? 0] ?? 0) === openBrace;
    } else {
      if (isInObject) at = noteKey(outline, count, at);
      starts[count] = at;
      const isContainer = isOpening(text.charCodeAt(at));
      if (isContainer) open.push(count);
      if (isContainer) isInObject = text.charCodeAt(at) === openBrace;
      at = isContainer ? at + 1 : valueEnd(text, at);
      ends[count] = at;
      count += 1;
      nexts[count - 1] = count;
    }
  }
}

/** Returns where the value of the member begins. */
function noteKey({ text, keyStarts, keyEnds }: Outline, value: number, at: number): number {
  const end = stringEnd(text, at);
  keyStarts[value] = at;
  keyEnds[value] = end;
  return skipSpace(text, skipSpace(text, end) + 1);
}
