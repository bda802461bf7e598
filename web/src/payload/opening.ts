// Keeps which parts of the payload are open while the page lives, opens more on demand, and counts the undrawn values.
// Containers and long texts ask here how much to draw; drawn rows make the record (drawn.ts).

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
  /** The number of values that have never been in the document. */
  unseen: number;
  /** The progress of the opening, while rows are on their way into the document. */
  progress: Progress | null;
  /** Everything has been drawn, and nothing is on its way. */
  isComplete: boolean;
  openAll: () => void;
  /** Stops opening for now. Drawn rows stay. */
  stop: () => void;
  revealAt: (path: JsonPath) => void;
  /** The raw view holds the whole document. */
  onAllDrawn: () => void;
  /** The part for the rows; always the same object. */
  rows: OpeningRows;
};

export type Progress = { drawn: number; all: number };

export type OpeningRows = {
  drawn: () => Drawn;
  /** A row calls it once its value is in the document with all of its text. */
  onDrawn: (value: number) => void;
  /** The number of entries a container is to show; 0 while it is folded. */
  countAt: (key: string, value: number) => number;
  /** Opens a container to show at least this many entries, and never fewer than before. */
  open: (key: string, countMin: number) => void;
  /** Makes a container show exactly this many entries. */
  limit: (key: string, count: number) => void;
  fold: (key: string) => void;
  isTextOpen: (key: string, value: number) => boolean;
  openText: (key: string) => void;
  closeText: (key: string) => void;
  /** Redraws a part when it is opened or folded; returns the way to unsubscribe. */
  register: (key: string, redraw: () => void) => () => void;
  grow: Growth["add"];
  /** Whether the reader is to be led to one of these values. */
  isTarget: (isHolding: (value: number) => boolean) => boolean;
  watchTarget: (onTarget: (value: number) => void) => () => void;
  /** Called when there are rows to which the reader could be led. */
  onRows: () => void;
};

export type OpeningInput = {
  /** The document on the page; null while there is none to show. */
  text: string | null;
  /** The agent's document; null if it sent none. */
  original: string | null;
  /** The approver's changes. */
  state: DraftState;
};

export function useOpening(input: OpeningInput): Opening {
  const [, setVersion] = useState(0);
  const [parts] = useState(() => openParts(() => setVersion((version) => version + 1)));
  parts.show(input);
  const { rows, openAll, stop, revealAt, onAllDrawn } = parts;
  const unseen = parts.countUnseen();
  const progress = parts.progress();
  // A draft that isn't JSON can't be drawn.
  const isBroken = input.text === null && input.original !== null;
  const isComplete = unseen === 0 && progress === null && !isBroken;
  return { unseen, progress, isComplete, openAll, stop, revealAt, onAllDrawn, rows };
}

/** While rows appear, the counts are redrawn no more often than this. */
const publishMs = 200;

/** All state between two drawings of the page. `redraw` draws the counts again. */
function openParts(redraw: () => void) {
  let text: string | null = null;
  let drawn: Drawn | null = null;
  /** Of the agent's own document: an edit can be undone. */
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
      // Drawn parts stay open, however they were opened.
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
        // Parts that aren't there yet open by themselves when they appear.
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

/** A small part need not be opened by hand again if everything in it was drawn or typed before. */
function isKnown(drawn: Drawn, value: number): boolean {
  const size = nextOf(drawn.outline, value) - value;
  return size <= openValuesAtFirst && unseenInside(drawn, value) === 0;
}

/** Joins many calls of one task into one, and, while there is much to do, those of a moment. */
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

/** Leads to a row once it is there: to a text once it is complete, and to a field even while it is typed into. */
function leadToRow(value: number, isWhole: boolean): boolean {
  const row = document.querySelector<HTMLElement>(`.rows-root [data-value="${value}"]`);
  const line = row?.querySelector(".line") ?? null;
  if (row === null || line === null) return false;
  if (!isWhole && line.querySelector(".value-field") === null) return false;
  // In a text of many screens the reader looks for the mark.
  const mark = line.clientHeight > innerHeight / 2 ? line.querySelector(".chip, .suspect") : null;
  (mark ?? row).scrollIntoView({ block: "center" });
  row.tabIndex = -1;
  // In an open field the reader goes on typing.
  (line.querySelector<HTMLElement>(".field") ?? row).focus({ preventScroll: true });
  return true;
}
