// What surrounds an open request: the page behind a link has our mark and a title of its own, the inbox has its list.

import type { ReactNode } from "react";
import type { Review, ReviewOutcome } from "../../../server/src/wire/review-contract.ts";
import { Brand } from "../look/brand.tsx";
import { words } from "../look/words.ts";
import type { ReadReview } from "./read-review.ts";

export type ReviewFrame = {
  /** At the top, beside the state. */
  start: ReactNode;
  /** Below what became of the request, once there is nothing left to do. */
  afterwards: (review: Review) => ReactNode;
  onStatus: (status: ReviewOutcome["status"] | null) => void;
  /** Whether all of it has been on the screen by now, to its end, and nothing is typed. */
  onRead: (read: ReadReview | null) => void;
};

export const linkFrame: ReviewFrame = {
  start: <Brand />,
  afterwards: ({ outcome, othersWaiting }) =>
    outcome !== null &&
    othersWaiting > 0 && (
      <p className="others">
        {words.othersWait(othersWaiting)} <a href="../inbox">{words.toInbox}</a>
      </p>
    ),
  onStatus: (status) => {
    document.title = words.pageTitle(status);
  },
  onRead: () => {},
};
