// The number of pending requests, and how long the oldest has waited. Pressing it shows only those.

import { useEffect, useState } from "react";
import type { PendingNow } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeCount } from "../../look/shares.ts";
import { describeDuration } from "../../look/time/duration.ts";

const tickMs = 15_000;

type PendingNoteProps = {
  pending: PendingNow | null;
  reading: { now: number; at: number } | null;
  isChosen: boolean;
  onChoose: () => void;
};

export function PendingNote({ pending, reading, isChosen, onChoose }: PendingNoteProps) {
  const now = useNow(reading);
  const { count = null, isMore = false, oldestCreatedAt = null } = pending ?? {};
  return (
    <button
      type="button"
      className="requests-pending"
      aria-pressed={isChosen}
      aria-busy={pending === null}
      onClick={onChoose}
    >
      <span className="requests-figure">
        <span className="requests-figure-label">Pending now</span>
        <strong>{count === null ? "–" : `${describeCount(count)}${isMore ? "+" : ""}`}</strong>
      </span>{" "}
      <span className="requests-figure">
        <span className="requests-figure-label">Oldest waits for</span>
        <strong>
          {oldestCreatedAt === null ? "–" : describeDuration(now - Date.parse(oldestCreatedAt))}
        </strong>
      </span>
    </button>
  );
}

/** The service's time: its last answer, plus the time since then here. */
function useNow(reading: PendingNoteProps["reading"]): number {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), tickMs);
    return () => clearInterval(timer);
  }, []);
  return reading === null ? 0 : reading.now + Math.max(0, Date.now() - reading.at);
}
