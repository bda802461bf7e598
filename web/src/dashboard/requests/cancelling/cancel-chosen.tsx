// Cancels the requests that were selected. The second step names them.

import { cancelledAtOnceMax } from "../../../../../server/src/domain/shown/field-limits.ts";
import type { RequestRow } from "../../../../../server/src/wire/dashboard-contract.ts";
import type { Cancellation } from "../../../../../server/src/wire/dashboard-removals.ts";
import { Visible } from "../../../look/visible-text.tsx";
import { ConfirmDialog } from "../../forms/dialog.tsx";
import { Button } from "../../parts/button.tsx";
import { call } from "../../service/api.ts";
import { useMembership } from "../../session/membership.ts";
import { cancelledMeans } from "./cancelled-means.ts";
import { add, countOf, inBatches, nothingYet } from "./tally.ts";

const namedMax = 5;

type CancelChosenProps = {
  chosen: readonly RequestRow[];
  onDone: (done: Cancellation) => Promise<void>;
};

export function CancelChosen({ chosen, onDone }: CancelChosenProps) {
  const { workspaceId } = useMembership();
  const cancel = async () => {
    let done = nothingYet;
    try {
      const ids = chosen.map(({ id }) => id);
      for (const batch of inBatches(ids, cancelledAtOnceMax)) {
        const params = { workspaceId };
        const name = "POST /workspaces/:workspaceId/requests/cancel";
        done = add(done, await call(name, { params, body: { ids: batch } }));
      }
    } finally {
      await onDone(done);
    }
  };
  return (
    <ConfirmDialog
      title={`Cancel ${countOf(chosen.length)}?`}
      description={cancelledMeans(chosen.length)}
      confirmLabel={`Cancel ${countOf(chosen.length)}`}
      dismissLabel={chosen.length === 1 ? "Keep it" : "Keep them"}
      isDanger
      trigger={
        <Button isSmall variant="danger" disabled={chosen.length === 0}>
          Cancel {chosen.length === 0 ? "selected" : countOf(chosen.length)}
        </Button>
      }
      onConfirm={cancel}
    >
      <ul className="requests-named">
        {chosen.slice(0, namedMax).map(({ id, summary }) => (
          <li key={id}>
            <q className="quoted">
              <Visible text={summary} />
            </q>
          </li>
        ))}
        {chosen.length > namedMax && (
          <li className="quiet">and {countOf(chosen.length - namedMax)} more</li>
        )}
      </ul>
    </ConfirmDialog>
  );
}
