// Keeps an open page true: asks for the state when it is shown, when there is news, when the reader comes back, and now
// and then in case no news come.

import { useEffect, useRef, useState } from "react";
import type { Review, ReviewStatus } from "../../../server/src/wire/review-contract.ts";
import type { ClockReading } from "../look/time/clock.ts";
import type { ReviewAccess } from "./service/access.ts";
import { isFailure, readStatus } from "./service/calls.ts";
import type { OpenReview } from "./service/open-review.ts";
import { revisionOf } from "./voting/revision.ts";

const pollMs = 20_000;

export function useReview(first: Review, readAt: number, access: ReviewAccess) {
  const [review, setReview] = useState<OpenReview>(() => ({ ...first, opened: first.ticket }));
  const [reading, setReading] = useState<ClockReading>({ now: first.now, stopwatchMs: readAt });
  const [isGone, setGone] = useState(false);
  const [revision] = useState(() => revisionOf(first));
  const isPending = review.outcome === null && !isGone;
  const heardAt = useRef(0);
  const update = (status: ReviewStatus) => {
    heardAt.current = performance.now();
    setReading({ now: status.now, stopwatchMs: performance.now() });
    setReview((before) => ({ ...before, ...status, outcome: before.outcome ?? status.outcome }));
  };
  const asking = useRef<"no" | "yes" | "again">("no");
  const refresh = async () => {
    if (asking.current !== "no") {
      // The answer on its way may be older than what happened since.
      asking.current = "again";
      return;
    }
    asking.current = "yes";
    const status = await readStatus(access);
    if (!isFailure(status)) update(status);
    else if (status.code === "not_found") setGone(true);
    // It changes while the answer is awaited.
    const isAgain = (asking.current as string) === "again";
    asking.current = "no";
    if (isAgain && !isFailure(status)) refresh();
  };
  useEffect(() => {
    if (!isPending) return;
    const look = () => {
      if (document.visibilityState === "visible") refresh();
    };
    // At once as well: the first question tells the service that the page was shown.
    look();
    const timer = setInterval(() => {
      // News that came by themselves were no older.
      if (performance.now() - heardAt.current >= pollMs / 2) look();
    }, pollMs);
    document.addEventListener("visibilitychange", look);
    const stopWatching = access.watch?.((status) => {
      if (status === undefined) void refresh();
      else update(status);
    });
    return () => {
      clearInterval(timer);
      stopWatching?.();
      document.removeEventListener("visibilitychange", look);
    };
  }, [isPending]);
  /** Somebody changed the payload since this page was made: the votes are on another text than it shows. */
  const isOtherText = (review.voting?.revision ?? revision) !== revision;
  const isOutdated = isPending && isOtherText;
  return { review, reading, isGone, isOutdated, isOtherText, update, refresh };
}
