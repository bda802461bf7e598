// What every value of the readable view shares. It stays the same while the document changes: a row is drawn again only
// when its own text does, so that an edit among twenty thousand values draws a few.

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
    /** What is typed into single values and not yet kept, by path. */
    fields: ReadonlyMap<string, FieldDraft>;
    onField: (field: FieldDraft) => void;
    onFieldDone: (key: string) => void;
  };

/** What is open at first is there at once; what is opened later appears in steps. */
export type RowsAtOnce = {
  rowsLeft: () => number;
  /** Takes so many rows, with so many values in them, and says whether they have their tools from the start. */
  takeRows: (rows: number, values: number) => boolean;
};

export function rowsAtOnce(): RowsAtOnce {
  let rowsLeft = openValuesAtFirst;
  let toolsLeft = openValuesAtFirst;
  return {
    rowsLeft: () => rowsLeft,
    takeRows: (rows, values) => {
      rowsLeft -= rows;
      toolsLeft -= values;
      return toolsLeft >= 0;
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
 * Tells the record once this value stands in the document. `text` is what stands there, and null while it is not the
 * whole of it.
 */
export function useDrawn(value: number, text: string | null): void {
  const tree = useTree();
  useLayoutEffect(() => {
    if (text !== null) tree.onDrawn(value);
  }, [tree, value, text]);
}

/** What a value is called in labels. */
export function nameOf(path: JsonPath): string {
  return pathName(path);
}
