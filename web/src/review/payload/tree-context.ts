// What every value of the readable view shares. It stays the same while the document changes: a row is drawn again only
// when its own text does, so that an edit among twenty thousand values draws a few.

import { createContext, useContext } from "react";
import type { JsonPath } from "../../../../server/src/domain/json-tree.ts";
import type { FieldDraft } from "../draft.ts";
import type { Seen } from "./folding.ts";
import { pathName } from "./path-name.ts";

export type Tree = {
  isEditable: boolean;
  seen: () => Seen;
  isAllOpen: () => boolean;
  /** Where the reader is to be led, until the container around it has the row. */
  target: () => JsonPath | null;
  onArrived: () => void;
  /** Lets a container be opened from outside; answers with how to take that back. */
  register: (key: string, open: () => void) => () => void;
  onSeen: (key: string, count: number) => void;
  onReplace: (path: JsonPath, token: string) => void;
  onRestore: (path: JsonPath) => void;
  /** What is typed into single values and not yet kept, by path. */
  fields: ReadonlyMap<string, FieldDraft>;
  onField: (field: FieldDraft) => void;
  onFieldDone: (key: string) => void;
  /** Told when rows are still to come, and when they are all there. */
  onGrowing: (by: 1 | -1) => void;
};

export const TreeContext = createContext<Tree | null>(null);

export function useTree(): Tree {
  const tree = useContext(TreeContext);
  if (tree === null) throw new Error("a value stands outside of a payload");
  return tree;
}

/** What a value is called in labels. */
export function nameOf(path: JsonPath): string {
  return pathName(path);
}
