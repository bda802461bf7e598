// The approver's edit and note: kept while they type, across a reload, and while others change the payload.

import { useEffect, useMemo, useRef, useState } from "react";
import { isSameJson } from "../../../server/src/domain/shown/json-diff.ts";
import { nodeAt, textOf } from "../../../server/src/domain/shown/json-tree.ts";
import type { Review } from "../../../server/src/wire/review-contract.ts";
import {
  type Draft,
  draftFor,
  emptyDraft,
  type FieldDraft,
  loadDraft,
  saveDraft,
  type Typed,
} from "../payload/draft.ts";
import { type DraftState, judgeDraft, mistakeIn } from "../payload/draft-state.ts";
import { keyOf } from "../payload/folding.ts";
import { currentPayload, revisionOf } from "./voting/revision.ts";

export type DraftKeeping = {
  /** The edited document; null only if there is no payload. */
  text: string | null;
  note: string;
  /** The changes to the current text: the agent's, or what an earlier approver made of it. */
  state: DraftState;
  /** The changes of another document to the agent's. */
  stateOf: (text: string) => DraftState;
  setText: (text: string) => void;
  setNote: (note: string) => void;
  /** Unkept typing in single values, by path. */
  fields: ReadonlyMap<string, FieldDraft>;
  /** Those of them whose value is still there, so that they can be kept. */
  openFields: FieldDraft[];
  setField: (field: FieldDraft) => void;
  dropField: (key: string) => void;
  /** Typed for an earlier text of the payload; null if nothing was. */
  earlier: Typed | null;
  takeEarlier: () => void;
  dropEarlier: () => void;
  /** Whether a reload would restore everything. */
  isKept: boolean;
  /** All of it, for the same page with another text of the payload. */
  all: () => Draft;
  /** It was sent and counted: nothing needs to be kept. */
  forget: () => void;
};

/** `carried` is what was typed before somebody changed the payload, where the page was open then. */
export function useDraft(review: Review, carried: Draft | null): DraftKeeping {
  const { id, payload } = review;
  const base = currentPayload(review);
  // That of the text on the page: a newer one is told, and shown on demand.
  const [revision] = useState(() => revisionOf(review));
  const [kept] = useState(() => {
    const draft = draftFor(carried ?? loadDraft(storage(), id), revision);
    return { ...draft, earlier: withoutCurrent(draft.earlier, base) };
  });
  const [text, showText] = useState(base === null ? null : (kept.text ?? base));
  const [note, setNote] = useState(kept.note);
  const [earlier, setEarlier] = useState(kept.earlier);
  const [isForgotten, setForgotten] = useState(false);
  const [isKept, setKept] = useState(true);
  const fields = useRef(new Map(kept.fields.map((field) => [keyOf(field.path), field])));
  const [fieldCount, setFieldCount] = useState(fields.current.size);
  const state = useMemo(() => judge(base, text), [base, text]);
  const all = (now = text): Draft => {
    if (isForgotten) return emptyDraft;
    const edited = now === base ? null : now;
    return { text: edited, note, fields: [...fields.current.values()], revision, earlier };
  };
  const save = (now = text) => setKept(saveDraft(storage(), id, all(now)));
  useEffect(() => save(), [text, note, earlier, isForgotten, fieldCount]);
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
    earlier,
    takeEarlier: () => {
      if (earlier === null || earlier.text === null) return;
      setText(earlier.text);
      setEarlier(earlier.fields.length === 0 ? null : { ...earlier, text: null });
    },
    dropEarlier: () => setEarlier(null),
    isKept,
    all: () => all(),
    forget: () => {
      fields.current.clear();
      setForgotten(true);
    },
  };
}

function judge(base: string | null, text: string | null): DraftState {
  return base === null || text === null ? { kind: "unchanged" } : judgeDraft(base, text);
}

/** An edit that is the current text by now needs no keeping: its own author sent it. */
function withoutCurrent(earlier: Typed | null, base: string | null): Typed | null {
  const { text = null, fields = [] } = earlier ?? {};
  const isCurrent =
    text !== null && base !== null && mistakeIn(text) === null && isSameJson(base, text);
  return isCurrent && fields.length === 0 ? null : earlier;
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
