// A request's state as the review page shows it, for readers who may not be the approver.

import type { ApprovalStatus } from "../../../../sdk/src/contract.ts";
import { StatusMark } from "../../look/status-mark.tsx";

export function Status({ status }: { status: ApprovalStatus }) {
  return <StatusMark status={status} pendingWord="Pending" />;
}
