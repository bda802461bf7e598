// What every value of the readable view shares. It changes only when the document does, or when all of it must look
// again: folding and editing a single value are the value's own business.

import { createContext, useContext } from "react";
import type { JsonChange } from "../../../../server/src/domain/json-diff.ts";
import { formatPath, type JsonPath } from "../../../../server/src/domain/json-tree.ts";
import { toVisibleText } from "../../../../server/src/domain/visible-text.ts";
import type { FieldDraft } from "../draft.ts";
import { words } from "../words.ts";
import type { Seen } from "./folding.ts";

export type Tree = {
  text: string;
  isEditable: boolean;
  /** What was changed or added, by path. */
  changes: ReadonlyMap<string, JsonChange>;
  /** What was removed, by the path of what it was removed from. */
  removed: ReadonlyMap<string, (JsonChange & { kind: "removed" })[]>;
  seen: Seen;
  /** Counts up when everything is to be opened. */
  openings: number;
  /** Where to lead the reader. A new object each time. */
  reveal: { path: JsonPath } | null;
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
  return path.length === 0 ? words.wholePayload : toVisibleText(formatPath(path));
}
