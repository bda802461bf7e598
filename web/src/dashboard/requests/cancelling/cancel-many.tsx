// Cancels many requests: the bar above the list acts on the chosen ones, or on all that match the filter.

import type { ReactNode } from "react";
import type { Cancellation } from "../../../../../server/src/wire/dashboard-removals.ts";
import { Button } from "../../parts/button.tsx";
import { useToast } from "../../parts/toast.tsx";
import { refresh } from "../../service/queries.ts";
import type { ChosenFilter } from "../filters/filter-state.ts";
import { CancelChosen } from "./cancel-chosen.tsx";
import { CancelMatching } from "./cancel-matching.tsx";
import { SelectionContext } from "./selection.ts";
import { countOf, resultSentence } from "./tally.ts";
import type { Selecting } from "./use-selecting.ts";
import "./cancelling.css";

type CancelManyProps = {
  selecting: Selecting;
  filter: ChosenFilter;
  /** The list. */
  children: ReactNode;
};

export function CancelMany({ selecting, filter, children }: CancelManyProps) {
  const { selection, pending, chosen, result, chooseAll, close, finish } = selecting;
  const toast = useToast();
  if (!selection.isOn) return children;
  const tell = async (done: Cancellation) => {
    finish(done);
    // The list, and this bar with it, may be gone once it is empty.
    toast(resultSentence(done));
    await refresh("GET /workspaces/:workspaceId/requests", "GET /workspaces/:workspaceId/overview");
  };
  return (
    <SelectionContext value={selection}>
      <section className="requests-many" aria-label="Cancel several requests">
        <p className="requests-many-words" role="status">
          {result !== null
            ? resultSentence(result)
            : chosen.length === 0
              ? "Select the pending requests to cancel."
              : `${countOf(chosen.length)} selected.`}
        </p>
        <div className="requests-many-tools">
          {pending.length > 0 && (
            <Button isSmall onClick={chooseAll}>
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
