// A time in the reader's own words, and on demand the exact one in UTC.

import { useSyncExternalStore } from "react";
import { toExactTime } from "../../look/time/exact-time.ts";
import { Instant } from "../../look/time/instant.tsx";
import { toLocalTime } from "../../look/time/local-time.ts";
import { toRelativeTime } from "./relative-time.ts";

type WhenProps = {
  at: string;
  /** "3 minutes ago" instead of day and time. */
  isRelative?: boolean;
  /** No button of its own, for use inside a link or another button. */
  isPlain?: boolean;
};

export function When({ at, isRelative = false, isPlain = false }: WhenProps) {
  const now = useMinute();
  const said = isRelative ? toRelativeTime(at, now) : toLocalTime(at);
  if (!isPlain) return <Instant at={at} said={said} />;
  return (
    <time className="when" dateTime={at} title={toExactTime(at)}>
      {said}
    </time>
  );
}

const tickMs = 30_000;
const staleMs = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

/** One clock for all times on a page. It runs while one of them is shown. */
function useMinute(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // A new event must not lie ahead of a clock that ticks seldom.
  if (Date.now() - now > staleMs) now = Date.now();
  timer ??= setInterval(tick, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
