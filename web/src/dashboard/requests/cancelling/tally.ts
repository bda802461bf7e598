// The result of cancelling many requests, added up over several calls, and in words.

import type { Cancellation } from "../../../../../server/src/wire/dashboard-removals.ts";
import { describeCount } from "../../../look/shares.ts";
import { words } from "../../../look/words.ts";
import type { ChosenFilter } from "../filters/filter-state.ts";

export const nothingYet: Cancellation = { cancelled: 0, resolvedBefore: [] };

export function add(one: Cancellation, other: Cancellation): Cancellation {
  const counts = new Map(one.resolvedBefore.map(({ status, count }) => [status, count]));
  for (const { status, count } of other.resolvedBefore) {
    counts.set(status, (counts.get(status) ?? 0) + count);
  }
  return {
    cancelled: one.cancelled + other.cancelled,
    resolvedBefore: [...counts].map(([status, count]) => ({ status, count })),
  };
}

/** "98 requests cancelled. 2 were final before: 1 approved, 1 expired." */
export function resultSentence({ cancelled, resolvedBefore }: Cancellation): string {
  const done = `${countOf(cancelled)} cancelled.`;
  const before = resolvedBefore.filter(({ count }) => count > 0);
  if (before.length === 0) return done;
  const total = before.reduce((sum, { count }) => sum + count, 0);
  const parts = before.map(
    ({ status, count }) => `${describeCount(count)} ${wordOf(status).toLowerCase()}`,
  );
  return `${done} ${describeCount(total)} ${total === 1 ? "was" : "were"} final before: ${parts.join(", ")}.`;
}

function wordOf(status: Cancellation["resolvedBefore"][number]["status"]): string {
  return status === "PENDING" ? "Pending" : words.outcome[status];
}

export function countOf(count: number): string {
  return `${describeCount(count)} ${count === 1 ? "request" : "requests"}`;
}

/** Cuts a long list into calls that the service accepts. */
export function inBatches<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Whether anything but the status narrows the list. */
export function isNarrowed({ status: _, sort: __, ...filter }: ChosenFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}
