// Disables an endpoint, with a reason that others can read later.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Endpoint } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { UrlText } from "./url-text.tsx";

type TurnOffDialogProps = { workspaceId: string; endpoint: Endpoint };

export function TurnOffDialog({ workspaceId, endpoint }: TurnOffDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const toast = useToast();
  const disabling = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/endpoints/:endpointId/disable", {
        params: { workspaceId, endpointId: endpoint.id },
        body: { reason },
      }),
    onSuccess: async () => {
      await refresh(
        "GET /workspaces/:workspaceId/endpoints",
        "GET /workspaces/:workspaceId/endpoints/:endpointId",
        "GET /workspaces/:workspaceId/deliveries",
      );
      setOpen(false);
      setReason("");
      toast("The endpoint is disabled");
    },
  });
  return (
    <Dialog
      title="Disable this endpoint?"
      description={
        <>
          Nothing more is sent to <UrlText url={endpoint.url} />. Missed events are kept as skipped.
          You can send them once it is enabled again.
        </>
      }
      trigger={<Button variant="danger">Disable</Button>}
      open={isOpen}
      isBusy={disabling.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        disabling.reset();
      }}
    >
      <DialogForm
        sending={disabling}
        fields={["reason"]}
        submitLabel="Disable this endpoint"
        isDanger
        onSubmit={() => disabling.mutate()}
        onCancel={() => setOpen(false)}
      >
        <TextField
          label="Reason"
          hint="Shown here and in the activity. For example: “moves to the new cluster on Friday”."
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={fieldError(disabling.error, "reason")}
          autoFocus
        />
      </DialogForm>
    </Dialog>
  );
}
