// The look of rows, shared by components and plain text.

import type { JsonNode } from "../../../server/src/domain/shown/json-tree.ts";
import { words } from "../look/words.ts";

/** Deeper levels aren't indented any further; on a phone nothing would be left of the line. */
export const indentedLevelsMax = 8;
const longCharacters = 48;

/**
 * `text` is the value's own JSON, `step` its name or its place in a list. On a phone only a place stands beside the
 * value, and only beside a short one.
 */
export function lineName(text: string, step: string | number | undefined): string {
  const isInline = typeof step === "number" && text.length <= longCharacters;
  return isInline ? "line line-inline" : "line";
}

/** `depth` is that of the container. */
export function rowsName(depth: number): string {
  return depth <= indentedLevelsMax ? "rows rows-indented" : "rows";
}

/** A container's own words: the signs of its kind, and its size. */
export function containerWords(isObject: boolean, count: number): { signs: string; said: string } {
  const signs = isObject ? "{ }" : "[ ]";
  if (count === 0) return { signs, said: isObject ? words.emptyObject : words.emptyArray };
  return { signs, said: isObject ? words.object(count) : words.array(count) };
}

/** Our words behind a simple value: for everybody, for screen readers alone, and a long number in groups. */
export type Notes = { shown: string | null; spoken: string | null; grouped: string | null };

/** `value` is the decoded text, or the token of anything else. */
export function notesOn(kind: JsonNode["kind"], value: string): Notes {
  const isText = kind === "string";
  return {
    shown: isText && value === "" ? words.emptyString : null,
    spoken: isText && looksLikeAnother(value) ? words.text : null,
    grouped: groupedDigits(value),
  };
}

/** Screen readers don't read the quotes that tell a text from a number. */
function looksLikeAnother(value: string): boolean {
  return /^(?:-?[0-9.eE+]+|true|false|null)$/.test(value);
}

/** Only a minus as sign, no leading zero (as in order numbers), no exponent, no more digits than an amount has. */
const longNumber = /^(-?)([1-9][0-9]{4,29})(\.[0-9]{1,30})?$/;

/**
 * A long number once more in groups of three digits, as people read amounts. It stands beside the value and never
 * replaces it. Null if the text is no plain decimal number, or has fewer than five digits before the point.
 */
export function groupedDigits(text: string): string | null {
  const [, minus = "", whole = "", fraction = ""] = longNumber.exec(text) ?? [];
  if (whole === "") return null;
  return minus + whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ",") + fraction;
}
