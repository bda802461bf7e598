// How a page reaches its request: by the link of a mail, or signed in to the inbox. Both make the same calls.

import type { ReviewStatus } from "../../../../server/src/wire/review-contract.ts";

export type ReviewAccess = {
  kind: "link" | "inbox";
  /** The calls are below this address. */
  address: string;
  /** The address of the inbox. */
  inbox: string;
  /** The code that the link asks for; null if none is needed. */
  code: string | null;
  /**
   * Calls back whenever the request may have changed, with the news if they came along, until it is stopped; null if
   * nobody tells.
   */
  watch: ((onNews: (status?: ReviewStatus) => void) => () => void) | null;
  /** The session has ended. A link needs none. */
  onSignedOut: () => void;
};
