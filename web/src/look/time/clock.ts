// Time on the page: counted from the service's clock at its answer, with our own stopwatch since then. The reader's
// clock may be wrong by years without any effect.

import { words } from "../words.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The service's time, and our stopwatch at that moment. */
export type ClockReading = { now: string; stopwatchMs: number };

export function serviceTime(reading: ClockReading, stopwatchMs: number): number {
  return Date.parse(reading.now) + (stopwatchMs - reading.stopwatchMs);
}

/** Coarse while there is much time, exact when there is little. `isCalm` never counts single seconds. */
export function describeLeft(leftMs: number, { isCalm = false } = {}): string {
  if (leftMs <= 0) return words.time.over;
  if (leftMs < 5 * minute) {
    if (isCalm) return words.time.left(words.time.lessThan(Math.ceil(leftMs / minute)));
    const seconds = Math.ceil(leftMs / second);
    const rest = String(seconds % 60).padStart(2, "0");
    return words.time.left(`${Math.floor(seconds / 60)}:${rest}`);
  }
  return words.time.left(describeSpan(leftMs));
}

/** Rounded down: nobody should count on more time than is left. */
function describeSpan(ms: number): string {
  const { days, hours, minutes } = words.time;
  if (ms >= 2 * day) return days(Math.floor(ms / day));
  if (ms >= day) return [days(1), hoursOf(ms - day)].filter(Boolean).join(" ");
  if (ms >= 3 * hour) return hours(Math.floor(ms / hour));
  if (ms >= hour) {
    const rest = Math.floor((ms % hour) / minute);
    return rest === 0
      ? hours(Math.floor(ms / hour))
      : `${hours(Math.floor(ms / hour))} ${minutes(rest)}`;
  }
  return minutes(Math.max(1, Math.floor(ms / minute)));
}

function hoursOf(ms: number): string {
  const count = Math.floor(ms / hour);
  return count === 0 ? "" : words.time.hours(count);
}

/** How long the words stay the same; waking more often only drains the phone. */
export function nextChangeMs(leftMs: number, { isCalm = false } = {}): number {
  if (leftMs <= 0) return minute;
  if (leftMs <= 5 * minute + second) return isCalm ? 10 * second : (leftMs % second) + 20;
  return Math.min(minute, leftMs - 5 * minute);
}

export function isExpiringSoon(leftMs: number): boolean {
  return leftMs > 0 && leftMs <= 5 * minute;
}
