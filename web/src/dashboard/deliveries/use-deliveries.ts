// The deliveries of an endpoint in one state, newest first, a page at a time.

import { useInfiniteQuery } from "@tanstack/react-query";
import type { DeliveryState } from "../../../../server/src/wire/dashboard-contract.ts";
import { send } from "../service/api.ts";

const name = "GET /workspaces/:workspaceId/deliveries";
/** What is on its way changes by itself, and only that. */
const pollMs = 3_000;

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
