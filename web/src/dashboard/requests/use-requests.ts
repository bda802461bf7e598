// The live list of requests: read again every few seconds while it is visible, page by page.

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import type {
  PendingNow,
  RequestDetail,
  RequestRow,
} from "../../../../server/src/wire/dashboard-contract.ts";
import { send } from "../service/api.ts";
import { queryFor } from "../service/queries.ts";
import type { ChosenFilter } from "./filters/filter-state.ts";
import { mergeRows } from "./live-rows.ts";

const name = "GET /workspaces/:workspaceId/requests";
const refreshMs = 4_000;
/** With this many pages, reading them again is expensive. */
const manyPages = 3;
const refreshManyMs = 20_000;

export type LiveRequests = {
  rows: readonly RequestRow[];
  /** Names the list of these rows: workspace and filter. */
  listKey: string;
  pending: PendingNow | null;
  /** The search can't find all older requests yet. */
  isIndexing: boolean;
  /** The service's clock at its last answer, and our own at that moment. */
  reading: { now: number; at: number } | null;
  isLoading: boolean;
  /** The rows still belong to the previous filter. */
  isOutdated: boolean;
  error: unknown;
  retry: () => void;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
};

export function useRequests(workspaceId: string, filter: ChosenFilter): LiveRequests {
  const query = useInfiniteQuery({
    queryKey: [name, { workspaceId }, filter, "pages"],
    queryFn: ({ pageParam, signal }) =>
      send(
        name,
        { params: { workspaceId }, query: { ...filter, cursor: pageParam ?? undefined } },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) > manyPages ? refreshManyMs : refreshMs,
    placeholderData: keepPreviousData,
  });
  const { data, isPlaceholderData } = query;
  const key = `${workspaceId} ${JSON.stringify(filter)}`;
  const kept = useRef<{ key: string; rows: RequestRow[] }>({ key: "", rows: [] });
  const rows = useMemo(() => {
    if (data === undefined) return [];
    const fresh = data.pages.flatMap(({ items }) => items);
    if (isPlaceholderData) return fresh;
    const before = kept.current.key === key ? kept.current.rows : [];
    const isEnd = data.pages.at(-1)?.nextCursor === null;
    kept.current = { key, rows: mergeRows(before, fresh, isEnd) };
    return kept.current.rows;
  }, [data, isPlaceholderData, key]);
  const first = data?.pages[0];
  return {
    rows,
    listKey: isPlaceholderData ? kept.current.key : key,
    pending: first?.pending ?? null,
    isIndexing: first?.isIndexing ?? false,
    reading: first === undefined ? null : { now: Date.parse(first.now), at: query.dataUpdatedAt },
    isLoading: query.isPending,
    isOutdated: isPlaceholderData,
    error: query.error,
    retry: () => void query.refetch(),
    hasNextPage: query.hasNextPage,
    isFetchingNextPage: query.isFetchingNextPage,
    isFetchNextPageError: query.isFetchNextPageError,
    fetchNextPage: query.fetchNextPage,
  };
}

/** One request, read again while something can still happen to it. */
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
