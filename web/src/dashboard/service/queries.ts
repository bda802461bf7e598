// Reading calls, cached and refreshed by the query library. A call's name and input are its key, so two pages share one
// call, and `invalidate` by name reaches every page that shows it.

import { QueryClient, queryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { type AnswerOf, ApiError, type CallInput, type CallName, send } from "./api.ts";
import { isPassing } from "./passing.ts";
import { readFailedAgain, watchForReturn } from "./recovery.ts";
import { retryDelayMs } from "./retry-delay.ts";

/** How long an answer counts as fresh when the reader comes back to a page. */
const freshMs = 10_000;
const retriesMax = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: freshMs,
      // A browser that thinks it is offline would wait silently. So the call fails and says so.
      networkMode: "always",
      retry: (failures, error) => failures < retriesMax && isPassing(error),
      retryDelay: (failures, error) =>
        retryDelayMs(failures, error instanceof ApiError ? error.retryAfterMs : null),
    },
    mutations: { networkMode: "always" },
  },
});

watchForReturn(queryClient, () => send("GET /me", {}, null));

/** After an outage one press brings everything back that the page shows, not only the part it stands beside. */
export function retryFailed(): void {
  void readFailedAgain(queryClient);
}

/** For `useQuery`, `prefetchQuery` and `setQueryData`: `queryFor("GET /me")`. */
export function queryFor<Name extends CallName>(name: Name, ...[input]: CallInput<Name>) {
  return queryOptions<AnswerOf<Name>>({
    queryKey: [name, input?.params ?? {}, input?.query ?? {}],
    queryFn: ({ signal }) => send(name, input ?? {}, signal),
  });
}

/** Reads while the component is there: `useCall("GET /workspaces/:workspaceId/keys", { params: { workspaceId } })`. */
export function useCall<Name extends CallName>(
  name: Name,
  ...input: CallInput<Name>
): UseQueryResult<AnswerOf<Name>> {
  return useQuery(queryFor(name, ...input));
}

const afterEveryChange: readonly CallName[] = [
  "GET /workspaces/:workspaceId/activity",
  "GET /workspaces/:workspaceId/attention",
];

/**
 * Reads these calls again, with any input, and those that every change may concern: it appears in the activity, and may
 * have mended what needed attention.
 */
export async function refresh(...names: CallName[]): Promise<void> {
  await Promise.all(
    [...names, ...afterEveryChange].map((name) =>
      queryClient.invalidateQueries({ queryKey: [name] }),
    ),
  );
}
