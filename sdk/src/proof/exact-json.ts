// Reads JSON without losing anything that a signature covers: digits stay as they are written, and a name that comes
// twice, a lone surrogate or anything after the end is refused.

import { decimalOf } from "../exactness.ts";
import { isWellFormed } from "./bytes.ts";

/** A number as it is written. */
export class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type ExactObject = Map<string, ExactValue>;
export type ExactValue = string | boolean | null | Digits | ExactValue[] | ExactObject;

const depthMax = 200;
const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const words = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Undefined if the text is no JSON, or isn't unambiguous. */
export function parseExact(text: string): ExactValue | undefined {
  return parsePlain(text) ?? parseSlowly(text);
}

/**
 * A text that JSON writes again as it was is unambiguous, and most are such: reading them so takes a tenth of the time.
 * Escapes may be lone surrogates, which are looked at closely.
 */
function parsePlain(text: string): ExactValue | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isPlain = !text.includes("\\u") && JSON.stringify(value) === text;
    return isPlain ? exactOf(value, 0) : undefined;
  } catch {
    return undefined;
  }
}

function exactOf(value: unknown, depth: number): ExactValue {
  if (depth > depthMax) throw new NotExact();
  if (typeof value === "number") return new Digits(String(value));
  if (Array.isArray(value)) return value.map((each) => exactOf(each, depth + 1));
  if (typeof value !== "object" || value === null) return value as string | boolean | null;
  const object: ExactObject = new Map();
  for (const [name, each] of Object.entries(value)) object.set(name, exactOf(each, depth + 1));
  return object;
}

function parseSlowly(text: string): ExactValue | undefined {
  const reader = { text, at: 0 };
  try {
    const value = readValue(reader, 0);
    skipSpace(reader);
    return reader.at === text.length ? value : undefined;
  } catch (error) {
    if (error instanceof NotExact) return undefined;
    throw error;
  }
}

/** Whether two JSON texts say the same: the same names and texts, and numbers of the same decimal value. */
export function isSameValue(one: ExactValue, other: ExactValue): boolean {
  if (one instanceof Digits || other instanceof Digits) {
    return one instanceof Digits && other instanceof Digits && isSameNumber(one.text, other.text);
  }
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((value, at) => isSameValue(value, other[at] as ExactValue));
  }
  if (one instanceof Map || other instanceof Map) {
    if (!(one instanceof Map) || !(other instanceof Map) || one.size !== other.size) return false;
    return [...one].every(([name, value]) => {
      const found = other.get(name);
      return found !== undefined && isSameValue(value, found);
    });
  }
  return one === other;
}

/** Never by doubles, which can't tell 9007199254740993 from …992. */
function isSameNumber(one: string, other: string): boolean {
  return one === other || decimalOf(one) === decimalOf(other);
}

class NotExact extends Error {}

type Reader = { text: string; at: number };

function readValue(reader: Reader, depth: number): ExactValue {
  skipSpace(reader);
  const first = reader.text[reader.at];
  if (depth > depthMax) throw new NotExact();
  if (first === "{") return readObject(reader, depth);
  if (first === "[") return readArray(reader, depth);
  if (first === '"') return readString(reader);
  for (const [word, value] of words) {
    if (!reader.text.startsWith(word, reader.at)) continue;
    reader.at += word.length;
    return value;
  }
  return new Digits(take(reader, number));
}

function readObject(reader: Reader, depth: number): ExactObject {
  const object: ExactObject = new Map();
  readList(reader, "}", () => {
    skipSpace(reader);
    const name = readString(reader);
    if (object.has(name)) throw new NotExact();
    skipSpace(reader);
    expect(reader, ":");
    object.set(name, readValue(reader, depth + 1));
  });
  return object;
}

function readArray(reader: Reader, depth: number): ExactValue[] {
  const array: ExactValue[] = [];
  readList(reader, "]", () => array.push(readValue(reader, depth + 1)));
  return array;
}

function readList(reader: Reader, end: string, readOne: () => void): void {
  reader.at += 1;
  skipSpace(reader);
  if (reader.text[reader.at] === end) {
    reader.at += 1;
    return;
  }
  for (;;) {
    readOne();
    skipSpace(reader);
    if (reader.text[reader.at] === end) break;
    expect(reader, ",");
  }
  reader.at += 1;
}

function readString(reader: Reader): string {
  const start = reader.at;
  expect(reader, '"');
  while (reader.at < reader.text.length && reader.text[reader.at] !== '"') {
    reader.at += reader.text[reader.at] === "\\" ? 2 : 1;
  }
  expect(reader, '"');
  const text = unescaped(reader.text.slice(start, reader.at));
  if (!isWellFormed(text)) throw new NotExact();
  return text;
}

function unescaped(literal: string): string {
  try {
    return JSON.parse(literal);
  } catch {
    throw new NotExact();
  }
}

function skipSpace(reader: Reader): void {
  take(reader, space);
}

function expect(reader: Reader, character: string): void {
  if (reader.text[reader.at] !== character) throw new NotExact();
  reader.at += 1;
}

function take(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  if (found === undefined) throw new NotExact();
  reader.at += found.length;
  return found;
}
