// How rows look, for those that are components and those that are plain text.

import type { JsonNode } from "../../../../server/src/domain/json-tree.ts";
import { words } from "../words.ts";

/** Deeper levels are not indented any further; on a phone nothing would be left of the line. */
export const indentedLevelsMax = 8;
const longCharacters = 48;

/** `text` is the value's own JSON. */
export function lineName(text: string): string {
  return text.length > longCharacters ? "line line-long" : "line";
}

/** `depth` is that of the container. */
export function rowsName(depth: number): string {
  const indented = depth <= indentedLevelsMax ? " rows-indented" : "";
  return `rows${indented}${depth >= 2 ? " rows-deep" : ""}`;
}

/** What a container says of itself: the signs of its kind, and how much is in it. */
export function containerWords(isObject: boolean, count: number): { signs: string; said: string } {
  const signs = isObject ? "{ }" : "[ ]";
  if (count === 0) return { signs, said: isObject ? words.emptyObject : words.emptyArray };
  return { signs, said: isObject ? words.object(count) : words.array(count) };
}

/** What we say behind a simple value: to everybody, or to screen readers alone. */
export type Notes = { shown: string | null; spoken: string | null };

/** `value` is the decoded text, or the token of anything else. */
export function notesOn(kind: JsonNode["kind"], value: string): Notes {
  if (kind !== "string") return noNotes;
  return {
    shown: value === "" ? words.emptyString : null,
    spoken: looksLikeAnother(value) ? words.text : null,
  };
}

const noNotes: Notes = { shown: null, spoken: null };

/** Screen readers do not say the quotes that tell a text from a number. */
function looksLikeAnother(value: string): boolean {
  return /^(?:-?[0-9.eE+]+|true|false|null)$/.test(value);
}
