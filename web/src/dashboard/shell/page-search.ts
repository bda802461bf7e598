// The state of a page in its address: filters, tabs, periods. Plain words, so that an address can be read, shared and
// typed.

import { useNavigate, useSearch } from "@tanstack/react-router";

const names = [
  "tab",
  "days",
  "status",
  "agent",
  "approver",
  "from",
  "to",
  "search",
  "sort",
  "decidedBy",
  "decidedFrom",
  "decidedTo",
  "waitingFor",
  "escalated",
  "unreachable",
  "state",
  "event",
  "endpoint",
  "cursor",
  "export",
] as const;

export type PageSearch = { [Name in (typeof names)[number]]?: string };

export function toPageSearch(search: Record<string, unknown>): PageSearch {
  const kept = names.flatMap((name) => {
    const value = search[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(kept);
}

/** The values in the address, and a function that changes some of them: undefined removes one. */
export function usePageSearch(): [
  search: PageSearch,
  change: (changes: { [Name in keyof PageSearch]?: string | undefined }, isStep?: boolean) => void,
] {
  const search = toPageSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  return [
    search,
    (changes, isStep = false) => {
      void navigate({
        to: ".",
        search: toPageSearch({ ...search, ...changes }),
        replace: !isStep,
        resetScroll: false,
      });
    },
  ];
}

/** By default the router writes JSON into addresses. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === "string") written.set(name, value);
  }
  return written.size === 0 ? "" : `?${written}`;
}
