// Keeps what of the payload has been opened, for as long as the page is there.

import { useMemo, useRef, useState } from "react";
import type { JsonPath } from "../../../../server/src/domain/json-tree.ts";
import { carrySeen, countUnseen, type Seen, seenAlong, seenAtFirst, seenWhole } from "./folding.ts";

export type Opening = {
  seen: Seen;
  unseen: number;
  openings: number;
  reveal: { path: JsonPath } | null;
  note: (key: string, count: number) => void;
  openAll: () => void;
  revealAt: (path: JsonPath) => void;
};

/** `text` is the document as it is shown now; null while there is none that could be shown. */
export function useOpening(text: string | null): Opening {
  const last = useRef<{ text: string; seen: Seen } | null>(null);
  const [version, setVersion] = useState(0);
  const [openings, setOpenings] = useState(0);
  const [reveal, setReveal] = useState<Opening["reveal"]>(null);
  if (text !== null && last.current?.text !== text) {
    last.current = { text, seen: seenNow(text, last.current, openings > 0) };
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
  const openAll = () => {
    if (text === null) return;
    noteAll(seenWhole(text));
    setOpenings(openings + 1);
  };
  const revealAt = (path: JsonPath) => {
    if (text === null) return;
    noteAll(seenAlong(text, path));
    setReveal({ path });
  };
  const note = (key: string, count: number) => noteAll([[key, count]]);
  return { seen, unseen, openings, reveal, note, openAll, revealAt };
}

const nothingSeen: Seen = new Map();

/** Once everything was opened, what an edit brings in or moves is open as well. */
function seenNow(
  text: string,
  last: { text: string; seen: Seen } | null,
  isAllOpen: boolean,
): Seen {
  if (last === null) return seenAtFirst(text);
  return isAllOpen ? seenWhole(text) : carrySeen(last.text, text, last.seen);
}

function noteIn(seen: Seen, key: string, count: number): void {
  seen.set(key, Math.max(seen.get(key) ?? 0, count));
}
