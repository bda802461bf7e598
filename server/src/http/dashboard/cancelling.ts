// Cancelling many requests on the dashboard: those that a member has chosen, or all pending ones that match a filter.

import { z } from "zod";
import { awaitingCountMax } from "../../domain/limits.ts";
import { isRefusal, refuseField } from "../../domain/refusal.ts";
import { cancelledAtOnceMax } from "../../domain/shown/field-limits.ts";
import { cancelMany } from "../../operations/approvals/cancel-many.ts";
import { refusePartial } from "../../operations/approvals/whole-list.ts";
import * as requestLists from "../../storage/approvals/approval-lists.ts";
import type { ListPlace } from "../../storage/approvals/list-terms.ts";
import type {
  Cancellable,
  Cancellation,
  CancelledMatching,
} from "../../wire/dashboard-removals.ts";
import { readQuery } from "./list-query.ts";
import { filterOf, requestQuery } from "./request-filter.ts";
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
  const partial = await refusePartial(db, visit.workspaceId, filter);
  if (partial !== null) return partial;
  const limit = awaitingCountMax;
  const { found, last } = await requestLists.list(db, visit.workspaceId, { ...filter, limit });
  return { count: found.length, isMore: last !== null, upTo: found[0]?.id ?? null };
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
  const pending = readPendingFilter(visit);
  if (isRefusal(pending)) return pending;
  const filter = { ...pending, after: justBefore(form.upTo) };
  const partial = await refusePartial(db, visit.workspaceId, filter);
  if (partial !== null) return partial;
  const limit = cancelledAtOnceMax;
  const { found, last } = await requestLists.list(db, visit.workspaceId, { ...filter, limit });
  const ids = found.map((each) => each.id);
  if (ids.length === 0) return { cancelled: 0, resolvedBefore: [], next: null };
  const done = await cancelMany(db, { ids, why: wordsOfFilter(visit) }, doerOf(visit));
  if (isRefusal(done)) return done;
  if (done.cancelled > 0) onDue();
  return { ...done, next: last?.id ?? null };
}

function readPendingFilter(visit: MemberVisit): requestLists.ListFilter | DashboardRefusal {
  const unknown = [...visit.call.query.keys()].find(
    (name) => !Object.hasOwn(requestQuery.shape, name),
  );
  // A filter that is left out would cancel more than was meant.
  if (unknown !== undefined) return refuseField(unknown, "is no filter of requests");
  const query = readQuery(visit, requestQuery);
  if (isRefusal(query)) return query;
  const { status } = query;
  if (status !== undefined && status !== "PENDING") {
    const message = "status: only pending requests can be cancelled";
    return { refusal: "validation_error", message, field: "status" };
  }
  // Newest first, however the list is sorted: requests that came since are then those before the first.
  return filterOf({ ...query, status: "PENDING", sort: "newest" }, null);
}

/** The place in the list before this one. Ids are hex digits, so none lies between. */
function justBefore(requestId: string): ListPlace {
  return { id: `${requestId}g`, expiresAt: new Date(0) };
}

/** Nothing for the whole list. */
function wordsOfFilter({ call }: MemberVisit): Record<string, string> {
  const chosenFilters = [...call.query].filter(([name]) => name !== "status" && name !== "sort");
  const words = chosenFilters.map(([name, value]) => `${name} ${value}`).join(", ");
  return words === "" ? {} : { filter: words };
}
