// Sends again everything that did not arrive since a moment: by default all of it.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { EndpointDetail } from "../../../../sdk/src/dashboard-contract.ts";
import { call, fieldError, otherError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogActions } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { FormProblem } from "../parts/form-problem.tsx";
import { useToast } from "../parts/toast.tsx";
import { refresh } from "../queries.ts";
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
      setOpen(false);
      toast(
        resent === 1
          ? "1 delivery is on its way again"
          : `${resent} deliveries are on their way again`,
      );
      await refresh(
        "GET /workspaces/:workspaceId/deliveries",
        "GET /workspaces/:workspaceId/endpoints/:endpointId",
      );
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (since !== null && !resending.isPending) resending.mutate(since);
  };
  const howMany = `${count}${isMore ? " or more" : ""} ${count === 1 ? "delivery" : "deliveries"}`;
  return (
    <Dialog
      title="Resend all since"
      description={`${howMany} to this endpoint failed or were skipped. Each is sent again with its own id and the same bytes, so a receiver that knows the id can tell.`}
      trigger={<Button isSmall>Resend all since …</Button>}
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next);
        setTyped(null);
        resending.reset();
      }}
    >
      <form className="form" onSubmit={submit} noValidate>
        <TextField
          label="Since"
          type="datetime-local"
          hint="In your own time. At first the oldest one that did not arrive."
          value={text}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={
            since === null ? "Choose a date and a time." : fieldError(resending.error, "since")
          }
        />
        {endpoint.disabledAt !== null && (
          <p className="attention-note">
            The endpoint is disabled: enable it first, or they are skipped again.
          </p>
        )}
        <FormProblem error={otherError(resending.error, ["since"])} />
        <DialogActions>
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={resending.isPending}>
            Resend
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
