// The deliveries of an endpoint in one state, newest first, a page at a time, and one delivery with its attempts.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { DeliveryState } from "../../../../server/src/wire/dashboard-contract.ts";
import { send } from "../service/api.ts";
import { queryFor } from "../service/queries.ts";

const name = "GET /workspaces/:workspaceId/deliveries";
/** Only deliveries on their way change by themselves. */
const pollMs = 3_000;
/** One delivery is read again while it is on its way, with its attempts. */
const oneRefreshMs = 4_000;

type Asked = { workspaceId: string; endpointId: string; state: DeliveryState };

export function useDeliveries({ workspaceId, endpointId, state }: Asked) {
  const params = { workspaceId };
  const query = { endpoint: endpointId, state };
  return useInfiniteQuery({
    queryKey: [name, params, query, "pages"],
    queryFn: ({ pageParam, signal }) =>
      send(
        name,
        { params, query: pageParam === null ? query : { ...query, cursor: pageParam } },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: state === "due" ? pollMs : false,
  });
}

export function useDelivery(workspaceId: string, deliveryId: string) {
  return useQuery({
    ...queryFor("GET /workspaces/:workspaceId/deliveries/:deliveryId", {
      params: { workspaceId, deliveryId },
    }),
    refetchInterval: ({ state }) => (state.data?.state === "due" ? oneRefreshMs : false),
  });
}
