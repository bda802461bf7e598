// Keeps what of the payload has been opened, for as long as the page is there, and opens more on demand.

import { useMemo, useRef, useState } from "react";
import type { JsonPath } from "../../../../server/src/domain/json-tree.ts";
import { lead } from "../lead.ts";
import {
  carrySeen,
  countUnseen,
  keyOf,
  type Seen,
  seenAlong,
  seenAtFirst,
  seenWhole,
} from "./folding.ts";
import type { Tree } from "./tree-context.ts";

export type Opening = {
  unseen: number;
  openAll: () => void;
  revealAt: (path: JsonPath) => void;
  /** What the rows need of it; the same object all the time. */
  rows: Pick<Tree, "seen" | "isAllOpen" | "target" | "onArrived" | "register" | "onSeen">;
};

type Kept = { text: string; seen: Seen };

/** `text` is the document as it is shown now; null while there is none that could be shown. */
export function useOpening(text: string | null): Opening {
  const last = useRef<Kept | null>(null);
  const isAllOpen = useRef(false);
  const target = useRef<JsonPath | null>(null);
  const openers = useRef(new Map<string, () => void>());
  const [version, setVersion] = useState(0);
  if (text !== null && last.current?.text !== text) {
    last.current = { text, seen: seenNow(text, last.current, isAllOpen.current) };
  }
  const seen = last.current?.seen ?? nothingSeen;
  const unseen = useMemo(
    () => (text === null ? 0 : countUnseen(text, seen)),
    [text, seen, version],
  );
  const noteAll = (entries: Iterable<[string, number]>) => {
    for (const [key, count] of entries) noteIn(last.current?.seen ?? nothingSeen, key, count);
    setVersion((before) => before + 1);
  };
  const rows = useRef<Opening["rows"]>({
    seen: () => last.current?.seen ?? nothingSeen,
    isAllOpen: () => isAllOpen.current,
    target: () => target.current,
    onArrived: () => {
      target.current = null;
    },
    register: (key, open) => {
      openers.current.set(key, open);
      return () => openers.current.delete(key);
    },
    onSeen: (key, count) => noteAll([[key, count]]),
  });
  const openAll = () => {
    if (text === null) return;
    isAllOpen.current = true;
    noteAll(seenWhole(text));
    for (const open of openers.current.values()) open();
  };
  const revealAt = (path: JsonPath) => {
    if (text === null) return;
    if (path.length === 0) return lead("payload");
    const way = seenAlong(text, path);
    noteAll(way);
    target.current = path;
    // What is not there yet opens by itself when it appears.
    for (const [key] of way) openers.current.get(key)?.();
  };
  return { unseen, openAll, revealAt, rows: rows.current };
}

const nothingSeen: Seen = new Map();

/** Once everything was opened, what an edit brings in or moves is open as well. */
function seenNow(text: string, last: Kept | null, isAllOpen: boolean): Seen {
  if (last === null) return seenAtFirst(text);
  return isAllOpen ? seenWhole(text) : carrySeen(last.text, text, last.seen);
}

function noteIn(seen: Seen, key: string, count: number): void {
  seen.set(key, Math.max(seen.get(key) ?? 0, count));
}

/** Whether a container is the one around the target. */
export function isAround(path: JsonPath, target: JsonPath | null): target is JsonPath {
  return (
    target !== null &&
    target.length === path.length + 1 &&
    keyOf(target.slice(0, -1)) === keyOf(path)
  );
}
