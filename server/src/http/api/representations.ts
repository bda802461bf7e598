// How approvals look in answers: the fields of the contract, held to it by the compiler.

import { hash } from "node:crypto";
import type {
  ApprovalRequest,
  ApprovalRequestList,
  RedeemedRequest,
  RedemptionFacts,
} from "../../../../sdk/src/contract.ts";
import type { Approval } from "../../domain/approval/approval.ts";
import {
  approvalFields,
  type JsonFields,
  joinFields,
} from "../../domain/approval/approval-json.ts";
import { type JsonText, toJsonText } from "../../domain/shown/json-text.ts";
import type { Redemption } from "../../storage/approvals/redemptions.ts";

export function representApproval(approval: Approval): string {
  return joinFields(fieldsOf(approval));
}

/**
 * The request as it is read, then the redemption and the receipt. Reads tell neither: an approved request doesn't
 * change.
 */
export function representRedeemed(
  approval: Approval,
  redemption: Redemption,
  receipt: string | null,
): string {
  const { redeemedAt, redeemedBy } = representRedemption(redemption);
  return joinFields({
    ...fieldsOf(approval),
    redeemedAt: toJsonText(redeemedAt),
    redeemedBy: toJsonText(redeemedBy),
    receipt: toJsonText(receipt),
  } satisfies JsonFields<RedeemedRequest>);
}

export function representRedemption({ redeemedAt, redeemedBy }: Redemption): RedemptionFacts {
  return { redeemedAt: redeemedAt.toISOString(), redeemedBy };
}

export function representList(approvals: Approval[], nextCursor: string | null): string {
  return joinFields({
    data: `[${approvals.map(representApproval).join(",")}]` as JsonText,
    hasMore: toJsonText(nextCursor !== null),
    nextCursor: toJsonText(nextCursor),
  } satisfies JsonFields<ApprovalRequestList>);
}

function fieldsOf(approval: Approval) {
  return {
    id: toJsonText(approval.id),
    object: toJsonText("approval_request"),
    ...approvalFields(approval),
    createdAt: toJsonText(approval.createdAt.toISOString()),
  } satisfies JsonFields<ApprovalRequest>;
}

/**
 * An approval changes once, when it leaves PENDING, so its status alone tells its versions apart. Votes change it before
 * that, where several people decide. Change the number when this file begins to write other fields.
 */
export function entityTag({ state, voting }: Approval): string {
  const status = state.kind.toLowerCase();
  if (voting === null) return `"1-${status}"`;
  return `"1-${status}-${hash("sha256", voting).slice(0, 16)}"`;
}
