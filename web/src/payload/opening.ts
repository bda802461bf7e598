// Keeps which parts of the payload are open, for as long as the page is there, opens more on demand, and counts what has
// not been drawn yet. Containers and long texts ask here how much of them to draw; the record (drawn.ts) is made by the
// rows that were drawn.

import { useState } from "react";
import { nextOf, numberAt } from "../../../server/src/domain/shown/json-outline.ts";
import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import { lead } from "../look/lead.ts";
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
import { type Growth, startGrowth } from "./growth.ts";

export type Opening = {
  /** How many values have never been in the document. */
  unseen: number;
  /** How far the opening has come, while rows are on their way into the document. */
  progress: Progress | null;
  /** Everything has been drawn, and nothing is on its way. */
  isComplete: boolean;
  openAll: () => void;
  /** Opens no more for now. What is there stays. */
  stop: () => void;
  revealAt: (path: JsonPath) => void;
  /** The raw view has the whole document in it. */
  onAllDrawn: () => void;
  /** What the rows need of it; the same object all the time. */
  rows: OpeningRows;
};

export type Progress = { drawn: number; all: number };

export type OpeningRows = {
  drawn: () => Drawn;
  /** Told by a row once its value is in the document with all of its text. */
  onDrawn: (value: number) => void;
  /** How many entries a container is to show; 0 while it is folded. */
  countAt: (key: string, value: number) => number;
  /** Opens a container, so that it shows no fewer entries than before and at least so many. */
  open: (key: string, countMin: number) => void;
  /** Has a container show so many entries and no more. */
  limit: (key: string, count: number) => void;
  fold: (key: string) => void;
  isTextOpen: (key: string, value: number) => boolean;
  openText: (key: string) => void;
  closeText: (key: string) => void;
  /** Has a part drawn again when it is opened or folded; answers with how to take that back. */
  register: (key: string, redraw: () => void) => () => void;
  grow: Growth["add"];
  /** Whether the reader is to be led to one of these values. */
  isTarget: (isHolding: (value: number) => boolean) => boolean;
  watchTarget: (onTarget: (value: number) => void) => () => void;
  /** Told when rows are there to which the reader could be led. */
  onRows: () => void;
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
  const { rows, openAll, stop, revealAt, onAllDrawn } = parts;
  const unseen = parts.countUnseen();
  const progress = parts.progress();
  // A draft that is no JSON cannot be drawn.
  const isBroken = input.text === null && input.original !== null;
  const isComplete = unseen === 0 && progress === null && !isBroken;
  return { unseen, progress, isComplete, openAll, stop, revealAt, onAllDrawn, rows };
}

/** While rows appear, what is counted is drawn again this often and no more. */
const publishMs = 200;

/** All that is kept between two drawings of the page. `redraw` draws the counts again. */
function openParts(redraw: () => void) {
  let text: string | null = null;
  let drawn: Drawn | null = null;
  /** Of the agent's own document: an edit can be taken back. */
  let original: Drawn | null = null;
  let isAllOpen = false;
  let target: number | null = null;
  const counts = new Map<string, number>();
  const folded = new Set<string>();
  const texts = new Set<string>();
  const redraws = new Map<string, () => void>();
  const targetWatchers = new Set<(value: number) => void>();
  const growth = startGrowth(() => {
    arrive();
    publish();
  });
  const publish = calmly(redraw, growth.isGrowing);
  const countOf = (key: string) => counts.get(key) ?? (isAllOpen ? Infinity : 0);
  const redrawAt = (key: string) => {
    redraws.get(key)?.();
    publish();
  };
  const arrive = () => {
    if (target !== null && drawn !== null && leadToRow(target, isSeen(drawn, target)))
      target = null;
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
      return Math.max(
        countOf(key),
        !counts.has(key) && isKnown(rows.drawn(), value) ? Infinity : 0,
      );
    },
    open: (key, countMin) => {
      folded.delete(key);
      counts.set(key, Math.max(countMin, countOf(key)));
      redrawAt(key);
    },
    limit: (key, count) => {
      counts.set(key, count);
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
    closeText: (key) => {
      texts.delete(key);
      redrawAt(key);
    },
    register: (key, redrawPart) => {
      redraws.set(key, redrawPart);
      return () => {
        if (redraws.get(key) === redrawPart) redraws.delete(key);
      };
    },
    grow: growth.add,
    isTarget: (isHolding) => target !== null && isHolding(target),
    watchTarget: (onTarget) => {
      targetWatchers.add(onTarget);
      return () => targetWatchers.delete(onTarget);
    },
    onRows: () => arrive(),
  };
  return {
    rows,
    countUnseen: () => (text === null ? 0 : (drawn?.unseen ?? 0)),
    progress: (): Progress | null => {
      if (drawn === null || !growth.isGrowing()) return null;
      const all = drawn.marks.length;
      return { drawn: all - drawn.unseen, all };
    },
    show: (input: OpeningInput) => {
      const isNew = input.text !== null && input.text !== text;
      text = input.text;
      if (!isNew || text === null) return;
      const { state } = input;
      const before = [drawn, original].filter((each) => each !== null);
      const isFirst = drawn === null;
      drawn = drawnAfterEdit(text, before, state.kind === "changed" ? state.changes : noChanges);
      if (text === input.original) original = drawn;
      if (isFirst) for (const [key, count] of openAtFirst(drawn.outline)) counts.set(key, count);
      target = null;
    },
    openAll: () => {
      isAllOpen = true;
      counts.clear();
      folded.clear();
      growth.addAll([...redraws.values()]);
      publish();
    },
    stop: () => {
      // What is there stays open, whatever opened it.
      for (const key of redraws.keys()) if (!counts.has(key)) counts.set(key, Infinity);
      isAllOpen = false;
      growth.stop();
      publish();
    },
    revealAt: (path: JsonPath) => {
      if (drawn === null) return;
      const value = numberAt(drawn.outline, path);
      if (path.length === 0 || value === null) return lead("payload");
      target = value;
      for (const [key, count] of wayTo(drawn.outline, path)) {
        // What is not there yet opens by itself when it appears.
        rows.open(key, count);
      }
      rows.openText(keyOf(path));
      for (const onTarget of targetWatchers) onTarget(value);
      arrive();
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

/** Many calls in one task are one, and while there is much to do so are those of a moment. */
function calmly(run: () => void, isBusy: () => boolean): () => void {
  let isWaiting = false;
  let lastAt = -publishMs;
  return () => {
    if (isWaiting || (isBusy() && performance.now() - lastAt < publishMs)) return;
    isWaiting = true;
    queueMicrotask(() => {
      isWaiting = false;
      lastAt = performance.now();
      run();
    });
  };
}

/** Leads to a row once it is there: a text once all of it is, and a field whatever is typed into it. */
function leadToRow(value: number, isWhole: boolean): boolean {
  const row = document.querySelector<HTMLElement>(`.rows-root [data-value="${value}"]`);
  const line = row?.querySelector(".line") ?? null;
  if (row === null || line === null) return false;
  if (!isWhole && line.querySelector(".value-field") === null) return false;
  // In a text of many screens the reader looks for what is marked.
  const mark = line.clientHeight > innerHeight / 2 ? line.querySelector(".chip, .suspect") : null;
  (mark ?? row).scrollIntoView({ block: "center" });
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  return true;
}
