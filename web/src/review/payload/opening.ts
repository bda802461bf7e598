// Keeps what of the payload has been opened, for as long as the page is there.

import { useMemo, useRef, useState } from "react";
import type { JsonPath } from "../../../../server/src/domain/json-tree.ts";
import { countUnseen, type Seen, seenAlong, seenAtFirst, seenWhole } from "./folding.ts";

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
  const seen = useRef<Seen>(null as unknown as Seen);
  seen.current ??= text === null ? new Map() : seenAtFirst(text);
  const [version, setVersion] = useState(0);
  const [openings, setOpenings] = useState(0);
  const [reveal, setReveal] = useState<Opening["reveal"]>(null);
  const isAllOpen = openings > 0;
  const unseen = useMemo(() => {
    if (text === null) return 0;
    // Once everything was opened, what an edit brings in is open as well.
    if (isAllOpen) for (const [key, count] of seenWhole(text)) noteIn(seen.current, key, count);
    return isAllOpen ? 0 : countUnseen(text, seen.current);
  }, [text, version, isAllOpen]);
  const note = (key: string, count: number) => {
    noteIn(seen.current, key, count);
    setVersion((before) => before + 1);
  };
  const openAll = () => {
    if (text === null) return;
    for (const [key, count] of seenWhole(text)) noteIn(seen.current, key, count);
    setOpenings(openings + 1);
  };
  const revealAt = (path: JsonPath) => {
    if (text === null) return;
    for (const [key, count] of seenAlong(text, path)) noteIn(seen.current, key, count);
    setVersion((before) => before + 1);
    setReveal({ path });
  };
  return { seen: seen.current, unseen, openings, reveal, note, openAll, revealAt };
}

function noteIn(seen: Seen, key: string, count: number): void {
  seen.set(key, Math.max(seen.get(key) ?? 0, count));
}
