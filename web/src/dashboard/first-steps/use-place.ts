// Reads the place in the first steps, and reads it again while something is awaited.

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { queryFor, refresh } from "../service/queries.ts";
import { type Place, placeOf } from "./place.ts";

/** Often enough to feel immediate beside a terminal, seldom enough to cost the service nothing. */
const lookAgainMs = 2_000;

type Reading = { place: Place | null; error: unknown; retry: () => void };

/** The place is null until it is known. */
export function usePlace(workspaceId: string): Reading {
  const params = { workspaceId };
  const keys = useQuery(queryFor("GET /workspaces/:workspaceId/keys", { params }));
  const requests = useQuery({
    ...queryFor("GET /workspaces/:workspaceId/requests", { params }),
    refetchInterval: ({ state }) =>
      state.data === undefined || isSettled(placeOf({ keys: [], page: state.data }))
        ? false
        : lookAgainMs,
  });
  const place =
    keys.data === undefined || requests.data === undefined
      ? null
      : placeOf({ keys: keys.data.keys, page: requests.data });

  // The rest of the page shows the same requests.
  const kind = place?.kind;
  useEffect(() => {
    if (kind !== "approve" && kind !== "done") return;
    void refresh("GET /workspaces/:workspaceId", "GET /workspaces/:workspaceId/overview");
  }, [kind]);

  return {
    place,
    error: place === null ? (keys.error ?? requests.error) : null,
    retry: () => {
      void keys.refetch();
      void requests.refetch();
    },
  };
}

function isSettled({ kind }: Place): boolean {
  return kind === "done" || kind === "over";
}
