// The filter of the list of requests as it stands in the address, and as people choose it.

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

/** Whatever stands in the address, as a filter: what cannot be one is left out. */
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

/** Those that stand behind the button: status and search are always in sight. */
export function countBehind({ agent, approver, from, to }: ChosenFilter): number {
  return [agent, approver, from, to].filter((value) => value !== undefined).length;
}

/** A day in the reader's own zone, as an input of kind date has it: its first moment. */
export function startOfDay(day: string): string | undefined {
  const at = new Date(`${day}T00:00:00`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** The first moment behind the day; days need not have 24 hours. */
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
