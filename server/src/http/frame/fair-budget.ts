// Shares a scarce resource between holders: bytes in memory, or turns at heavy work. No holder gets more than its
// share, and waiting holders take turns.

export type Lease = {
  /** Gives the amount back. A second call does nothing. */
  release(): void;
};

export type BudgetLimits = {
  total: number;
  /** A holder that has nothing else may borrow one amount above its share. */
  perHolder: number;
  waitingMax?: number;
  waitingPerHolderMax?: number;
};

type Waiting = { amount: number; grant: (lease: Lease) => void };

export class FairBudget {
  readonly #limits: Required<BudgetLimits>;
  readonly #heldBy = new Map<string, number>();
  /** In the order of their next turns: a holder that got one and waits for more goes to the end. */
  readonly #queues = new Map<string, Waiting[]>();
  #held = 0;
  #waiting = 0;
  /** Somebody waits for more than is left. Nobody may pass then, or large amounts would starve behind small ones. */
  #isTotalAwaited = false;

  constructor({ waitingMax = 0, waitingPerHolderMax = waitingMax, ...limits }: BudgetLimits) {
    this.#limits = { ...limits, waitingMax, waitingPerHolderMax };
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting;
  }

  heldBy(holder: string): number {
    return this.#heldBy.get(holder) ?? 0;
  }

  /** Whether the holder's own share is the reason to wait. */
  isOverShare(holder: string, amount: number): boolean {
    const held = this.heldBy(holder);
    return held > 0 && held + amount > this.#limits.perHolder;
  }

  /** At once, or null. */
  take(holder: string, amount: number): Lease | null {
    const isBehind = this.#isTotalAwaited || this.#queues.has(holder);
    return !isBehind && this.#fits(holder, amount) ? this.takeAnyway(holder, amount) : null;
  }

  /** For bytes that are in memory already and can't be refused: others are held back by them. */
  takeAnyway(holder: string, amount: number): Lease {
    this.#add(holder, amount);
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#add(holder, -amount);
        this.#grantNext();
      },
    };
  }

  /** Waits for its turn. Null when too many wait already, or when `signal` ends the wait. */
  async wait(holder: string, amount: number, signal: AbortSignal): Promise<Lease | null> {
    if (signal.aborted) return null;
    const taken = this.take(holder, amount);
    if (taken !== null) return taken;
    const queue = this.#queues.get(holder) ?? [];
    const { waitingMax, waitingPerHolderMax } = this.#limits;
    const isFull = this.#waiting >= waitingMax || queue.length >= waitingPerHolderMax;
    if (isFull) return null;
    return new Promise((resolve) => {
      const onAbort = () => {
        this.#leave(holder, entry);
        this.#grantNext();
        resolve(null);
      };
      const entry: Waiting = {
        amount,
        grant: (lease) => {
          signal.removeEventListener("abort", onAbort);
          resolve(lease);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      queue.push(entry);
      this.#queues.set(holder, queue);
      this.#waiting += 1;
      // Behind its holder's own entry it waits for that entry, not for the total.
      this.#isTotalAwaited ||= queue[0] === entry && !this.isOverShare(holder, amount);
    });
  }

  /** Passes over holders that wait for their own share. */
  #grantNext(): void {
    this.#isTotalAwaited = false;
    for (const [holder, queue] of this.#queues) {
      const [next] = queue;
      if (next === undefined || this.isOverShare(holder, next.amount)) continue;
      if (!this.#fits(holder, next.amount)) {
        this.#isTotalAwaited = true;
        return;
      }
      this.#leave(holder, next);
      // Inserted again, at the end, so the loop comes by again.
      if (queue.length > 0) {
        this.#queues.delete(holder);
        this.#queues.set(holder, queue);
      }
      next.grant(this.takeAnyway(holder, next.amount));
    }
  }

  #leave(holder: string, entry: Waiting): void {
    const queue = this.#queues.get(holder) ?? [];
    const at = queue.indexOf(entry);
    if (at === -1) return;
    queue.splice(at, 1);
    this.#waiting -= 1;
    if (queue.length === 0) this.#queues.delete(holder);
  }

  #fits(holder: string, amount: number): boolean {
    const hasRoom = this.#held === 0 || this.#held + amount <= this.#limits.total;
    return hasRoom && !this.isOverShare(holder, amount);
  }

  #add(holder: string, amount: number): void {
    this.#held += amount;
    const held = this.heldBy(holder) + amount;
    if (held === 0) this.#heldBy.delete(holder);
    else this.#heldBy.set(holder, held);
  }
}
