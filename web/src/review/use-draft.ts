// The approver's edit and note: kept while they type, and across a reload.

import { useEffect, useMemo, useRef, useState } from "react";
import type { Review } from "../../../sdk/src/review-contract.ts";
import { emptyDraft, loadDraft, saveDraft } from "./draft.ts";
import { type DraftState, judgeDraft } from "./payload/draft-state.ts";

export type DraftKeeping = {
  /** The document as edited; null only when there is no payload. */
  text: string | null;
  note: string;
  state: DraftState;
  stateOf: (text: string) => DraftState;
  setText: (text: string) => void;
  setNote: (note: string) => void;
  /** What is typed into single values and not yet kept. */
  fields: ReadonlyMap<string, string>;
  setField: (key: string, typed: string | null) => void;
  /** It was sent and counted: nothing of it needs to be kept. */
  forget: () => void;
};

export function useDraft({ id, payload }: Review): DraftKeeping {
  const [kept] = useState(() => loadDraft(storage(), id));
  const [text, setText] = useState(payload === null ? null : (kept.text ?? payload));
  const [note, setNote] = useState(kept.note);
  const [isForgotten, setForgotten] = useState(false);
  // Typing into one value must not draw all the others again.
  const fields = useRef(new Map(Object.entries(kept.fields)));
  const state = useMemo(() => judge(payload, text), [payload, text]);
  const save = () => {
    const edited = text === payload ? null : text;
    const draft = { text: edited, note, fields: Object.fromEntries(fields.current) };
    saveDraft(storage(), id, isForgotten ? emptyDraft : draft);
  };
  useEffect(save, [text, note, isForgotten]);
  const latestSave = useRef(save);
  latestSave.current = save;
  const setField = (key: string, typed: string | null) => {
    if (typed === null) fields.current.delete(key);
    else fields.current.set(key, typed);
    latestSave.current();
  };
  return {
    text,
    note,
    state,
    stateOf: (other) => judge(payload, other),
    setText,
    setNote,
    fields: fields.current,
    setField,
    forget: () => setForgotten(true),
  };
}

function judge(payload: string | null, text: string | null): DraftState {
  return payload === null || text === null ? { kind: "unchanged" } : judgeDraft(payload, text);
}

function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
