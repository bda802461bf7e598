// The published surface of @countersign/sdk/proof: verifying without the service.

import { assertApproved, verifyReceipt } from "./receipt.ts";

export type { PinnedCredential } from "./assertion.ts";
export type { Assertion, Digested, ReceiptClaims, SignedVote } from "./claims.ts";
export type { KeySet, PublishedKey } from "./key-set.ts";
export type { LogProofs } from "./log-proof.ts";
export {
  assertApproved,
  type Payload,
  type ReceiptLevel,
  type RefusedReceipt,
  type VerifiedReceipt,
  type VerifyReceiptOptions,
} from "./receipt.ts";
export { ReceiptError, type ReceiptFlaw } from "./receipt-flaw.ts";

export const receipts = { verify: verifyReceipt, assertApproved } as const;
