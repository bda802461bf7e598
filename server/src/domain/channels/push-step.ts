// What a push message says and for how long it is true, and when a person is told again.

import { pushKeptSecondsMax, pushPauseSeconds } from "./push-limits.ts";

/** No words of a request, no address, no id: it shows on a locked screen. */
export function pushText(count: number): string {
  return JSON.stringify({ waiting: count });
}

/** A message that arrives after the last request has ended says nothing true. */
export function keptSeconds(lastEndsAt: Date, now: Date): number {
  const leftSeconds = Math.ceil((lastEndsAt.getTime() - now.getTime()) / 1000);
  return Math.min(Math.max(leftSeconds, 0), pushKeptSecondsMax);
}

export type Telling = {
  /** The count in the last message was made then. */
  toldAt: Date | null;
  now: Date;
  createdAt: Date;
  /** The person is asked once more about the same request. */
  isAgain: boolean;
};

/** Counted says that the last message counted this request, too. Else how long the person is left in peace, or null. */
export function pushTurn(telling: Telling): "counted" | { afterSeconds: number } | null {
  const { toldAt, now, createdAt, isAgain } = telling;
  if (toldAt === null) return null;
  if (!isAgain && createdAt.getTime() <= toldAt.getTime()) return "counted";
  const pauseMs = toldAt.getTime() + pushPauseSeconds * 1000 - now.getTime();
  return pauseMs > 0 ? { afterSeconds: Math.ceil(pauseMs / 1000) } : null;
}
