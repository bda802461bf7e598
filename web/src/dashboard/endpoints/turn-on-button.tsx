// Enables an endpoint again. That is safe, so it needs no confirmation.

import { useMutation } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { Problem } from "../states/problem.tsx";

type TurnOnButtonProps = { workspaceId: string; endpointId: string };

export function TurnOnButton({ workspaceId, endpointId }: TurnOnButtonProps) {
  const toast = useToast();
  const enabling = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/endpoints/:endpointId/enable", {
        params: { workspaceId, endpointId },
      }),
    onSuccess: async () => {
      await refresh(
        "GET /workspaces/:workspaceId/endpoints",
        "GET /workspaces/:workspaceId/endpoints/:endpointId",
      );
      toast("The endpoint is enabled");
    },
  });
  return (
    <>
      <Button variant="primary" isBusy={enabling.isPending} onClick={() => enabling.mutate()}>
        Enable
      </Button>
      <Problem error={enabling.error} />
    </>
  );
}
