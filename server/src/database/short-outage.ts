// A switchover or a restart of PostgreSQL takes seconds. Calls wait for its end rather than fail, as long as nothing of
// what they asked can have been done.

import { setTimeout as pause } from "node:timers/promises";

const retryMs = 150;
/** Each keeps its request in memory. */
const waitingMax = 500;

/** Faults after which it is certain that PostgreSQL kept nothing of the work. */
const undone = new WeakSet<object>();

export function markUndone(fault: unknown): void {
  if (typeof fault === "object" && fault !== null) undone.add(fault);
}

export class ShortOutage {
  readonly #longestMs: number;
  #sinceMs: number | null = null;
  #waiting = 0;

  /** An outage that has lasted longer is no short one: calls fail at once. */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Does the work again while it was certainly undone. `isEnding` means that nobody should wait any more. */
  async outlast<Result>(work: () => Promise<Result>, isEnding: () => boolean): Promise<Result> {
    for (;;) {
      try {
        const result = await work();
        this.#sinceMs = null;
        return result;
      } catch (fault) {
        const isUndone = typeof fault === "object" && fault !== null && undone.has(fault);
        if (!isUndone || isEnding() || !(await this.#isWorthAnotherTry())) throw fault;
      }
    }
  }

  async #isWorthAnotherTry(): Promise<boolean> {
    const now = performance.now();
    this.#sinceMs ??= now;
    if (now - this.#sinceMs > this.#longestMs || this.#waiting >= waitingMax) return false;
    this.#waiting += 1;
    // Not all at the same moment.
    await pause(retryMs * (0.5 + Math.random()));
    this.#waiting -= 1;
    return true;
  }
}
