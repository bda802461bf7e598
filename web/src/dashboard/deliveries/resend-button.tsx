// Sends a delivery again. That is safe: receivers recognise it by its id.

import { useMutation } from "@tanstack/react-query";
import type { ApprovalStatus } from "../../../../sdk/src/contract.ts";
import { addressOf, destinationWords } from "../../../../server/src/domain/shown/destination.ts";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";
import { nameOf } from "./destination-name.tsx";
import { isDeleted } from "./words.ts";

type ResendButtonProps = { workspaceId: string; delivery: Delivery };

export function ResendButton({ workspaceId, delivery }: ResendButtonProps) {
  const toast = useToast();
  const to = [nameOf(delivery), addressOf(delivery.destination)].filter(Boolean).join(", ");
  const resend = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/deliveries/:deliveryId/resend", {
        params: { workspaceId, deliveryId: delivery.id },
      }),
    onSuccess: async () => {
      toast("The delivery is on its way again.");
      await refresh(
        "GET /workspaces/:workspaceId/requests/:requestId",
        "GET /workspaces/:workspaceId/deliveries/:deliveryId",
        "GET /workspaces/:workspaceId/deliveries",
        "GET /workspaces/:workspaceId/endpoints/:endpointId",
      );
    },
  });
  return (
    <div className="resend">
      <Button
        isSmall
        isBusy={resend.isPending}
        aria-label={`Resend ${delivery.event} to ${toVisibleText(to)}`}
        onClick={() => resend.mutate()}
      >
        Resend
      </Button>
      <Problem error={resend.error} />
    </div>
  );
}

/**
 * Decides whether to offer "Resend". The service has the last word. `status` is the request's; null when it is unknown
 * or there is no request.
 */
export function canResend(
  { state, destination }: Delivery,
  status: ApprovalStatus | null,
): boolean {
  if (state === "due" || isDeleted(destination)) return false;
  const { isAboutDeciding } = destinationWords[destination.kind];
  return !isAboutDeciding || status === null || status === "PENDING";
}
