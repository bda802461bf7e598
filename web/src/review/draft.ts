// Keeps what the approver typed across reloads, in this tab alone, and only until the request is decided.

export type Draft = {
  /** The edited document, valid or not; null when it is as the agent sent it. */
  text: string | null;
  note: string;
  /** Values that are being edited where they stand and not yet kept, by path. */
  fields: Readonly<Record<string, string>>;
};

/** What of the browser's storage is used. */
export type DraftStorage = {
  getItem: (key: string) => string | null;
  setItem: (key: string, value: string) => void;
  removeItem: (key: string) => void;
};

export const emptyDraft: Draft = { text: null, note: "", fields: {} };

export function loadDraft(storage: DraftStorage | null, id: string): Draft {
  try {
    const kept: unknown = JSON.parse(storage?.getItem(keyOf(id)) ?? "null");
    if (typeof kept !== "object" || kept === null) return emptyDraft;
    const { text, note, fields } = kept as Record<string, unknown>;
    return {
      text: typeof text === "string" ? text : null,
      note: typeof note === "string" ? note : "",
      fields: textsOf(fields),
    };
  } catch {
    return emptyDraft;
  }
}

/** Storage may be full or forbidden; the page works without it. */
export function saveDraft(storage: DraftStorage | null, id: string, draft: Draft): void {
  const { text, note, fields } = draft;
  const isEmpty = text === null && note === "" && Object.keys(fields).length === 0;
  try {
    if (isEmpty) storage?.removeItem(keyOf(id));
    else storage?.setItem(keyOf(id), JSON.stringify(draft));
  } catch {}
}

function textsOf(fields: unknown): Record<string, string> {
  if (typeof fields !== "object" || fields === null) return {};
  const texts = Object.entries(fields).filter((entry) => typeof entry[1] === "string");
  return Object.fromEntries(texts);
}

function keyOf(id: string): string {
  return `countersign draft ${id}`;
}
