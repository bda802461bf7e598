// Reminds everybody who can still vote, for a member of the workspace. The agent's own reminder is remind-approval.ts;
// both share the pause between two of them.

import type { Database } from "../../database/database.ts";
import { describeResolution } from "../../domain/approval/approval.ts";
import { isRefusal, type Refusal, refuse } from "../../domain/refusal.ts";
import type { MemberDoer } from "../../domain/workspace/activity.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTransactionBy } from "../transaction-by.ts";
import { remindIn } from "../votings/remind.ts";
import { noSuchRequest } from "./cancel-by-member.ts";
import { findWithExpiry } from "./expire-approvals.ts";
import { nobodyToRemind, tooEarly } from "./remind-approval.ts";

type RemindRefusal = Refusal<
  "not_found" | "already_resolved" | "rate_limited" | "conflict" | "forbidden"
>;

export async function remindByMember(
  db: Database,
  id: string,
  by: MemberDoer,
): Promise<{ reminded: number } | RemindRefusal> {
  const { workspaceId, actor } = by;
  const found = await findWithExpiry(db, workspaceId, id);
  if (found === null) return noSuchRequest();
  const { state } = found.approval;
  const done = await inTransactionBy(db, by, async (tx) => {
    const reminded = await remindIn(tx, { workspaceId, approvalId: id });
    if (reminded.kind !== "reminded") return reminded;
    const detail = { request: id, mails: String(reminded.people) };
    const action = "request.reminded";
    await activity.insert(tx, { workspaceId, actor, action, subject: id, detail });
    await newDeliveries.announceDue(tx);
    return reminded;
  });
  if (isRefusal(done)) return done;
  switch (done.kind) {
    case "reminded":
      return { reminded: done.people };
    case "too_early":
      return refuse("rate_limited", tooEarly(done.retryAfterSeconds).message);
    case "nobody":
      return refuse("conflict", nobodyToRemind);
    case "not_found":
      return noSuchRequest();
    case "closed":
      return refuse(
        "already_resolved",
        `This request ${state.kind === "PENDING" ? "was decided just now" : describeResolution(state)}, so nobody is asked any more.`,
      );
    default:
      return done satisfies never;
  }
}
