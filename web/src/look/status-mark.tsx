// A state as a shape and a word, never as a colour alone.

import type { ApprovalStatus } from "../../../sdk/src/contract.ts";
import { words } from "./words.ts";

const shapes: Record<ApprovalStatus, string> = {
  PENDING: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11",
  APPROVED: "M2.8 8.6l3.4 3.4l7-7.6",
  REJECTED: "M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4",
  EXPIRED: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M8 5v3.2l2.2 1.4",
  CANCELLED: "M6.5 4L2.8 7.7l3.7 3.7M3 7.7h6.2a4 4 0 0 1 4 4v.8",
};

type StatusMarkProps = {
  status: ApprovalStatus;
  /** The word for a pending request when the reader isn't its approver. */
  pendingWord?: string;
};

export function StatusMark({ status, pendingWord = words.outcome.pending }: StatusMarkProps) {
  const word = status === "PENDING" ? pendingWord : words.outcome[status];
  return (
    <span className={`status status-${status.toLowerCase()}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d={shapes[status]} />
      </svg>
      {word}
    </span>
  );
}
