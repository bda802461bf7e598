// The approver's edit and note: kept while they type, and across a reload.

import { useEffect, useMemo, useRef, useState } from "react";
import { nodeAt, textOf } from "../../../server/src/domain/shown/json-tree.ts";
import type { Review } from "../../../server/src/wire/review-contract.ts";
import { emptyDraft, type FieldDraft, loadDraft, saveDraft } from "../payload/draft.ts";
import { type DraftState, judgeDraft } from "../payload/draft-state.ts";
import { keyOf } from "../payload/folding.ts";

export type DraftKeeping = {
  /** The edited document; null only if there is no payload. */
  text: string | null;
  note: string;
  state: DraftState;
  stateOf: (text: string) => DraftState;
  setText: (text: string) => void;
  setNote: (note: string) => void;
  /** Unkept typing in single values, by path. */
  fields: ReadonlyMap<string, FieldDraft>;
  /** Those of them whose value is still there, so that they can be kept. */
  openFields: FieldDraft[];
  setField: (field: FieldDraft) => void;
  dropField: (key: string) => void;
  /** Whether a reload would restore everything. */
  isKept: boolean;
  /** It was sent and counted: nothing needs to be kept. */
  forget: () => void;
};

export function useDraft({ id, payload }: Review): DraftKeeping {
  const [kept] = useState(() => loadDraft(storage(), id));
  const [text, showText] = useState(payload === null ? null : (kept.text ?? payload));
  const [note, setNote] = useState(kept.note);
  const [isForgotten, setForgotten] = useState(false);
  const [isKept, setKept] = useState(true);
  const fields = useRef(new Map(kept.fields.map((field) => [keyOf(field.path), field])));
  const [fieldCount, setFieldCount] = useState(fields.current.size);
  const state = useMemo(() => judge(payload, text), [payload, text]);
  const save = (now = text) => {
    const edited = now === payload ? null : now;
    const draft = { text: edited, note, fields: [...fields.current.values()] };
    setKept(saveDraft(storage(), id, isForgotten ? emptyDraft : draft));
  };
  useEffect(() => save(), [text, note, isForgotten, fieldCount]);
  const latestSave = useRef(save);
  latestSave.current = save;
  // Saved at once, not when drawn: the page may be closing.
  const setText = (now: string) => {
    latestSave.current(now);
    showText(now);
  };
  const setField = (field: FieldDraft) => {
    fields.current.set(keyOf(field.path), field);
    // Typing into one value redraws the page only at the first letter.
    setFieldCount(fields.current.size);
    latestSave.current();
  };
  const dropField = (key: string) => {
    fields.current.delete(key);
    setFieldCount(fields.current.size);
  };
  const openFields = useMemo(
    () => [...fields.current.values()].filter((field) => hasPlace(field, text)),
    [text, fieldCount],
  );
  return {
    text,
    note,
    state,
    stateOf: (other) => judge(payload, other),
    setText,
    setNote,
    fields: fields.current,
    openFields,
    setField,
    dropField,
    isKept,
    forget: () => {
      fields.current.clear();
      setForgotten(true);
    },
  };
}

function judge(payload: string | null, text: string | null): DraftState {
  return payload === null || text === null ? { kind: "unchanged" } : judgeDraft(payload, text);
}

/** Whether the value of an open field is still in its place. */
function hasPlace({ path, token }: FieldDraft, text: string | null): boolean {
  const node = text === null ? null : nodeAt(text, path);
  return text !== null && node !== null && textOf(text, node) === token;
}

function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
