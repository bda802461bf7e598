// Keeps the approver's typing across reloads, in this tab alone, until the request is decided.

import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";

export type Draft = Typed & {
  note: string;
  /** The text of the payload that was edited: 1 is the agent's, and each edit by an approver makes the next. */
  revision: number;
  /** Typed for an earlier text, so it isn't used. */
  earlier: Typed | null;
};

export type Typed = {
  /** The edited document, valid or not; null if it is unchanged. */
  text: string | null;
  /** Values that are being edited in place and not yet kept. */
  fields: readonly FieldDraft[];
};

export type FieldDraft = {
  path: JsonPath;
  /** The value's text when editing began: if it differs now, the field has lost its place. */
  token: string;
  typed: string;
};

/** The part of the browser's storage that we use. */
export type DraftStorage = {
  getItem: (key: string) => string | null;
  setItem: (key: string, value: string) => void;
  removeItem: (key: string) => void;
};

export const emptyDraft: Draft = { text: null, note: "", fields: [], revision: 1, earlier: null };

export function loadDraft(storage: DraftStorage | null, id: string): Draft {
  try {
    const kept: unknown = JSON.parse(storage?.getItem(keyOf(id)) ?? "null");
    if (typeof kept !== "object" || kept === null) return emptyDraft;
    const { note, revision, earlier } = kept as Record<string, unknown>;
    return {
      ...typedIn(kept),
      note: typeof note === "string" ? note : "",
      revision: typeof revision === "number" ? revision : 1,
      earlier: typeof earlier === "object" && earlier !== null ? typedIn(earlier) : null,
    };
  } catch {
    return emptyDraft;
  }
}

/** Whether it was kept: storage may be full or forbidden, and the page works without it. */
export function saveDraft(storage: DraftStorage | null, id: string, draft: Draft): boolean {
  const isEmpty = isBlank(draft) && draft.note === "" && draft.earlier === null;
  try {
    storage?.removeItem(keyOf(id));
    if (isEmpty) return true;
    storage?.setItem(keyOf(id), JSON.stringify(draft));
    return storage !== null;
  } catch {
    return false;
  }
}

/**
 * The draft for another text of the payload. An edit of the text before it would undo what somebody else changed, so it is
 * kept apart; the note stays.
 */
export function draftFor(draft: Draft, revision: number): Draft {
  if (draft.revision === revision) return draft;
  const { text, fields, note } = draft;
  const earlier = isBlank(draft) ? draft.earlier : { text, fields };
  return { ...emptyDraft, note, revision, earlier };
}

function isBlank({ text, fields }: Typed): boolean {
  return text === null && fields.length === 0;
}

function typedIn(kept: object): Typed {
  const { text, fields } = kept as Record<string, unknown>;
  return { text: typeof text === "string" ? text : null, fields: fieldsOf(fields) };
}

function fieldsOf(fields: unknown): FieldDraft[] {
  return Array.isArray(fields) ? fields.filter(isField) : [];
}

function isField(value: unknown): value is FieldDraft {
  if (typeof value !== "object" || value === null) return false;
  const { path, token, typed } = value as Record<string, unknown>;
  const isPath =
    Array.isArray(path) && path.every((step) => ["string", "number"].includes(typeof step));
  return isPath && typeof token === "string" && typeof typed === "string";
}

function keyOf(id: string): string {
  return `countersign draft ${id}`;
}
