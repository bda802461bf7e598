// The end of the time to decide. Our own words, outside of any frame.

import type { Review } from "../../../../server/src/wire/review-contract.ts";
import type { ClockReading } from "../../look/time/clock.ts";
import { Countdown } from "../../look/time/countdown.tsx";
import { Instant } from "../../look/time/instant.tsx";
import { words } from "../../look/words.ts";

type DeadlineProps = { review: Review; reading: ClockReading; onOver: () => void };

export function Deadline({ review: { expiresAt, outcome }, reading, onOver }: DeadlineProps) {
  return (
    <p className="deadline">
      <span className="quiet">{words.timeLeft}</span> <Instant at={expiresAt} />
      {outcome === null && <Countdown reading={reading} expiresAt={expiresAt} onOver={onOver} />}
    </p>
  );
}
