// Whether a payload survives JSON. A person approves the values and the digits that they read, so nothing may run with
// others. Clients with a parser of their own say themselves how they read numbers.

import { InexactPayloadError } from "./errors.ts";
import { isPlain } from "./standard-schema.ts";

export type Codec = { parse: (text: string) => unknown; stringify: (value: unknown) => string };

/**
 * Refuses a payload that a person would not see as this program has it, or that it would not get back as it is. A field
 * that is undefined is left out, and dates and other values with a `toJSON` are what that makes of them.
 */
export function refuseInexact(payload: unknown, { parse, stringify }: Codec): void {
  if (payload === undefined) return;
  const isRounding = parse === JSON.parse;
  if (stringify === JSON.stringify) {
    JSON.stringify(payload, function (this: unknown, key: string, value: unknown) {
      if (isKept(value, this, key) && !(isRounding && isUnsafe(value))) return value;
      throw new InexactPayloadError(nameOf(value), "JSON can't hold it as it is", key);
    });
  }
  if (isRounding) refuseRounded(stringify(payload) ?? "null");
}

/** Refuses a JSON text that `JSON.parse` would change. */
export function refuseRounded(text: string): void {
  const rounded = roundedNumberIn(text);
  if (rounded !== null) throw new InexactPayloadError(rounded, asRead(rounded));
}

/** The first number in a JSON text that `JSON.parse` would change; null if there is none. */
export function roundedNumberIn(text: string): string | null {
  return findRounded(text, null);
}

/** The same, in the value of one member of the outermost object. */
export function roundedNumberInMember(text: string, name: string): string | null {
  return findRounded(text, JSON.stringify(name));
}

export function asRead(literal: string): string {
  return `JSON.parse reads it as ${Number(literal)}`;
}

/** Whether JSON writes a value as it is. Its holder still has a date as a date. */
function isKept(value: unknown, holder: unknown, key: string): boolean {
  const held = (holder as Record<string, unknown>)[key];
  if (held instanceof Date && Number.isNaN(held.getTime())) return false;
  const plain = unboxed(value);
  switch (typeof plain) {
    case "number":
      return Number.isFinite(plain);
    case "undefined":
      return !Array.isArray(holder) && key !== "";
    case "object":
      return plain === null || isPlainData(plain);
    default:
      return typeof plain === "string" || typeof plain === "boolean";
  }
}

function isPlainData(value: object): boolean {
  // A copy has what is enumerable, also under symbols, which JSON leaves out.
  if (Object.getOwnPropertySymbols({ ...value }).length > 0) return false;
  if (Array.isArray(value)) return Object.keys(value).length === value.length;
  return Object.getPrototypeOf(value) === null || isPlain(value);
}

/** A whole number beyond 2^53 may be rounded already. */
function isUnsafe(value: unknown): boolean {
  const number = unboxed(value);
  return Number.isInteger(number) && !Number.isSafeInteger(number);
}

/** JSON writes the value in the box. */
function unboxed(value: unknown): unknown {
  const isBoxed = [Number, BigInt, String, Boolean].some((box) => value instanceof box);
  return isBoxed ? (value as object).valueOf() : value;
}

function nameOf(value: unknown): string {
  const plain = unboxed(value);
  return typeof plain === "object" ? Object.prototype.toString.call(plain) : String(plain);
}

/** Fifteen digits and no exponent always survive, and almost every text has only such numbers. */
const suspicious = /[\d.]{16}|\d[eE]/;

function findRounded(text: string, member: string | null): string | null {
  if (!suspicious.test(text)) return null;
  let depth = 0;
  let isWithin = member === null;
  for (let at = 0; at < text.length; ) {
    const character = text[at] as string;
    const end = endOfToken(text, at);
    if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    else if (character === '"' && member !== null && depth === 1 && isKey(text, end)) {
      isWithin = text.slice(at, end) === member;
    } else if (isWithin && /[-\d]/.test(character)) {
      const literal = text.slice(at, end);
      if (!survives(literal)) return literal;
    }
    at = end;
  }
  return null;
}

function endOfToken(text: string, start: number): number {
  const character = text[start] as string;
  let end = start + 1;
  if (character === '"') {
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    return end + 1;
  }
  if (/[-\d]/.test(character)) while (/[\d.eE+-]/.test(text[end] ?? "")) end += 1;
  return end;
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (/\s/.test(text[at] ?? "")) at += 1;
  return text[at] === ":";
}

/** Whether it is the same decimal number after it was read: 1.0 and 1 are, 9007199254740993 is not. */
function survives(literal: string): boolean {
  const read = Number(literal);
  return Number.isFinite(read) && decimalOf(literal) === decimalOf(String(read));
}

/** The sign, the digits without zeros around them, and the power of ten of the last one. */
export function decimalOf(literal: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^([-+]?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = withoutTrailingZeros(digits);
  if (significant === "") return "0";
  const power = BigInt(exponent) + BigInt(digits.length - significant.length - fraction.length);
  return `${sign}${significant}e${power}`;
}

/** Not with a pattern, which would take quadratic time for zeros that are not the last digits. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
