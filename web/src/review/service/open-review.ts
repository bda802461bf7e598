// A review as it is on the screen.

import type { Review } from "../../../../server/src/wire/review-contract.ts";

/** Its ticket is renewed with its status. */
export type OpenReview = Review & {
  /** The ticket that came with the data: it tells the service since when they are on the screen. */
  opened: string;
};
