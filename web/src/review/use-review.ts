// Keeps an open page true: asks for the state when it is shown, now and then, and when the reader comes back.

import { useEffect, useRef, useState } from "react";
import type { Review, ReviewStatus } from "../../../server/src/wire/review-contract.ts";
import type { ClockReading } from "../look/time/clock.ts";
import { isFailure, readStatus } from "./calls.ts";

const pollMs = 20_000;

export function useReview(first: Review, readAt: number, code: string | null) {
  const [review, setReview] = useState(first);
  const [reading, setReading] = useState<ClockReading>({ now: first.now, stopwatchMs: readAt });
  const [isGone, setGone] = useState(false);
  const isPending = review.outcome === null && !isGone;
  const update = (status: ReviewStatus) => {
    setReading({ now: status.now, stopwatchMs: performance.now() });
    setReview((before) => ({ ...before, ...status, outcome: before.outcome ?? status.outcome }));
  };
  const isAsking = useRef(false);
  const refresh = async () => {
    if (isAsking.current) return;
    isAsking.current = true;
    const status = await readStatus(code);
    isAsking.current = false;
    if (!isFailure(status)) update(status);
    else if (status.code === "not_found") setGone(true);
  };
  useEffect(() => {
    if (!isPending) return;
    const look = () => {
      if (document.visibilityState === "visible") refresh();
    };
    // At once as well: the first question tells the service that the page was shown.
    look();
    const timer = setInterval(look, pollMs);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [isPending]);
  return { review, reading, isGone, update, refresh };
}
