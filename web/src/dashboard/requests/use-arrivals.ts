// New rows of a list that somebody reads. At the top of the page they appear at once; further down they wait behind a
// button, so that nothing moves.

import { type RefObject, useEffect, useRef, useState } from "react";
import type { RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import { countNew } from "./live-rows.ts";

export type Arrivals = {
  /** Marks the start of the list and tells whether it is in sight. */
  top: RefObject<HTMLDivElement | null>;
  shown: readonly RequestRow[];
  waiting: number;
  isNew: (id: string) => boolean;
  letIn: () => void;
};

/** `listKey` names the list: another list has no new rows, only other ones. */
export function useArrivals(rows: readonly RequestRow[], listKey: string): Arrivals {
  const top = useRef<HTMLDivElement>(null);
  const isAtTop = useInSight(top);
  const seen = useRef<{ listKey: string; newest: string | null; arrived: Set<string> }>({
    listKey,
    newest: null,
    arrived: new Set(),
  });
  if (seen.current.listKey !== listKey) {
    seen.current = { listKey, newest: null, arrived: new Set() };
  }
  const count = countNew(rows, seen.current.newest);
  const waiting = isAtTop ? 0 : count;
  const newest = rows[waiting]?.id ?? null;
  for (const { id } of rows.slice(0, waiting === 0 ? count : 0)) seen.current.arrived.add(id);
  useEffect(() => {
    seen.current.newest = newest;
  }, [newest, listKey]);
  return {
    top,
    shown: rows.slice(waiting),
    waiting,
    isNew: (id) => seen.current.arrived.has(id),
    letIn: () => top.current?.scrollIntoView({ block: "end" }),
  };
}

function useInSight(element: RefObject<HTMLElement | null>): boolean {
  const [isInSight, setInSight] = useState(true);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry !== undefined) setInSight(entry.isIntersecting);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isInSight;
}
