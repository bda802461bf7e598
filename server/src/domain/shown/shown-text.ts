// The one text that stands for everything a reviewer was shown. The page hashes what it rendered, the service hashes
// what it stored, and a decision counts only when both are the same. A field that is shown but not bound doesn't compile.

import type { ShownName, Submitted } from "./submitted-fields.ts";

export type Shown = { id: string } & Pick<Submitted, ShownName>;

/** Shown since the first version: each has its place in the text, whatever it holds. */
const first = [
  "summary",
  "agentName",
  "reasoning",
  "recentActions",
  "payload",
] as const satisfies ShownName[];

/** Shown fields that came later. The compiler asks for each of them. */
const later = {} as const satisfies Record<Exclude<ShownName, (typeof first)[number]>, true>;

/**
 * JSON of strings and arrays has no two readings, whatever the strings hold. Later fields stand by name, and only where
 * they were given, so that the text of older requests stays as it was.
 */
export function shownText(shown: Shown): string {
  const places = first.map((name) => shown[name]);
  return JSON.stringify([1, shown.id, ...places, ...givenLater(shown)]);
}

function givenLater(shown: Record<string, unknown>): [string, unknown][] {
  return Object.keys(later).flatMap((name): [string, unknown][] => {
    // An older process, during an update of the service, doesn't know the field, and shows nothing of it.
    const value = shown[name] ?? null;
    const isGiven = value !== null && !(Array.isArray(value) && value.length === 0);
    return isGiven ? [[name, value]] : [];
  });
}
