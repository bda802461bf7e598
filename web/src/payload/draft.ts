// Keeps the approver's typing across reloads, in this tab alone, until the request is decided.

import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";

export type Draft = {
  /** The edited document, valid or not; null if it is unchanged. */
  text: string | null;
  note: string;
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

export const emptyDraft: Draft = { text: null, note: "", fields: [] };

export function loadDraft(storage: DraftStorage | null, id: string): Draft {
  try {
    const kept: unknown = JSON.parse(storage?.getItem(keyOf(id)) ?? "null");
    if (typeof kept !== "object" || kept === null) return emptyDraft;
    const { text, note, fields } = kept as Record<string, unknown>;
    return {
      text: typeof text === "string" ? text : null,
      note: typeof note === "string" ? note : "",
      fields: fieldsOf(fields),
    };
  } catch {
    return emptyDraft;
  }
}

/** Whether it was kept: storage may be full or forbidden, and the page works without it. */
export function saveDraft(storage: DraftStorage | null, id: string, draft: Draft): boolean {
  const { text, note, fields } = draft;
  const isEmpty = text === null && note === "" && fields.length === 0;
  try {
    storage?.removeItem(keyOf(id));
    if (isEmpty) return true;
    storage?.setItem(keyOf(id), JSON.stringify(draft));
    return storage !== null;
  } catch {
    return false;
  }
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
