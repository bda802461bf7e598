// The time left, counted from the service's clock.

import { useEffect, useRef, useState } from "react";
import {
  type ClockReading,
  describeLeft,
  isExpiringSoon,
  nextChangeMs,
  serviceTime,
} from "./clock.ts";

/** The service's clock decides, and may be a little behind our count. */
const askAgainMs = 2_000;

type CountdownProps = {
  reading: ClockReading;
  expiresAt: string;
  /** Called once the time is over by our count; the service has the last word. */
  onOver: () => void;
};

export function Countdown({ reading, expiresAt, onOver }: CountdownProps) {
  const left = useTimeLeft(reading, expiresAt, onOver);
  return (
    <span className={isExpiringSoon(left) ? "countdown countdown-soon" : "countdown"} role="timer">
      {describeLeft(left, { isCalm: isCalm() })}
    </span>
  );
}

export function useTimeLeft(reading: ClockReading, expiresAt: string, onOver?: () => void): number {
  const [, setTicks] = useState(0);
  const left = Date.parse(expiresAt) - serviceTime(reading, performance.now());
  const isOver = left <= 0;
  const askedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (isOver && performance.now() - askedAt.current >= askAgainMs) {
      askedAt.current = performance.now();
      onOver?.();
    }
    const wait = isOver
      ? askAgainMs
      : Math.min(nextChangeMs(left, { isCalm: isCalm() }), left + 50);
    const timer = setTimeout(() => setTicks((ticks) => ticks + 1), wait);
    return () => clearTimeout(timer);
  });
  return left;
}

function isCalm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
