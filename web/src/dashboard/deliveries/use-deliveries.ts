// The deliveries of an endpoint, filtered, newest first, a page at a time, and one delivery with its attempts.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { DeliveryFilter } from "../../../../server/src/wire/dashboard-filters.ts";
import { send } from "../service/api.ts";
import { queryFor } from "../service/queries.ts";

const name = "GET /workspaces/:workspaceId/deliveries";
/** Only deliveries on their way change by themselves. */
const pollMs = 3_000;
/** One delivery is read again while it is on its way, with its attempts. */
const oneRefreshMs = 4_000;

export type Asked = { workspaceId: string; filter: Omit<DeliveryFilter, "cursor"> };

export function useDeliveries({ workspaceId, filter: query }: Asked) {
  const params = { workspaceId };
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
    refetchInterval: query.state === "due" ? pollMs : false,
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
