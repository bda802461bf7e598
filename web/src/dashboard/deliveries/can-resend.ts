// Whether it makes sense to offer to send a delivery again. The service has the last word.

import type { ApprovalStatus } from "../../../../sdk/src/contract.ts";
import type { Delivery } from "../../../../server/src/wire/dashboard-contract.ts";

/** `status` of the request it belongs to; null when that is not known, or there is none. */
export function canResend(
  { state, destination }: Delivery,
  status: ApprovalStatus | null,
): boolean {
  if (state === "due") return false;
  // A mail asks for a decision: afterwards there is nothing to ask for.
  return destination.kind === "endpoint" || status === null || status === "PENDING";
}
