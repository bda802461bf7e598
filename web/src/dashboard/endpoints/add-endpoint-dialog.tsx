// Adds an endpoint and shows its secret once. While it is shown, only its own button closes the dialog.

import { useMutation } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { Dialog } from "../forms/dialog.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { type EndpointChoice, EndpointForm } from "./endpoint-form.tsx";
import { SecretView } from "./secret-view.tsx";

type AddEndpointDialogProps = { workspaceId: string; trigger: ReactElement };

export function AddEndpointDialog({ workspaceId, trigger }: AddEndpointDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const adding = useMutation({
    mutationFn: (body: EndpointChoice) =>
      call("POST /workspaces/:workspaceId/endpoints", { params: { workspaceId }, body }),
    onSuccess: () => refresh("GET /workspaces/:workspaceId/endpoints"),
  });
  const close = () => {
    setOpen(false);
    adding.reset();
  };
  const added = adding.data;
  return (
    <Dialog
      title={added === undefined ? "Add a webhook endpoint" : "Your signing secret"}
      description={
        added === undefined
          ? "We send this workspace’s events here at once, and try again when it doesn’t accept one."
          : "Store it where your receiver reads its secrets. If you lose it, rotate it."
      }
      trigger={trigger}
      open={isOpen}
      isBusy={adding.isPending}
      isSticky={added !== undefined}
      onOpenChange={(next) => {
        if (next) setOpen(true);
        else if (added === undefined) close();
      }}
    >
      {added === undefined ? (
        <EndpointForm
          first={{ name: "", url: "", eventKinds: null }}
          sending={adding}
          submitLabel="Add endpoint"
          onCancel={close}
          onSubmit={adding.mutate}
        />
      ) : (
        <SecretView secret={added.secret} onDone={close} />
      )}
    </Dialog>
  );
}
