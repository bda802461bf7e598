// Reads what needs attention in a workspace, again and again. The strip and the rail share one call.

import { useQuery } from "@tanstack/react-query";
import { queryFor } from "../service/queries.ts";

/** As often as the overview's figures. */
const lookAgainMs = 30_000;

export function useAttention(workspaceId: string) {
  return useQuery({
    ...queryFor("GET /workspaces/:workspaceId/attention", { params: { workspaceId } }),
    refetchInterval: lookAgainMs,
    // A person who comes back from mending something looks whether it helped.
    staleTime: 0,
  });
}
