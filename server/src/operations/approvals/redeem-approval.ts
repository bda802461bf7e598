// Hands an approved action to the one caller that may run it. Every later caller learns who got it and when.

import { type Database, inOneStatement } from "../../database/database.ts";
import { NotReplicated } from "../../database/database-client.ts";
import {
  type Approval,
  type ApprovalState,
  describeResolution,
} from "../../domain/approval/approval.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import * as redemptions from "../../storage/approvals/redemptions.ts";
import { findReplicated } from "../find-replicated.ts";
import { findWithExpiry } from "./expire-approvals.ts";
import { unknownApproval } from "./read-approval.ts";
import { unknownKey } from "./unknown-key.ts";

export type Redeemed = {
  workspaceId: string;
  approval: Approval;
  redemption: redemptions.Redemption;
  /** The same call redeemed it before, and its answer may have been lost. */
  isReplay: boolean;
};

/** Tells programs what the message tells people. */
export type AlreadyRedeemed = Refusal<"already_redeemed"> & {
  readonly redemption: redemptions.Redemption;
};

export type RedeemCall = { keyDigest: Buffer; id: string; idempotencyKey: string | null };

export async function redeemApproval(
  db: Database,
  call: RedeemCall,
): Promise<Redeemed | AlreadyRedeemed | Refusal> {
  const attempt = await redemptions.insert(inOneStatement(db), call);
  if (attempt === null) return unknownKey();
  const { workspaceId, apiKeyId, redeemedAt } = attempt;
  const found = await findWithExpiry(db, workspaceId, call.id);
  if (found === null) return unknownApproval();
  const { approval } = found;
  if (approval.state.kind !== "APPROVED") return notApproved(approval.state);
  const redemption = await redemptions.find(db, { workspaceId, id: call.id });
  // Somebody approved it between the two statements. It stays approved, so this happens once.
  if (redemption === null) return redeemApproval(db, call);
  if (redeemedAt !== null) {
    requireSame(redemption, { redeemedAt, redeemedBy: { id: apiKeyId } });
    return { workspaceId, approval, redemption, isReplay: false };
  }
  const { idempotencyKey, redeemedBy } = redemption;
  const isReplay =
    idempotencyKey !== null && idempotencyKey === call.idempotencyKey && redeemedBy.id === apiKeyId;
  if (!isReplay) return alreadyRedeemed(redemption);
  const where = { workspaceId, id: call.id };
  requireSame(await findReplicated(db, (tx) => redemptions.find(tx, where)), redemption);
  return { workspaceId, approval, redemption, isReplay };
}

type Made = { redeemedAt: Date; redeemedBy: { id: string } };

/**
 * The primary may have changed between two statements, to one that lacks the redemption of the former. It will give the
 * action to somebody else, or already has.
 */
function requireSame(found: Made | null, { redeemedAt, redeemedBy }: Made): void {
  const isSame =
    found?.redeemedBy.id === redeemedBy.id && found.redeemedAt.getTime() === redeemedAt.getTime();
  if (!isSame) throw new NotReplicated("a redemption vanished");
}

function notApproved(state: Exclude<ApprovalState, { kind: "APPROVED" }>): Refusal {
  return state.kind === "PENDING"
    ? refuse(
        "not_approved",
        "This request is still PENDING. Wait for its decision, and redeem it when it is APPROVED.",
      )
    : refuse(
        "not_approved",
        `This request ${describeResolution(state)}. Only an approved request can be redeemed: do not run the action.`,
      );
}

function alreadyRedeemed(redemption: redemptions.Redemption): AlreadyRedeemed {
  const { redeemedAt, redeemedBy } = redemption;
  const message = `This request was redeemed at ${redeemedAt.toISOString()} with the API key ${JSON.stringify(redeemedBy.name)} (${redeemedBy.id}). Do not run the action again: find out there whether it was carried out.`;
  return { ...refuse("already_redeemed", message), redemption };
}
