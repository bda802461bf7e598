// The filters of `countersign request`, which are those of the dashboard's list.

import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import { OperatorFault } from "../../domain/operator-fault.ts";
import { typedApprover, typedSearch } from "../../domain/search/typed-filter.ts";
import type { ListFilter } from "../../storage/approvals/approval-lists.ts";
import { toTime } from "./typed-time.ts";

export type FilterFlags = {
  workspace: string;
  status?: ApprovalStatus;
  search?: string;
  agent?: string;
  approver?: string;
  from?: string;
  to?: string;
  decidedBy?: string;
  decidedFrom?: string;
  decidedTo?: string;
  waitingFor?: string;
  escalated?: true;
  unreachable?: true;
  sort: "newest" | "oldest" | "expiry";
};

export function filterOf(flags: FilterFlags): ListFilter {
  const { status = null, sort: order } = flags;
  if (order === "expiry" && status !== null && status !== "PENDING") {
    throw new OperatorFault("--sort expiry lists pending requests only");
  }
  const time = (text: string | undefined) => (text === undefined ? null : toTime(text));
  return {
    status,
    agentName: flags.agent ?? null,
    approver: typedApprover(flags.approver ?? ""),
    createdFrom: time(flags.from),
    createdBefore: time(flags.to),
    decidedBy: flags.decidedBy ?? null,
    decidedFrom: time(flags.decidedFrom),
    decidedBefore: time(flags.decidedTo),
    waitingFor: (flags.waitingFor ?? "").trim() || null,
    isEscalated: flags.escalated ?? false,
    isUnreachable: flags.unreachable ?? false,
    search: typedSearch(flags.search ?? ""),
    order,
    after: null,
  };
}

/** As it was typed, for the activity. */
export function chosenIn(flags: FilterFlags): Record<string, string> {
  const { status, search, agent, approver, from, to, decidedBy, decidedFrom, decidedTo } = flags;
  const { waitingFor } = flags;
  const chosen = {
    ...{ status, search, agent, approver, from, to, decidedBy, decidedFrom, decidedTo, waitingFor },
    escalated: flags.escalated && "yes",
    unreachable: flags.unreachable && "yes",
  };
  return Object.fromEntries(
    Object.entries(chosen).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
