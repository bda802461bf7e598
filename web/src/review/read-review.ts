// A request that was on the screen as a whole, to its end, with nothing typed.

import type { OpenReview } from "./service/open-review.ts";

export type ReadReview = {
  review: OpenReview;
  /** How many places deserve a look. */
  warnings: number;
};
