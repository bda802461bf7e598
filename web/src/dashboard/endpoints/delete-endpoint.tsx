// Deletes an endpoint. The second step says what is lost: its secret, and what is still on its way.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Endpoint } from "../../../../server/src/wire/dashboard-endpoints.ts";
import { describeCount } from "../../look/shares.ts";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { queryFor, refresh } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { UrlText } from "./url-text.tsx";

type DeleteEndpointProps = { workspaceId: string; endpoint: Endpoint };

export function DeleteEndpoint({ workspaceId, endpoint }: DeleteEndpointProps) {
  const toast = useToast();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const params = { workspaceId, endpointId: endpoint.id };
  const deletion = useQuery({
    ...queryFor("GET /workspaces/:workspaceId/endpoints/:endpointId/deletion", { params }),
    enabled: isOpen,
    staleTime: 0,
  });
  const remove = async () => {
    await call("POST /workspaces/:workspaceId/endpoints/:endpointId/delete", { params });
    toast("The endpoint is deleted");
    // Somebody who went back in the meantime stays where they are.
    if (location.pathname.endsWith(`/endpoints/${endpoint.id}`)) {
      await navigate({ to: "/app/w/$workspaceId/endpoints", params: { workspaceId } });
    }
    await refresh(
      "GET /workspaces/:workspaceId/endpoints",
      "GET /workspaces/:workspaceId/endpoints/:endpointId",
      "GET /workspaces/:workspaceId/deliveries",
    );
  };
  return (
    <ConfirmDialog
      title="Delete this endpoint?"
      description={
        <>
          Nothing more is sent to <UrlText url={endpoint.url} />, and its signing secret is gone.
          Past deliveries stay readable, but can’t be sent again. This can’t be undone; disable it
          if you may need it again.
        </>
      }
      confirmLabel="Delete endpoint"
      isDanger
      isReady={deletion.isSuccess && !deletion.isFetching}
      open={isOpen}
      onOpenChange={setOpen}
      trigger={<Button variant="danger">Delete</Button>}
      onConfirm={remove}
    >
      <Answered query={deletion} label="Looking up its deliveries" lines={1}>
        {({ due: { count, isMore } }) =>
          count === 0 ? null : (
            <p className="attention-note">
              {describeCount(count)}
              {isMore && " or more"} {count === 1 ? "delivery is" : "deliveries are"} still on the
              way and won’t be sent.
            </p>
          )
        }
      </Answered>
    </ConfirmDialog>
  );
}
