// One request, read again while something can still happen to it.

import { useQuery } from "@tanstack/react-query";
import type { RequestDetail } from "../../../../server/src/wire/dashboard-contract.ts";
import { queryFor } from "../service/queries.ts";

const refreshMs = 4_000;

export function useRequest(workspaceId: string, requestId: string) {
  return useQuery({
    ...queryFor("GET /workspaces/:workspaceId/requests/:requestId", {
      params: { workspaceId, requestId },
    }),
    refetchInterval: ({ state }) => (isMoving(state.data) ? refreshMs : false),
  });
}

function isMoving(request: RequestDetail | undefined): boolean {
  return (
    request !== undefined &&
    (request.status === "PENDING" || request.deliveries.some(({ state }) => state === "due"))
  );
}
