// The values that all rows of the readable view share. They stay the same while the document changes: a row is redrawn
// only when its own text changes, so that an edit among twenty thousand values redraws a few.

import { createContext, useContext, useLayoutEffect } from "react";
import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import type { FieldDraft } from "./draft.ts";
import { openValuesAtFirst } from "./folding.ts";
import type { OpeningRows } from "./opening.ts";
import { pathName } from "./path-name.ts";

export type Tree = OpeningRows &
  RowsAtOnce & {
    isEditable: boolean;
    onReplace: (path: JsonPath, token: string) => void;
    onRestore: (path: JsonPath) => void;
    /** Says to whose value: the agent's, or that of an earlier approver. */
    restoreLabel: (path: string) => string;
    /** Unkept typing in single values, by path. */
    fields: ReadonlyMap<string, FieldDraft>;
    onField: (field: FieldDraft) => void;
    onFieldDone: (key: string) => void;
  };

/** Parts that are open at first are there at once; parts opened later appear in steps. */
export type RowsAtOnce = {
  rowsLeft: () => number;
  /** Reserves this many rows with their values, and says whether they have their tools from the start. */
  takeRows: (rows: number, values: number) => boolean;
  /** Lays a part out before it comes into sight, if all these parts have few elements. */
  layOut: (part: HTMLElement) => void;
};

/** A usual row has ten. Hidden characters have their own, and laying out very many of them would hold up a phone. */
const elementsAtOnce = 20_000;

export function rowsAtOnce(): RowsAtOnce {
  let rowsLeft = openValuesAtFirst;
  let toolsLeft = openValuesAtFirst;
  let elementsLeft = elementsAtOnce;
  return {
    rowsLeft: () => rowsLeft,
    takeRows: (rows, values) => {
      const isReady = toolsLeft > 0;
      rowsLeft -= rows;
      toolsLeft -= values;
      return isReady;
    },
    layOut: (part) => {
      elementsLeft -= part.getElementsByTagName("*").length;
      if (elementsLeft >= 0) part.classList.add("at-once");
    },
  };
}

export const TreeContext = createContext<Tree | null>(null);

export function useTree(): Tree {
  const tree = useContext(TreeContext);
  if (tree === null) throw new Error("a value stands outside of a payload");
  return tree;
}

/**
 * Tells the record once this value stands in the document. `text` is the drawn text, and null while it isn't complete.
 */
export function useDrawn(value: number, text: string | null): void {
  const tree = useTree();
  useLayoutEffect(() => {
    if (text !== null) tree.onDrawn(value);
  }, [tree, value, text]);
}

/** The name of a value in labels. */
export function nameOf(path: JsonPath): string {
  return pathName(path);
}
