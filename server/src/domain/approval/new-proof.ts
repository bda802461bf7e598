// Reads the fields by which a caller asks for proof: for whom receipts are valid, and whether approvers must sign.

import { audienceCharactersMax, audiencesMax } from "../shown/field-limits.ts";
import { countCharacters } from "../workspace/plain-text.ts";
import { describeType } from "./json-body.ts";
import type { Flaw } from "./new-voting.ts";

/** What nobody could see is refused, too: two names that look the same would be two audiences. */
const unwritable = /[\s\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

export function readAudience(value: unknown, place: string): string[] | null | Flaw {
  if (value === null) return null;
  if (!Array.isArray(value)) {
    return { place, flaw: `must be an array of strings, not ${describeType(value)}` };
  }
  if (value.length === 0 || value.length > audiencesMax) {
    return { place, flaw: `must have 1 to ${audiencesMax} items, but has ${value.length}` };
  }
  const names: string[] = [];
  for (const [index, each] of value.entries()) {
    const flaw = flawOfName(each) ?? (names.includes(each) ? "stands there a second time" : null);
    if (flaw !== null) return { place: `${place}[${index}]`, flaw };
    names.push(each);
  }
  return names;
}

function flawOfName(each: unknown): string | null {
  if (typeof each !== "string") return `must be a string, not ${describeType(each)}`;
  const characters = countCharacters(each);
  if (characters === 0 || characters > audienceCharactersMax) {
    return `must have 1 to ${audienceCharactersMax} characters, but has ${characters}`;
  }
  const found = unwritable.exec(each);
  if (found === null) return null;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `must not contain white space, control or invisible characters (found U+${code})`;
}

export function readFlag(value: unknown, place: string): boolean | null | Flaw {
  if (value === null || typeof value === "boolean") return value;
  return { place, flaw: `must be true or false, not ${describeType(value)}` };
}
