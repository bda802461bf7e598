// Cancels every pending request that matches the filter. The second step counts them first. Requests that are asked
// after that count stay.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Cancellation } from "../../../../../server/src/wire/dashboard-removals.ts";
import { describeCount } from "../../../look/shares.ts";
import { Dialog, DialogActions } from "../../forms/dialog.tsx";
import { Button } from "../../parts/button.tsx";
import { call } from "../../service/api.ts";
import { queryFor } from "../../service/queries.ts";
import { useMembership } from "../../session/membership.ts";
import { Answered } from "../../states/answered.tsx";
import { Problem } from "../../states/problem.tsx";
import type { ChosenFilter } from "../filters/filter-state.ts";
import { cancelledMeans } from "./cancelled-means.ts";
import { add, countOf, isNarrowed, nothingYet } from "./tally.ts";

type CancelMatchingProps = { filter: ChosenFilter; onDone: (done: Cancellation) => Promise<void> };

export function CancelMatching({ filter, onDone }: CancelMatchingProps) {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  return (
    <Dialog
      title={
        isNarrowed(filter) ? "Cancel all that match the filters?" : "Cancel all pending requests?"
      }
      trigger={<Button isSmall>{isNarrowed(filter) ? "All that match …" : "All pending …"}</Button>}
      open={isOpen}
      isBusy={isBusy}
      onOpenChange={setOpen}
    >
      {(close) => (
        <Counted
          {...{ filter, isBusy, setBusy, onDone }}
          onClose={() => setOpen(false)}
          onKeep={close}
        />
      )}
    </Dialog>
  );
}

type CountedProps = CancelMatchingProps & {
  isBusy: boolean;
  setBusy: (isBusy: boolean) => void;
  onClose: () => void;
  onKeep: () => void;
};

function Counted({ filter, isBusy, setBusy, onDone, onClose, onKeep }: CountedProps) {
  const params = { workspaceId: useMembership().workspaceId };
  const asked = queryFor("GET /workspaces/:workspaceId/cancellable", { params, query: filter });
  // Counted anew whenever it is opened.
  const counted = useQuery({ ...asked, staleTime: 0, gcTime: 0 });
  const [done, setDone] = useState(nothingYet);
  const [error, setError] = useState<unknown>(null);
  const cancel = async (upTo: string) => {
    setBusy(true);
    setError(null);
    let sum = nothingYet;
    try {
      for (let next: string | null = upTo; next !== null; ) {
        const name = "POST /workspaces/:workspaceId/requests/cancel-matching";
        const step: Cancellation & { next: string | null } = await call(name, {
          ...{ params, query: filter, body: { upTo: next } },
        });
        sum = add(sum, step);
        setDone(sum);
        next = step.next;
      }
      setBusy(false);
      onClose();
    } catch (fault) {
      setBusy(false);
      setError(fault);
    }
    await onDone(sum);
  };
  return (
    <Answered query={counted} label="Counting the requests" lines={2}>
      {({ count, isMore, upTo }) => (
        <div className="form">
          <p role="status">
            {isBusy
              ? `${countOf(done.cancelled)} cancelled so far …`
              : count === 0
                ? "No pending request matches."
                : `${describeCount(count)}${isMore ? " or more" : ""} pending ${count === 1 ? "request matches" : "requests match"}. ${cancelledMeans(count)}`}
          </p>
          <Problem error={error} />
          <DialogActions>
            <Button disabled={isBusy} onClick={onKeep}>
              {upTo === null ? "Close" : "Keep them"}
            </Button>
            {upTo !== null && (
              <Button variant="danger" isBusy={isBusy} onClick={() => void cancel(upTo)}>
                Cancel {isMore ? "all of them" : countOf(count)}
              </Button>
            )}
          </DialogActions>
        </div>
      )}
    </Answered>
  );
}
