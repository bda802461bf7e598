// Gives an endpoint a new secret and shows it once. The dialog says when the old one ends.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog, DialogActions } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";
import { SecretView } from "./secret-view.tsx";

type RotateSecretDialogProps = { workspaceId: string; endpointId: string };

const bothSign =
  "For 24 hours both secrets sign every webhook, so your receiver can switch without losing one. Then the old secret stops working.";

export function RotateSecretDialog({ workspaceId, endpointId }: RotateSecretDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const rotating = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/endpoints/:endpointId/rotate", {
        params: { workspaceId, endpointId },
      }),
    onSuccess: () => refresh("GET /workspaces/:workspaceId/endpoints/:endpointId"),
  });
  const close = () => {
    setOpen(false);
    rotating.reset();
  };
  const rotated = rotating.data;
  return (
    <Dialog
      title={rotated === undefined ? "Rotate the signing secret?" : "Your new signing secret"}
      description={rotated === undefined ? `You’ll see the new secret once. ${bothSign}` : bothSign}
      trigger={<Button>Rotate secret</Button>}
      open={isOpen}
      isBusy={rotating.isPending}
      isSticky={rotated !== undefined}
      onOpenChange={(next) => {
        if (next) setOpen(true);
        else if (rotated === undefined) close();
      }}
    >
      {rotated === undefined ? (
        <>
          <Problem error={rotating.error} />
          <DialogActions>
            <Button disabled={rotating.isPending} onClick={close}>
              Cancel
            </Button>
            <Button variant="primary" isBusy={rotating.isPending} onClick={() => rotating.mutate()}>
              Make a new secret
            </Button>
          </DialogActions>
        </>
      ) : (
        <SecretView secret={rotated.secret} onDone={close} />
      )}
    </Dialog>
  );
}
