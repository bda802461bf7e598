// Cancels a pending approval for a member of its workspace. The agent's own cancel is cancel-approval.ts; both end in
// the same state, with the same event.

import type { Database } from "../../database/database.ts";
import { describeResolution } from "../../domain/approval/approval.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import type { MemberDoer } from "../../domain/workspace/activity.ts";
import * as approvalResolution from "../../storage/approvals/approval-resolution.ts";
import * as approvals from "../../storage/approvals/approvals.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTransactionBy } from "../transaction-by.ts";
import { findWithExpiry } from "./expire-approvals.ts";

export async function cancelByMember(
  db: Database,
  id: string,
  by: MemberDoer,
): Promise<approvals.FoundApproval | Refusal<"not_found" | "already_resolved" | "forbidden">> {
  const { workspaceId, actor } = by;
  const cancelled = await inTransactionBy(db, by, async (tx) => {
    const where = { workspaceId, id };
    if (!(await approvalResolution.resolve(tx, where, { status: "CANCELLED" }))) return null;
    const found = await approvals.find(tx, workspaceId, id);
    if (found === null) throw new Error(`approval ${id} vanished`);
    const action = "request.withdrawn"; // the stored name of a member's cancel
    await activity.insert(tx, { workspaceId, actor, action, subject: id, detail: { request: id } });
    return found;
  });
  if (cancelled !== null) return cancelled;
  const found = await findWithExpiry(db, workspaceId, id);
  if (found === null) return noSuchRequest();
  const { state } = found.approval;
  if (state.kind === "PENDING") throw new Error(`approval ${id} could not be cancelled`);
  return refuse(
    "already_resolved",
    `This request ${describeResolution(state)} and cannot be cancelled any more.`,
  );
}

export function noSuchRequest(): Refusal<"not_found"> {
  return refuse(
    "not_found",
    "There is no such request in this workspace. Look for it in the list of requests.",
  );
}
