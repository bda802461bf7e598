// Lets a bounded number of users in at a time, in fair turns, and never all of them for the same holder.

import { FairQueue, type Holder } from "../domain/fair-queue.ts";

export type TurnstileOptions = {
  placesMax: number;
  /** The most places of one holder at a time. */
  perHolderMax: number;
  /** The last places go only to holders who have none yet. */
  keptFree: number;
};

export class Turnstile {
  readonly #options: TurnstileOptions;
  readonly #waiting = new FairQueue<() => void>();
  readonly #taken = new Map<Holder, number>();
  #inUse = 0;

  constructor(options: TurnstileOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  waitingOf(holder: Holder): number {
    return this.#waiting.sizeOf(holder);
  }

  takenBy(holder: Holder): number {
    return this.#taken.get(holder) ?? 0;
  }

  /** Runs `work` when it is its turn. Others come in between two of them, whatever the work costs. */
  async pass<Result>(holder: Holder, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((resolve) => this.queue(holder, resolve));
    try {
      return await work();
    } finally {
      setImmediate(() => this.leave(holder));
    }
  }

  /** Calls `enter` at once or when it is its turn. The returned function leaves the queue. */
  queue(holder: Holder, enter: () => void): () => void {
    if (this.#mayEnter(holder) && this.#waiting.sizeOf(holder) === 0) {
      this.#admit(holder, enter);
      return () => {};
    }
    this.#waiting.push(holder, enter);
    return () => this.#waiting.remove(holder, enter);
  }

  /** Gives back the place of `holder`. */
  leave(holder: Holder): void {
    this.#inUse -= 1;
    const taken = this.takenBy(holder) - 1;
    if (taken === 0) this.#taken.delete(holder);
    else this.#taken.set(holder, taken);
    for (let next = this.#next(); next !== null; next = this.#next()) {
      this.#admit(next.holder, next.item);
    }
  }

  /** The service itself comes first: it asks for many callers at once. */
  #next() {
    const isService = this.#waiting.sizeOf(null) > 0;
    return this.#waiting.take((holder) =>
      isService && this.#mayEnter(null) ? holder === null : this.#mayEnter(holder),
    );
  }

  #admit(holder: Holder, enter: () => void): void {
    this.#inUse += 1;
    this.#taken.set(holder, this.takenBy(holder) + 1);
    enter();
  }

  #mayEnter(holder: Holder): boolean {
    const { placesMax, perHolderMax, keptFree } = this.#options;
    const free = placesMax - this.#inUse;
    if (holder === null) return free > 0;
    const taken = this.takenBy(holder);
    return taken === 0 ? free > 0 : taken < perHolderMax && free > keptFree;
  }
}
