// The outcomes of the requests in a period: the four ends in their fixed order, with shares that add up, and the same
// parts in the same look for every picture of them.

import type { ApprovalStatus } from "../../../../sdk/src/contract.ts";
import type { Shares } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeCount, describeShare, percentagesOf } from "../../look/shares.ts";
import type { BarPart } from "./series.ts";

export type Outcome = {
  status: Exclude<ApprovalStatus, "PENDING">;
  count: number;
  /** The share among ended requests; waiting ones say nothing yet. */
  share: string;
  note: string;
  parts: BarPart[];
};

export function outcomesOf(shares: Shares): { ended: number; outcomes: Outcome[] } {
  const { approved, edited, rejected, expired, cancelled } = shares;
  const parts = partsOf(shares);
  // The others stay, with zero, so that a part looks the same alone as among them.
  const only = (...wanted: string[]) =>
    parts.map((part) => (wanted.includes(part.name) ? part : { ...part, value: 0 }));
  const ends = [
    { status: "APPROVED", count: approved, parts: only(names.approved, names.edited) },
    { status: "REJECTED", count: rejected, parts: only(names.rejected) },
    { status: "EXPIRED", count: expired, parts: only(names.expired) },
    { status: "CANCELLED", count: cancelled, parts: only(names.cancelled) },
  ] as const;
  const ended = approved + rejected + expired + cancelled;
  const percent = percentagesOf(ends.map(({ count }) => count));
  return {
    ended,
    outcomes: ends.map((end, at) => ({
      ...end,
      share: describeShare(percent[at] ?? 0, end.count, ended),
      note: noteOf(end.count, end.status === "APPROVED" ? edited : 0),
    })),
  };
}

/** Every request of the period by outcome, in the order of all pictures. */
export function partsOf(shares: Shares): BarPart[] {
  const { approved, edited, rejected, expired, cancelled, pending } = shares;
  return [
    { name: names.approved, value: approved - edited, tone: "good" },
    { name: names.edited, value: edited, tone: "good" },
    { name: names.rejected, value: rejected, tone: "bad" },
    { name: names.expired, value: expired, tone: "neutral" },
    { name: names.cancelled, value: cancelled, tone: "neutral" },
    { name: names.pending, value: pending, tone: "neutral" },
  ];
}

/** The share of approvals among ended requests, for the table of agents. */
export function approvedShare({ approved, rejected, expired, cancelled }: Shares): string | null {
  const others = rejected + expired + cancelled;
  if (approved + others === 0) return null;
  const [percent = 0] = percentagesOf([approved, others]);
  return describeShare(percent, approved, approved + others);
}

const names = {
  approved: "Approved as asked",
  edited: "Approved, edited",
  rejected: "Rejected",
  expired: "Expired",
  cancelled: "Cancelled",
  pending: "Still waiting",
} as const;

function noteOf(count: number, edited: number): string {
  const requests = `${describeCount(count)} ${count === 1 ? "request" : "requests"}`;
  return edited === 0 ? requests : `${requests}, ${describeCount(edited)} of them edited`;
}
