// The filter of the request list, as the address stores it and as people choose it.

import type { ApprovalStatus } from "../../../../../sdk/src/contract.ts";
import type { RequestFilter } from "../../../../../server/src/wire/dashboard-filters.ts";

export type ChosenFilter = Omit<RequestFilter, "cursor">;

export const statuses: readonly ApprovalStatus[] = [
  "PENDING",
  "APPROVED",
  "REJECTED",
  "EXPIRED",
  "CANCELLED",
];

const keys = [
  "status",
  "agent",
  "approver",
  "from",
  "to",
  "decidedBy",
  "decidedFrom",
  "decidedTo",
  "waitingFor",
  "escalated",
  "unreachable",
  "search",
  "sort",
] as const;

export type Sort = NonNullable<RequestFilter["sort"]>;

/** Newest first is the order that nobody chooses. */
export const sorts: readonly { value: Sort; word: string; order: string }[] = [
  { value: "newest", word: "Newest first", order: "newest first" },
  { value: "oldest", word: "Oldest first", order: "oldest first" },
  { value: "expiry", word: "Expires next", order: "those that expire next first" },
];

/** Reads a filter from the address and ignores invalid parts. */
export function filterOf(search: Readonly<Record<string, unknown>>): ChosenFilter {
  const chosen: Record<string, string> = {};
  for (const key of keys) {
    const value = search[key];
    // A router reads an address such as ?search=1042 as a number.
    if (typeof value === "string" || typeof value === "number") chosen[key] = String(value);
  }
  const { status, sort, from, to, decidedFrom, decidedTo, escalated, unreachable, ...rest } =
    chosen;
  const times = Object.entries({ from, to, decidedFrom, decidedTo });
  return {
    ...rest,
    ...(isStatus(status) ? { status } : {}),
    ...(escalated === "yes" ? { escalated } : {}),
    ...(unreachable === "yes" ? { unreachable } : {}),
    ...(isSort(sort) && sort !== "newest" ? { sort } : {}),
    ...Object.fromEntries(times.filter(([, at]) => isInstant(at))),
  };
}

type StatusAndSort = { status?: ApprovalStatus | undefined; sort?: Sort | undefined };

/** Only pending requests expire and wait for somebody, so another status ends that order and that filter. */
export function withStatus(
  status: ApprovalStatus | undefined,
  { sort, waitingFor }: ChosenFilter,
): StatusAndSort & { waitingFor?: undefined } {
  const isOver = status !== undefined && status !== "PENDING";
  return {
    status,
    ...(sort === "expiry" && status !== "PENDING" ? { sort: undefined } : {}),
    ...(isOver && waitingFor !== undefined ? { waitingFor: undefined } : {}),
  };
}

/** And what waits for somebody is pending. */
export function withWaitingFor(
  waitingFor: string | undefined,
  { status }: ChosenFilter,
): { waitingFor: string | undefined; status?: ApprovalStatus | undefined } {
  const isOver = status !== undefined && status !== "PENDING";
  return waitingFor !== undefined && isOver ? { waitingFor, status: undefined } : { waitingFor };
}

/** And that order ends another status. */
export function withSort(sort: Sort, { status }: ChosenFilter): StatusAndSort {
  if (sort === "expiry") return { sort, status: "PENDING" };
  return { sort: sort === "newest" ? undefined : sort, status };
}

export function countChosen(filter: ChosenFilter): number {
  return keys.filter((key) => filter[key] !== undefined).length;
}

/** The filters behind the button: status, search and order are always visible. */
export function countBehind(filter: ChosenFilter): number {
  const { agent, approver, from, to, decidedBy, decidedFrom, decidedTo } = filter;
  const { waitingFor, escalated, unreachable } = filter;
  const decided = [decidedBy, decidedFrom, decidedTo];
  const behind = [agent, approver, from, to, ...decided, waitingFor, escalated, unreachable];
  return behind.filter((value) => value !== undefined).length;
}

function isStatus(status: string | undefined): status is ApprovalStatus {
  return statuses.some((known) => known === status);
}

function isSort(sort: string | undefined): sort is Sort {
  return sorts.some(({ value }) => value === sort);
}

function isInstant(at: string | undefined): at is string {
  return at !== undefined && !Number.isNaN(Date.parse(at));
}

/** The last filter of the list: the way back from a request leads to the same list. The address is what lasts. */
let last: { workspaceId: string; filter: ChosenFilter } | null = null;

export function rememberFilter(workspaceId: string, filter: ChosenFilter): void {
  last = { workspaceId, filter };
}

export function lastFilter(workspaceId: string): ChosenFilter {
  return last?.workspaceId === workspaceId ? last.filter : {};
}
