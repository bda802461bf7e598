// The filter of the request list, as the address stores it and as people choose it.

import type { ApprovalStatus } from "../../../../../sdk/src/contract.ts";
import type { RequestFilter } from "../../../../../server/src/wire/dashboard-contract.ts";

export type ChosenFilter = Omit<RequestFilter, "cursor">;

export const statuses: readonly ApprovalStatus[] = [
  "PENDING",
  "APPROVED",
  "REJECTED",
  "EXPIRED",
  "CANCELLED",
];

const keys = ["status", "agent", "approver", "from", "to", "search"] as const;

/** Reads a filter from the address and ignores invalid parts. */
export function filterOf(search: Readonly<Record<string, unknown>>): ChosenFilter {
  const chosen: Record<string, string> = {};
  for (const key of keys) {
    const value = search[key];
    // A router reads an address such as ?search=1042 as a number.
    if (typeof value === "string" || typeof value === "number") chosen[key] = String(value);
  }
  const { status, from, to, ...rest } = chosen;
  return {
    ...rest,
    ...(isStatus(status) ? { status } : {}),
    ...(isInstant(from) ? { from } : {}),
    ...(isInstant(to) ? { to } : {}),
  };
}

export function countChosen(filter: ChosenFilter): number {
  return keys.filter((key) => filter[key] !== undefined).length;
}

/** The filters behind the button: status and search are always visible. */
export function countBehind({ agent, approver, from, to }: ChosenFilter): number {
  return [agent, approver, from, to].filter((value) => value !== undefined).length;
}

/** The first moment of a day in the reader's zone, from a date input. */
export function startOfDay(day: string): string | undefined {
  const at = new Date(`${day}T00:00:00`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** The first moment after the day; days need not have 24 hours. */
export function endOfDay(day: string): string | undefined {
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + 1);
  return at.toISOString();
}

/** The day of a moment, in the reader's own zone. */
export function dayOf(at: string): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The last day of a range that ends before `at`. */
export function lastDayBefore(at: string): string {
  return dayOf(new Date(Date.parse(at) - 1).toISOString());
}

function isStatus(status: string | undefined): status is ApprovalStatus {
  return statuses.some((known) => known === status);
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
