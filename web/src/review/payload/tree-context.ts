// What every value of the readable view shares. It stays the same while the document changes: a row is drawn again only
// when its own text does, so that an edit among twenty thousand values draws a few.

import { createContext, useContext, useLayoutEffect } from "react";
import type { JsonPath } from "../../../../server/src/domain/json-tree.ts";
import type { FieldDraft } from "../draft.ts";
import type { OpeningRows } from "./opening.ts";
import { pathName } from "./path-name.ts";

export type Tree = OpeningRows & {
  isEditable: boolean;
  onReplace: (path: JsonPath, token: string) => void;
  onRestore: (path: JsonPath) => void;
  /** What is typed into single values and not yet kept, by path. */
  fields: ReadonlyMap<string, FieldDraft>;
  onField: (field: FieldDraft) => void;
  onFieldDone: (key: string) => void;
};

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
