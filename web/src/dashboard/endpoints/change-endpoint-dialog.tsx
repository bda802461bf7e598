// Changes an endpoint's name, address and events. Its secret stays the same.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Endpoint } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { Dialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { type EndpointChoice, EndpointForm } from "./endpoint-form.tsx";

type ChangeEndpointDialogProps = { workspaceId: string; endpoint: Endpoint };

export function ChangeEndpointDialog({ workspaceId, endpoint }: ChangeEndpointDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const toast = useToast();
  const changing = useMutation({
    mutationFn: (body: EndpointChoice) =>
      call("POST /workspaces/:workspaceId/endpoints/:endpointId", {
        params: { workspaceId, endpointId: endpoint.id },
        body,
      }),
    onSuccess: async () => {
      await refresh(
        "GET /workspaces/:workspaceId/endpoints",
        "GET /workspaces/:workspaceId/endpoints/:endpointId",
      );
      setOpen(false);
      toast("The endpoint is changed");
    },
  });
  return (
    <Dialog
      title="Change this endpoint"
      description="Deliveries already on their way go to the new address, too. The secret stays the same."
      trigger={<Button>Change</Button>}
      open={isOpen}
      isBusy={changing.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        changing.reset();
      }}
    >
      <EndpointForm
        first={{
          name: endpoint.name ?? "",
          url: endpoint.url,
          eventKinds: endpoint.eventKinds,
        }}
        sending={changing}
        submitLabel="Save"
        onCancel={() => setOpen(false)}
        onSubmit={changing.mutate}
      />
    </Dialog>
  );
}
