// What the reader can sign with. Somebody who went to add a passkey and comes back finds this page ready.

import { useEffect, useState } from "react";
import type { Review, ReviewSigning } from "../../../../server/src/wire/review-contract.ts";
import type { ReviewAccess } from "../service/access.ts";
import { isFailure, open } from "../service/calls.ts";

export function useSigning(
  { signing: first, outcome }: Review,
  access: ReviewAccess,
): ReviewSigning | undefined {
  const [signing, setSigning] = useState(first);
  const isMissing =
    outcome === null && signing?.needed === true && signing.credentials.length === 0;
  useEffect(() => {
    if (!isMissing) return;
    const look = async () => {
      if (document.visibilityState !== "visible") return;
      const page = await open(access);
      if (isFailure(page) || page.kind !== "review") return;
      if (page.review.signing !== undefined) setSigning(page.review.signing);
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [isMissing]);
  return signing;
}
