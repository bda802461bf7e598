// The body of a call as the members of its one JSON object, each with the exact text it was sent with.

import { type Refusal, refuse } from "../refusal.ts";
import { type JsonMember, scanJson } from "../shown/json-text.ts";

export type Members = ReadonlyMap<string, JsonMember>;

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Keeps a byte order mark, which is no JSON. */
const exactUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a body, or null when it isn't UTF-8. */
export function textOf(body: Uint8Array, decoder = utf8): string | null {
  try {
    return decoder.decode(body);
  } catch {
    return null;
  }
}

/** For the caller, a refusal says what the object must have (`what`) and which action was not done (`undone`). */
export function membersOf(
  body: Uint8Array,
  { what, undone }: { what: string; undone: string },
): Members | Refusal {
  if (body.length === 0) {
    return refuse("invalid_json", `The body is empty. Send a JSON object with ${what}.`);
  }
  const text = textOf(body, exactUtf8);
  if (text === null) {
    return refuse("invalid_json", "The body is not valid UTF-8. Encode the JSON text as UTF-8.");
  }
  const scanned = scanJson(text);
  if (scanned.kind === "malformed") {
    return refuse(
      "invalid_json",
      `The body is not valid JSON: ${scanned.message}. Nothing was ${undone}; mend it and send it again.`,
    );
  }
  if (scanned.kind === "other") {
    return refuse("validation_error", `The body must be a JSON object with ${what}.`);
  }
  const members = new Map<string, JsonMember>();
  for (const member of scanned.members) {
    // Of two members with one name, the flawed one is kept: it carries the refusal.
    if (member.flaw !== null || !members.has(member.name)) members.set(member.name, member);
  }
  return members;
}

export function describeType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
