// Resends every delivery that didn't arrive since a given time; by default all of them.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { EndpointDetail } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { fromLocalInput, toLocalInput } from "./local-input.ts";

type ResendSinceDialogProps = { workspaceId: string; endpoint: EndpointDetail };

export function ResendSinceDialog({ workspaceId, endpoint }: ResendSinceDialogProps) {
  const { count, isMore, since: oldest } = endpoint.unsuccessful;
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState<string | null>(null);
  const toast = useToast();
  const text = typed ?? (oldest === null ? "" : toLocalInput(oldest));
  const since = fromLocalInput(text);
  const resending = useMutation({
    mutationFn: (from: string) =>
      call("POST /workspaces/:workspaceId/endpoints/:endpointId/resend-failed", {
        params: { workspaceId, endpointId: endpoint.id },
        body: { since: from },
      }),
    onSuccess: async ({ resent }) => {
      await refresh(
        "GET /workspaces/:workspaceId/deliveries",
        "GET /workspaces/:workspaceId/endpoints/:endpointId",
      );
      setOpen(false);
      toast(
        resent === 1
          ? "1 delivery is on its way again"
          : `${resent} deliveries are on their way again`,
      );
    },
  });
  const submit = () => {
    if (since !== null) resending.mutate(since);
  };
  const howMany = `${count}${isMore ? " or more" : ""} ${count === 1 ? "delivery" : "deliveries"}`;
  return (
    <Dialog
      title="Resend all since"
      description={`${howMany} to this endpoint failed or were skipped. Each is sent again with the same id and the same bytes, so your receiver can recognise it.`}
      trigger={<Button isSmall>Resend all since …</Button>}
      open={isOpen}
      isBusy={resending.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        setTyped(null);
        resending.reset();
      }}
    >
      <DialogForm
        sending={resending}
        fields={["since"]}
        submitLabel="Resend"
        onSubmit={submit}
        onCancel={() => setOpen(false)}
      >
        <TextField
          label="Since"
          type="datetime-local"
          hint="In your time zone. Starts with the oldest delivery that didn’t arrive."
          value={text}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={
            since === null ? "Choose a date and a time." : fieldError(resending.error, "since")
          }
        />
        {endpoint.disabledAt !== null && (
          <p className="attention-note">
            The endpoint is disabled. Enable it first, or the deliveries are skipped again.
          </p>
        )}
      </DialogForm>
    </Dialog>
  );
}
