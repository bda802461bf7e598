// Keeps which parts of the payload are open, for as long as the page is there, opens more on demand, and counts what has
// not been drawn yet. Containers and long texts ask here how much of them to draw; the record (drawn.ts) is made by the
// rows that were drawn.

import { useState } from "react";
import { nextOf, outlineOf } from "../../../../server/src/domain/json-outline.ts";
import type { JsonPath } from "../../../../server/src/domain/json-tree.ts";
import { lead } from "../lead.ts";
import { type DraftState, noChanges } from "./draft-state.ts";
import {
  type Drawn,
  drawnAfterEdit,
  isSeen,
  markAllDrawn,
  markDrawn,
  unseenInside,
} from "./drawn.ts";
import { keyOf, openAtFirst, openValuesAtFirst, wayTo } from "./folding.ts";

export type Opening = {
  /** How many values have never been in the document. */
  unseen: number;
  /** More rows are on their way into the document. */
  isGrowing: boolean;
  /** Everything has been drawn, and nothing is on its way. */
  isComplete: boolean;
  openAll: () => void;
  revealAt: (path: JsonPath) => void;
  /** The raw view has the whole document in it. */
  onAllDrawn: () => void;
  /** What the rows need of it; the same object all the time. */
  rows: OpeningRows;
};

export type OpeningRows = {
  drawn: () => Drawn;
  /** Told by a row once its value is in the document with all of its text. */
  onDrawn: (value: number) => void;
  /** How many entries a container is to show; 0 while it is folded. */
  countAt: (key: string, value: number) => number;
  /** Opens a container, so that it shows no fewer entries than before and at least so many. */
  open: (key: string, countMin: number) => void;
  fold: (key: string) => void;
  isTextOpen: (key: string, value: number) => boolean;
  openText: (key: string) => void;
  /** Has a container or a long text drawn again when it is opened or folded; answers with how to take that back. */
  register: (key: string, redraw: () => void) => () => void;
  /** Where the reader is to be led, until the container around it has the row. */
  target: () => JsonPath | null;
  onArrived: () => void;
  /** Told when rows are still to come, and when they are all there. */
  onGrowing: (by: 1 | -1) => void;
};

export type OpeningInput = {
  /** The document as it is shown now; null while there is none that could be shown. */
  text: string | null;
  /** What the agent sent; null when it sent nothing. */
  original: string | null;
  /** What the approver changed in it. */
  state: DraftState;
};

export function useOpening(input: OpeningInput): Opening {
  const [, setVersion] = useState(0);
  const [parts] = useState(() => openParts(() => setVersion((version) => version + 1)));
  parts.show(input);
  const { rows, openAll, revealAt, onAllDrawn } = parts;
  const unseen = parts.countUnseen();
  const isGrowing = parts.isGrowing();
  return {
    unseen,
    isGrowing,
    isComplete: unseen === 0 && !isGrowing,
    openAll,
    revealAt,
    onAllDrawn,
    rows,
  };
}

/** All that is kept between two drawings of the page. `redraw` draws the counts again. */
export function openParts(redraw: () => void) {
  let text: string | null = null;
  let drawn: Drawn | null = null;
  /** Of the agent's own document: an edit can be taken back. */
  let original: Drawn | null = null;
  let isAllOpen = false;
  let growing = 0;
  let target: JsonPath | null = null;
  const counts = new Map<string, number>();
  const folded = new Set<string>();
  const texts = new Set<string>();
  const redraws = new Map<string, () => void>();
  const publish = once(redraw);
  const countOf = (key: string) => counts.get(key) ?? (isAllOpen ? Infinity : 0);
  const redrawAt = (key: string) => {
    redraws.get(key)?.();
    publish();
  };
  const rows: OpeningRows = {
    drawn: () => {
      if (drawn === null) throw new Error("a value is drawn without a document");
      return drawn;
    },
    onDrawn: (value) => {
      markDrawn(rows.drawn(), value);
      publish();
    },
    countAt: (key, value) => {
      if (folded.has(key)) return 0;
      return Math.max(countOf(key), isKnown(rows.drawn(), value) ? Infinity : 0);
    },
    open: (key, countMin) => {
      folded.delete(key);
      counts.set(key, Math.max(countMin, countOf(key)));
      redrawAt(key);
    },
    fold: (key) => {
      folded.add(key);
      redrawAt(key);
    },
    isTextOpen: (key, value) => isAllOpen || texts.has(key) || isSeen(rows.drawn(), value),
    openText: (key) => {
      texts.add(key);
      redrawAt(key);
    },
    register: (key, redrawPart) => {
      redraws.set(key, redrawPart);
      return () => {
        if (redraws.get(key) === redrawPart) redraws.delete(key);
      };
    },
    target: () => target,
    onArrived: () => {
      target = null;
    },
    onGrowing: (by) => {
      growing += by;
      publish();
    },
  };
  return {
    rows,
    countUnseen: () => (text === null ? 0 : (drawn?.unseen ?? 0)),
    isGrowing: () => growing > 0,
    show: (input: OpeningInput) => {
      const isNew = input.text !== null && input.text !== text;
      text = input.text;
      if (!isNew || text === null) return;
      const before = [drawn, original].filter((each) => each !== null);
      if (drawn === null)
        for (const [key, count] of openAtFirst(outlineOf(text))) counts.set(key, count);
      const { state } = input;
      drawn = drawnAfterEdit(text, before, state.kind === "changed" ? state.changes : noChanges);
      if (text === input.original) original = drawn;
    },
    openAll: () => {
      isAllOpen = true;
      counts.clear();
      folded.clear();
      for (const redrawPart of [...redraws.values()]) redrawPart();
      publish();
    },
    revealAt: (path: JsonPath) => {
      if (drawn === null) return;
      if (path.length === 0) return lead("payload");
      target = path;
      for (const [key, count] of wayTo(drawn.outline, path)) {
        // What is not there yet opens by itself when it appears.
        rows.open(key, count);
      }
      rows.openText(keyOf(path));
    },
    onAllDrawn: () => {
      if (drawn === null || text === null) return;
      markAllDrawn(drawn);
      publish();
    },
  };
}

/** A small part of which everything was drawn or typed before need not be opened by hand once more. */
function isKnown(drawn: Drawn, value: number): boolean {
  const size = nextOf(drawn.outline, value) - value;
  return size <= openValuesAtFirst && unseenInside(drawn, value) === 0;
}

/** Many calls in one task are one. */
function once(run: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    queueMicrotask(() => {
      isWaiting = false;
      run();
    });
  };
}

/** Whether a container is the one around the target. */
export function isAround(path: JsonPath, target: JsonPath | null): target is JsonPath {
  return (
    target !== null &&
    target.length === path.length + 1 &&
    keyOf(target.slice(0, -1)) === keyOf(path)
  );
}
