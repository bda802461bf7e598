// Reminds everybody who can still vote, for the agent that asked.

import type { Database } from "../../database/database.ts";
import type { Approval } from "../../domain/approval/approval.ts";
import { describeResolution } from "../../domain/approval/approval.ts";
import { remindPauseMinutes } from "../../domain/approval/voting-limits.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import { remind } from "../votings/remind.ts";
import { findWithExpiry } from "./expire-approvals.ts";
import { unknownApproval } from "./read-approval.ts";
import { unknownKey } from "./unknown-key.ts";

export type RemindedTooEarly = Refusal<"reminded_recently"> & { retryAfterSeconds: number };

/** `onDue` is called when somebody is to be mailed. */
export async function remindApproval(
  { db, onDue }: { db: Database; onDue: () => void },
  keyDigest: Buffer,
  id: string,
): Promise<{ workspaceId: string; approval: Approval } | RemindedTooEarly | Refusal> {
  const workspaceId = await apiKeys.findWorkspaceId(db, keyDigest);
  if (workspaceId === null) return unknownKey();
  const result = await remind(db, { workspaceId, approvalId: id });
  if (result.kind === "reminded") onDue();
  if (result.kind === "too_early") return tooEarly(result.retryAfterSeconds);
  if (result.kind === "nobody") return refuse("nobody_to_remind", nobodyToRemind);
  const found = await findWithExpiry(db, workspaceId, id);
  if (found === null) return unknownApproval();
  const { approval } = found;
  if (result.kind === "reminded" || approval.state.kind === "PENDING") {
    return { workspaceId, approval };
  }
  return refuse(
    "already_resolved",
    `This request ${describeResolution(approval.state)}, so nobody is asked any more. Read it to learn its outcome.`,
  );
}

export const nobodyToRemind =
  "Nobody can vote on this request just now: those who are left have voted, or were removed. Nobody was mailed.";

export function tooEarly(retryAfterSeconds: number): RemindedTooEarly {
  const message = `Everybody was reminded within the last ${remindPauseMinutes} minutes. Try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`;
  return { refusal: "reminded_recently", message, retryAfterSeconds };
}
