// Cancelling many requests on the dashboard: those that a member has chosen, or all pending ones that match a filter.

import { z } from "zod";
import { awaitingCountMax } from "../../domain/limits.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { cancelledAtOnceMax } from "../../domain/shown/field-limits.ts";
import { cancelMany } from "../../operations/approvals/cancel-many.ts";
import * as requestLists from "../../storage/approvals/approval-lists.ts";
import type {
  Cancellable,
  Cancellation,
  CancelledMatching,
} from "../../wire/dashboard-removals.ts";
import { readQuery } from "./list-query.ts";
import { filterOf, listQuery } from "./requests.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  type MemberVisit,
  readForm,
} from "./visit.ts";

const id = z.string().regex(/^req_[0-9a-f]{32}$/, "must be the id of a request");

/** How many pending requests match, so that the member knows before they confirm. */
export async function count(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Cancellable | DashboardRefusal> {
  const filter = readPendingFilter(visit);
  if (isRefusal(filter)) return filter;
  const limit = awaitingCountMax;
  const { found, hasMore } = await requestLists.list(db, visit.workspaceId, { ...filter, limit });
  return { count: found.length, isMore: hasMore, upTo: found[0]?.id ?? null };
}

const chosen = z.object({
  ids: z
    .array(id)
    .min(1, "must be at least one")
    .max(cancelledAtOnceMax, `must be at most ${cancelledAtOnceMax} at a time`),
});

export async function cancelChosen(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Promise<Cancellation | DashboardRefusal> {
  const form = readForm(visit.call, chosen);
  if (isRefusal(form)) return form;
  const done = await cancelMany(db, { ids: [...new Set(form.ids)] }, doerOf(visit));
  if (isRefusal(done)) return done;
  if (done.cancelled > 0) onDue();
  return done;
}

const from = z.object({ upTo: id });

/** Goes from `upTo` to older ones, so that requests asked since the member counted stay, and every call gets further. */
export async function cancelMatching(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Promise<CancelledMatching | DashboardRefusal> {
  const form = readForm(visit.call, from);
  if (isRefusal(form)) return form;
  const filter = readPendingFilter(visit);
  if (isRefusal(filter)) return filter;
  const { found, hasMore } = await requestLists.list(db, visit.workspaceId, {
    ...filter,
    beforeId: justAfter(form.upTo),
    limit: cancelledAtOnceMax,
  });
  const ids = found.map((each) => each.id);
  if (ids.length === 0) return { cancelled: 0, resolvedBefore: [], next: null };
  const done = await cancelMany(db, { ids, why: wordsOfFilter(visit) }, doerOf(visit));
  if (isRefusal(done)) return done;
  if (done.cancelled > 0) onDue();
  return { ...done, next: hasMore ? (ids.at(-1) ?? null) : null };
}

function readPendingFilter(visit: MemberVisit): requestLists.ListFilter | DashboardRefusal {
  const query = readQuery(visit, listQuery);
  if (isRefusal(query)) return query;
  const { status } = query;
  if (status !== undefined && status !== "PENDING") {
    const message = "status: only pending requests can be cancelled";
    return { refusal: "validation_error", message, field: "status" };
  }
  return filterOf({ ...query, status: "PENDING" });
}

/** Ids are hex digits, so no id lies between. */
function justAfter(requestId: string): string {
  return `${requestId}g`;
}

/** Nothing for the whole list. */
function wordsOfFilter({ call }: MemberVisit): Record<string, string> {
  const chosenFilters = [...call.query].filter(([name]) => name !== "status");
  const words = chosenFilters.map(([name, value]) => `${name} ${value}`).join(", ");
  return words === "" ? {} : { filter: words };
}
