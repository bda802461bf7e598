// The one text that stands for everything a reviewer was shown. The page hashes what it rendered, the service hashes
// what it stored, and a decision counts only when both are the same. A field that is shown but not bound doesn't compile.

import { type FirstShownName, type ShownFields, shownFields } from "./submitted-fields.ts";

/** The version of the text. Evidence and receipts name it. */
export const shownVersion = 2;

/** The fields, and what the page says around them. */
export type Shown = ShownFields & {
  id: string;
  workspaceName: string;
  /** ISO 8601 with milliseconds. */
  expiresAt: string;
  groupName: string | null;
  /** What an approver made of the payload; the page shows it in the payload's place. */
  change?: { revision: number; payload: string } | null;
};

/** Fields of the first version: each has its place in the text, whatever it holds. */
const first = [
  "summary",
  "agentName",
  "reasoning",
  "recentActions",
  "payload",
] as const satisfies FirstShownName[];

/** The compiler asks for a shown field that has no place here, and isn't in the table as an addition. */
type Missing = Exclude<FirstShownName, (typeof first)[number]>;
null satisfies [Missing] extends [never] ? null : Missing;

const later = shownFields.filter(({ isAddition }) => isAddition);

/**
 * JSON of strings and arrays has no two readings, whatever the strings hold. Later fields stand by name, and only where
 * they were given, so that the text of older requests stays as it was.
 */
export function shownText(shown: Shown): string {
  const { id, workspaceName, expiresAt, groupName, change = null } = shown;
  const around = [id, workspaceName, expiresAt, groupName];
  const places = first.map((name) => shown[name]);
  const changed = change === null ? [] : [["revision", change.revision, change.payload]];
  return JSON.stringify([shownVersion, ...around, ...places, ...givenLater(shown), ...changed]);
}

function givenLater(shown: Record<string, unknown>): [string, unknown][] {
  return later.flatMap(({ name }): [string, unknown][] => {
    // An older process, during an update of the service, doesn't know the field, and shows nothing of it.
    const value = shown[name] ?? null;
    const isGiven = value !== null && !(Array.isArray(value) && value.length === 0);
    return isGiven ? [[name, value]] : [];
  });
}
