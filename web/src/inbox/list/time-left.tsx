// The time that is left for a request of the list.

import type { ClockReading } from "../../look/time/clock.ts";
import { describeLeft, isExpiringSoon } from "../../look/time/clock.ts";
import { useTimeLeft } from "../../look/time/countdown.tsx";
import { toExactTime } from "../../look/time/exact-time.ts";
import { inboxWords } from "../frame/inbox-words.ts";

type TimeLeftProps = { reading: ClockReading; expiresAt: string; onOver?: () => void };

export function TimeLeft({ reading, expiresAt, onOver }: TimeLeftProps) {
  const left = useTimeLeft(reading, expiresAt, onOver);
  return (
    <span
      className={isExpiringSoon(left) ? "row-time countdown-soon" : "row-time"}
      title={toExactTime(expiresAt)}
    >
      <span className="sr-only">{inboxWords.row.decideBy}</span>
      {describeLeft(left)}
    </span>
  );
}
