// A switchover or a restart of PostgreSQL takes seconds. Calls wait for its end rather than fail, as long as nothing of
// what they asked can have been done.

import { setTimeout as pause } from "node:timers/promises";
import type { Holder } from "../domain/fair-queue.ts";
import { currentHolder } from "./holder.ts";
import { isReadOnlyFault } from "./used-connection.ts";

const retryMs = 150;
/** So many tries in this time are no load. */
const calmMax = 100;
/** Each keeps its request in memory. */
const waitingMax = 500;
/** One holder leaves room for the others. */
const waitingPerHolderMax = 250;
/** A fault that nothing has met for so long belongs to an outage that is over. */
const quietMs = 10_000;

/** Faults after which it is certain that PostgreSQL kept nothing of the work. */
const undone = new WeakSet<object>();

export function markUndone(fault: unknown): void {
  if (typeof fault === "object" && fault !== null) undone.add(fault);
}

export function isUndone(fault: unknown): boolean {
  return typeof fault === "object" && fault !== null && undone.has(fault);
}

/** What calls meet since a moment, and last met. */
type Stretch = { sinceMs: number; lastMs: number };

export class ShortOutage {
  readonly #longestMs: number;
  /** No connection can be had, or none that lasts. Any success ends it. */
  #away: Stretch | null = null;
  /** Reads succeed all the while, so that only work which met it can tell its end. */
  #readOnly: Stretch | null = null;
  readonly #waitingOf = new Map<Holder, number>();
  #waiting = 0;

  /** An outage that has lasted longer is no short one: calls fail at once. */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Does the work again while it was certainly undone. `isEnding` means that nobody should wait any more. */
  async outlast<Result>(work: () => Promise<Result>, isEnding: () => boolean): Promise<Result> {
    const startedMs = performance.now();
    let hasMetReadOnly = false;
    for (;;) {
      try {
        const result = await work();
        this.#away = null;
        if (hasMetReadOnly) this.#readOnly = null;
        return result;
      } catch (fault) {
        if (!isUndone(fault) || isEnding()) throw fault;
        const now = performance.now();
        const isReadOnly = isReadOnlyFault(fault);
        hasMetReadOnly ||= isReadOnly;
        const outageSinceMs = this.#note(isReadOnly, now);
        // The outage seems to begin anew whenever others succeed. Nobody waits for longer because of that.
        const leftMs = Math.min(startedMs, outageSinceMs) + this.#longestMs - now;
        if (leftMs < 0 || !(await this.#wait(leftMs)) || isEnding()) throw fault;
      }
    }
  }

  /** Answers since when calls meet this. */
  #note(isReadOnly: boolean, now: number): number {
    const known = isReadOnly ? this.#readOnly : this.#away;
    const isOver = known === null || now - known.lastMs > quietMs;
    const stretch = { sinceMs: isOver ? now : known.sinceMs, lastMs: now };
    if (isReadOnly) this.#readOnly = stretch;
    else this.#away = stretch;
    return stretch.sinceMs;
  }

  /** Answers false at once if too many wait already. The service itself, which asks for many calls at once, always may. */
  async #wait(leftMs: number): Promise<boolean> {
    const holder = currentHolder();
    const leave = holder === null ? () => {} : this.#enter(holder);
    if (leave === null) return false;
    // Not all at the same moment, and each more seldom the more they are: every try may be a connection of its own.
    const ms = retryMs * (0.5 + Math.random()) * Math.max(1, this.#waiting / calmMax);
    await pause(Math.min(ms, leftMs + retryMs));
    leave();
    return true;
  }

  /** Null if there is no place. */
  #enter(holder: Holder): (() => void) | null {
    const its = this.#waitingOf.get(holder) ?? 0;
    if (this.#waiting >= waitingMax || its >= waitingPerHolderMax) return null;
    this.#waiting += 1;
    this.#waitingOf.set(holder, its + 1);
    return () => {
      this.#waiting -= 1;
      const left = (this.#waitingOf.get(holder) ?? 0) - 1;
      if (left > 0) this.#waitingOf.set(holder, left);
      else this.#waitingOf.delete(holder);
    };
  }
}
