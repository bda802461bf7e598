// An approval: one action that somebody is asked to countersign, its states, and what follows from them.

import type { JsonText } from "../shown/json-text.ts";
import type { Submitted } from "../shown/submitted-fields.ts";

export type Approver =
  | { kind: "address"; email: string }
  | { kind: "group"; key: string; name: string };

export type ApprovalState =
  | { kind: "PENDING" }
  | { kind: "APPROVED"; at: Date; byEmail: string; note: string | null; edit: JsonText | null }
  | { kind: "REJECTED"; at: Date; byEmail: string; note: string | null }
  | { kind: "EXPIRED"; at: Date }
  | { kind: "CANCELLED"; at: Date };

export type ApprovalStatus = ApprovalState["kind"];

export const approvalStatuses = [
  "PENDING",
  "APPROVED",
  "REJECTED",
  "EXPIRED",
  "CANCELLED",
] as const satisfies readonly ApprovalStatus[];

export type Approval = Submitted<JsonText> & {
  id: string;
  approver: Approver;
  createdAt: Date;
  expiresAt: Date;
  state: ApprovalState;
  /** `approvals` as answers tell it; null where one person decides. */
  voting: JsonText | null;
};

/** The payload to execute: a person's edit wins over what the agent sent. */
export function effectivePayload(approval: Approval): JsonText | null {
  return editOf(approval.state) ?? approval.payload;
}

export function editOf(state: ApprovalState): JsonText | null {
  return state.kind === "APPROVED" ? state.edit : null;
}

/** Tells a caller who came too late how an approval has already ended. */
export function describeResolution(state: Exclude<ApprovalState, { kind: "PENDING" }>): string {
  const at = state.at.toISOString();
  switch (state.kind) {
    case "APPROVED":
      return `was approved by ${state.byEmail} at ${at}`;
    case "REJECTED":
      return `was rejected by ${state.byEmail} at ${at}`;
    case "EXPIRED":
      return `expired at ${at}`;
    case "CANCELLED":
      return `was cancelled at ${at}`;
    default:
      return state satisfies never;
  }
}
