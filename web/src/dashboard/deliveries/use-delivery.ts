// One delivery with its attempts, read again while it is on its way.

import { useQuery } from "@tanstack/react-query";
import { queryFor } from "../service/queries.ts";

const refreshMs = 4_000;

export function useDelivery(workspaceId: string, deliveryId: string) {
  return useQuery({
    ...queryFor("GET /workspaces/:workspaceId/deliveries/:deliveryId", {
      params: { workspaceId, deliveryId },
    }),
    refetchInterval: ({ state }) => (state.data?.state === "due" ? refreshMs : false),
  });
}
