// Ends an absence, one's own or a colleague's.

import type { Absence } from "../../../../server/src/wire/dashboard-absences.ts";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";

type EndAbsenceProps = {
  absence: Absence;
  /** Whose it is, for the button: “your absence”. */
  whose: string;
  isOwn: boolean;
};

export function EndAbsence({ absence, whose, isOwn }: EndAbsenceProps) {
  const { id: absenceId, workspaceId, hasBegun } = absence;
  const toast = useToast();
  const end = async () => {
    if (isOwn) await call("POST /me/absences/:absenceId/end", { params: { absenceId } });
    else {
      await call("POST /workspaces/:workspaceId/absences/:absenceId/end", {
        params: { workspaceId, absenceId },
      });
    }
    await refresh("GET /me/absences", "GET /workspaces/:workspaceId/absences");
    toast(hasBegun ? "The absence has ended." : "The absence was removed.");
  };
  const verb = hasBegun ? "End" : "Remove";
  return (
    <ConfirmDialog
      title={`${verb} ${whose}?`}
      description={
        hasBegun
          ? "From now on new requests ask the person again. Both can still decide what the colleague was asked until now."
          : "It hasn’t begun, so nothing else changes."
      }
      confirmLabel={`${verb} absence`}
      isDanger
      trigger={
        <Button isSmall variant="danger" aria-label={`${verb} ${whose}`}>
          {verb}
        </Button>
      }
      onConfirm={end}
    />
  );
}
