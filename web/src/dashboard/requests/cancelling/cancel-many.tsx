// Cancels many requests: puts boxes beside the rows of the list, and a bar above it that acts on the chosen ones or on
// all that match the filter.

import { type ReactNode, useEffect, useMemo, useState } from "react";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import type { Cancellation } from "../../../../../server/src/wire/dashboard-removals.ts";
import { Button } from "../../parts/button.tsx";
import { useToast } from "../../parts/toast.tsx";
import { refresh } from "../../service/queries.ts";
import { useMembership } from "../../session/membership.ts";
import type { ChosenFilter } from "../filters/filter-state.ts";
import { CancelChosen } from "./cancel-chosen.tsx";
import { CancelMatching } from "./cancel-matching.tsx";
import { SelectionContext } from "./selection.ts";
import { countOf, resultSentence } from "./tally.ts";
import "./cancelling.css";

type CancelManyProps = {
  rows: readonly RequestRow[];
  filter: ChosenFilter;
  /** The list. */
  children: ReactNode;
};

export function CancelMany({ rows, filter, children }: CancelManyProps) {
  const { canChange } = useMembership();
  const [isOn, setOn] = useState(false);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [result, setResult] = useState<Cancellation | null>(null);
  const toast = useToast();
  const pending = rows.filter(({ status }) => status === "PENDING");
  // A request that was decided since it was marked is not chosen any more.
  const chosen = pending.filter(({ id }) => marked.has(id));
  const selection = useMemo(
    () => ({
      isOn,
      isChosen: (id: string) => marked.has(id),
      choose: (id: string, isWanted: boolean) => {
        const others = [...marked].filter((each) => each !== id);
        setMarked(new Set(isWanted ? [...others, id] : others));
        setResult(null);
      },
    }),
    [isOn, marked],
  );
  const close = () => {
    setOn(false);
    setMarked(new Set());
    setResult(null);
  };
  // Marks of another list would be cancelled unseen.
  const listKey = JSON.stringify(filter);
  useEffect(close, [listKey]);
  const tell = async (done: Cancellation) => {
    setResult(done);
    // The list, and this bar with it, may be gone once it is empty.
    toast(resultSentence(done));
    setMarked(new Set());
    await refresh("GET /workspaces/:workspaceId/requests", "GET /workspaces/:workspaceId/overview");
  };
  const canCancel = canChange && (filter.status === undefined || filter.status === "PENDING");
  if (!canCancel) return children;
  if (!isOn) {
    return (
      <>
        {pending.length > 1 && (
          <div className="requests-many">
            <Button isSmall onClick={() => setOn(true)}>
              Cancel several
            </Button>
          </div>
        )}
        {children}
      </>
    );
  }
  return (
    <SelectionContext value={selection}>
      <section className="requests-many requests-many-on" aria-label="Cancel several requests">
        <p className="requests-many-words" role="status">
          {result !== null
            ? resultSentence(result)
            : chosen.length === 0
              ? "Select the pending requests to cancel."
              : `${countOf(chosen.length)} selected.`}
        </p>
        <div className="requests-many-tools">
          {pending.length > 0 && (
            <Button isSmall onClick={() => setMarked(new Set(pending.map(({ id }) => id)))}>
              Select all on this page
            </Button>
          )}
          <CancelMatching filter={filter} onDone={tell} />
          <CancelChosen chosen={chosen} onDone={tell} />
          <Button isSmall onClick={close}>
            Done
          </Button>
        </div>
      </section>
      {children}
    </SelectionContext>
  );
}
