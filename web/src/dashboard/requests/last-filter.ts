// The filter with which the list was last left, so that the way back from a request leads to the same list. Kept while
// the page is open; the address is what lasts.

import type { ChosenFilter } from "./filters/filter-state.ts";

let last: { workspaceId: string; filter: ChosenFilter } | null = null;

export function rememberFilter(workspaceId: string, filter: ChosenFilter): void {
  last = { workspaceId, filter };
}

export function lastFilter(workspaceId: string): ChosenFilter {
  return last?.workspaceId === workspaceId ? last.filter : {};
}
