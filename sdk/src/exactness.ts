// Whether numbers survive `JSON.parse`. A person approves the digits that they read, so nothing may run with others.
// Clients with a parser of their own are not checked: they said how they read numbers.

import { InexactPayloadError } from "./errors.ts";

export type Codec = { parse: (text: string) => unknown; stringify: (value: unknown) => string };

/**
 * Refuses a payload that this program would not get back as it is: numbers beyond 2^53 may be rounded already, NaN and
 * Infinity would be sent as null, an invalid date too, and a bigint can't be sent at all.
 */
export function refuseInexact(payload: unknown, { parse, stringify }: Codec): void {
  if (payload === undefined || parse !== JSON.parse) return;
  if (stringify === JSON.stringify) JSON.stringify(payload, refuseUnsafe);
  refuseRounded(stringify(payload) ?? "null");
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
  return String(Number(literal));
}

/** `this` is what holds the value, before a date in it was turned into a text. */
function refuseUnsafe(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const held = this[key];
  if (held instanceof Date && Number.isNaN(held.getTime())) {
    throw new InexactPayloadError("Invalid Date", null, key);
  }
  const isUnsafe =
    typeof value === "bigint" ||
    (typeof value === "number" &&
      (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))));
  if (!isUnsafe) return value;
  throw new InexactPayloadError(`${value}`, null, key);
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
function decimalOf(literal: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^([-+]?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = withoutTrailingZeros(digits);
  if (significant === "") return "0";
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign}${significant}e${power}`;
}

/** Not with a pattern, which would take quadratic time for zeros that are not the last digits. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
