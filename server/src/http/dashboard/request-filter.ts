// Parses the filter of a list of requests, which the list and its export have in common, and writes its cursors.

import { z } from "zod";
import { approvalStatuses } from "../../domain/approval/approval.ts";
import { toCursor } from "../../domain/approval/call-parameters.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import { typedApprover, typedSearch } from "../../domain/search/typed-filter.ts";
import type { ListFilter } from "../../storage/approvals/approval-lists.ts";
import type { ListPlace } from "../../storage/approvals/list-terms.ts";
import { filterText, filterTime } from "./list-query.ts";

const yes = z.literal("yes", { error: "must be yes, or left out" });
const orders = ["newest", "oldest", "expiry"] as const;

/** Everything that an address of the list may hold. */
export const requestQuery = z.object({
  status: z
    .enum(approvalStatuses, { error: `must be one of ${approvalStatuses.join(", ")}` })
    .optional(),
  agent: filterText.optional(),
  approver: filterText.optional(),
  from: filterTime.optional(),
  to: filterTime.optional(),
  decidedBy: filterText.optional(),
  decidedFrom: filterTime.optional(),
  decidedTo: filterTime.optional(),
  waitingFor: filterText.optional(),
  escalated: yes.optional(),
  unreachable: yes.optional(),
  search: filterText.optional(),
  sort: z.enum(orders, { error: `must be one of ${orders.join(", ")}` }).optional(),
});

export function filterOf(
  query: z.output<typeof requestQuery>,
  after: ListPlace | null,
): ListFilter | (Refusal<"validation_error"> & { field: string }) {
  const { status = null, sort = "newest" } = query;
  if (sort === "expiry" && status !== null && status !== "PENDING") {
    const message =
      "sort: expiry lists pending requests only. Leave status out, or make it PENDING";
    return { ...refuse("validation_error", message), field: "sort" };
  }
  return {
    status,
    agentName: query.agent ?? null,
    approver: typedApprover(query.approver ?? ""),
    createdFrom: query.from ?? null,
    createdBefore: query.to ?? null,
    decidedBy: (query.decidedBy ?? "").trim() || null,
    decidedFrom: query.decidedFrom ?? null,
    decidedBefore: query.decidedTo ?? null,
    waitingFor: (query.waitingFor ?? "").trim() || null,
    isEscalated: query.escalated !== undefined,
    isUnreachable: query.unreachable !== undefined,
    search: typedSearch(query.search ?? ""),
    order: sort,
    after,
  };
}

const placePattern = /^(req_[0-9a-f]{32}) ([0-9]{1,15})$/;

/** The line after which a page begins: its id, and its end in milliseconds. */
export const placeCursor = z.string().transform((text, context): ListPlace => {
  const [, id, ms] = placePattern.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
  if (id !== undefined) return { id, expiresAt: new Date(Number(ms)) };
  context.addIssue("is not one that a list has answered. Begin anew");
  return z.NEVER;
});

export function toPlaceCursor(place: ListPlace | null): string | null {
  return place === null ? null : toCursor(`${place.id} ${place.expiresAt.getTime()}`);
}
