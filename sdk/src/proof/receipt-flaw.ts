// Why a receipt isn't believed: a closed list, the same for every verifier that the vectors are run with.

import { CountersignError } from "../errors.ts";

export type ReceiptFlaw =
  | "malformed"
  | "wrong_type"
  | "wrong_algorithm"
  | "key_unknown"
  | "key_retired"
  | "key_revoked"
  | "signature_invalid"
  | "wrong_issuer"
  | "wrong_audience"
  | "expired"
  | "not_yet_valid"
  | "rejected"
  | "payload_differs"
  | "payload_same_value"
  | "embedded_differs"
  | "assertion_missing"
  | "assertion_invalid"
  | "assertion_other_request"
  | "assertion_other_payload"
  | "assertion_other_verdict"
  | "assertion_other_audience"
  | "assertion_not_verified"
  | "credential_unknown"
  | "proof_invalid";

/** The receipt doesn't allow what is about to be done. `code` says why. Nothing must run. */
export class ReceiptError extends CountersignError {
  override readonly name = "ReceiptError";
  declare readonly code: ReceiptFlaw;

  constructor(code: ReceiptFlaw, message: string) {
    super(message, { code });
  }
}
