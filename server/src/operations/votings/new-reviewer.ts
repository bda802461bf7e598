// A link for somebody who is asked: the makings of it, of which the token itself is stored nowhere.

import { randomBytes } from "node:crypto";
import type { Keyring } from "../../domain/access/keyring.ts";
import {
  deriveReviewToken,
  digestOfReviewToken,
  reviewLinkNonceBytes,
} from "../../domain/access/review-link.ts";
import type { NewReviewer } from "../../storage/approvals/approval-creation.ts";

export function newReviewer(email: string, keyring: Keyring): NewReviewer {
  const tokenNonce = randomBytes(reviewLinkNonceBytes);
  const tokenDigest = digestOfReviewToken(deriveReviewToken(keyring.current, tokenNonce));
  return { email, tokenNonce, tokenDigest };
}
