// The state of an edited document: unchanged, changed, or not approvable and why.

import { diffJson, type JsonChange } from "../../../server/src/domain/shown/json-diff.ts";
import { scanJsonValue } from "../../../server/src/domain/shown/json-text.ts";
import { words } from "../look/words.ts";

export type Mistake = {
  at: number;
  message: string;
  /** It is JSON, but not a valid edit. */
  isNull?: boolean;
};

export type DraftState =
  | { kind: "unchanged" }
  | { kind: "changed"; changes: JsonChange[] }
  | { kind: "refused"; mistake: Mistake };

/** One shared list, so that rows without changes can be compared by identity. */
export const noChanges: readonly JsonChange[] = [];

export function judgeDraft(original: string, draft: string): DraftState {
  if (draft === original) return { kind: "unchanged" };
  const mistake = mistakeIn(draft);
  if (mistake !== null) return { kind: "refused", mistake };
  const changes = diffJson(original, draft);
  return changes.length === 0 ? { kind: "unchanged" } : { kind: "changed", changes };
}

/** The service refuses the same by the same rules; the page says it while it can still be fixed. */
export function mistakeIn(draft: string): Mistake | null {
  const scanned = scanJsonValue(draft);
  if (scanned.kind === "malformed")
    return { at: scanned.at, message: capitalised(scanned.message) };
  if (scanned.flaw !== null) {
    const { kind, path, at = 0 } = scanned.flaw;
    const describe = kind === "duplicate_key" ? words.editor.duplicateKey : words.editor.tooDeep;
    return { at, message: describe(path === "" ? words.wholePayload : path) };
  }
  return draft.trim() === "null" ? { at: 0, message: words.editor.isNull, isNull: true } : null;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
