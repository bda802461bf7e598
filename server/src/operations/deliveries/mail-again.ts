// Sends the mails that ask for a decision once more, to everybody who may still decide.

import type { Database } from "../../database/database.ts";
import { describeResolution } from "../../domain/approval/approval.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import type { MemberDoer } from "../../domain/workspace/activity.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as resending from "../../storage/deliveries/resending.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { noSuchRequest } from "../approvals/cancel-by-member.ts";
import { findWithExpiry } from "../approvals/expire-approvals.ts";
import { inTransactionBy } from "../transaction-by.ts";
import { tooOftenMailed } from "./resend-in-workspace.ts";

export async function mailAgain(
  db: Database,
  id: string,
  by: MemberDoer,
): Promise<
  { sent: number } | Refusal<"not_found" | "already_resolved" | "conflict" | "forbidden">
> {
  const { workspaceId, actor } = by;
  const found = await findWithExpiry(db, workspaceId, id);
  if (found === null) return noSuchRequest();
  const { state } = found.approval;
  if (state.kind !== "PENDING") {
    return refuse(
      "already_resolved",
      `This request ${describeResolution(state)}, so there is nothing to ask anybody for.`,
    );
  }
  return inTransactionBy(db, by, async (tx) => {
    const { sent, underWay } = await resending.resendReviewMails(tx, {
      workspaceId,
      approvalId: id,
    });
    if (sent === 0) return underWay > 0 ? mailUnderWay() : nobodyToAsk();
    await activity.insert(tx, {
      workspaceId,
      actor,
      action: "request.mailed_again",
      subject: id,
      detail: { request: id, mails: String(sent) },
    });
    await newDeliveries.announceDue(tx);
    return { sent };
  });
}

function mailUnderWay(): Refusal<"conflict"> {
  return refuse("conflict", tooOftenMailed);
}

function nobodyToAsk(): Refusal<"conflict"> {
  return refuse(
    "conflict",
    "Nobody who was asked may still decide. Add them to the group again, or cancel this request and let the agent ask again.",
  );
}
