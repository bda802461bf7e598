// Selecting pending requests of the list: whether the boxes are shown, and which of them are marked. A selection belongs
// to one list: another filter ends it.

import { useEffect, useMemo, useState } from "react";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import type { Cancellation } from "../../../../../server/src/wire/dashboard-removals.ts";
import { useMembership } from "../../session/membership.ts";
import type { ChosenFilter } from "../filters/filter-state.ts";
import type { Selection } from "./selection.ts";

export type Selecting = {
  /** There is something to select, and this person may cancel it. */
  isOffered: boolean;
  selection: Selection;
  pending: readonly RequestRow[];
  chosen: readonly RequestRow[];
  /** The result of the last cancelling. */
  result: Cancellation | null;
  open: () => void;
  close: () => void;
  chooseAll: () => void;
  finish: (done: Cancellation) => void;
};

export function useSelecting(rows: readonly RequestRow[], filter: ChosenFilter): Selecting {
  const { canChange } = useMembership();
  const [isWanted, setWanted] = useState(false);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [result, setResult] = useState<Cancellation | null>(null);
  const canCancel = canChange && (filter.status === undefined || filter.status === "PENDING");
  const isOn = canCancel && isWanted;
  const selection = useMemo(
    () => ({
      isOn,
      isChosen: (id: string) => marked.has(id),
      choose: (id: string, isWantedNow: boolean) => {
        setMarked((before) => withOrWithout(before, id, isWantedNow));
        setResult(null);
      },
    }),
    [isOn, marked],
  );
  const close = () => {
    setWanted(false);
    setMarked(new Set());
    setResult(null);
  };
  // Marks of another list would be cancelled unseen.
  useEffect(close, [JSON.stringify(filter)]);
  const pending = rows.filter(({ status }) => status === "PENDING");
  return {
    isOffered: canCancel && (isOn || pending.length > 1),
    selection,
    pending,
    // A request that was decided since it was marked is not chosen any more.
    chosen: pending.filter(({ id }) => marked.has(id)),
    result,
    open: () => setWanted(true),
    close,
    chooseAll: () => setMarked(new Set(pending.map(({ id }) => id))),
    finish: (done) => {
      setResult(done);
      setMarked(new Set());
    },
  };
}

function withOrWithout(marked: ReadonlySet<string>, id: string, isWanted: boolean): Set<string> {
  const others = [...marked].filter((each) => each !== id);
  return new Set(isWanted ? [...others, id] : others);
}
