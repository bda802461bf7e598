// Work that begins because time has passed: expiring, reminding, and setting aside what is due to endpoints that
// were disabled. Sleeps until the next moment at which there is something to do.

import { expiryBatch, reminderBatch, skipBatch } from "../domain/limits.ts";
import * as approvals from "../storage/approvals.ts";
import { type Database, inOneStatement } from "../storage/database.ts";
import * as deliveries from "../storage/deliveries.ts";

export type SweeperOptions = {
  db: Database;
  /** Called when a sweep has made deliveries due. */
  onDue: () => void;
  onFault: (error: unknown) => void;
};

export class Sweeper {
  readonly #options: SweeperOptions;
  #sweeping: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Sweeps now, unless that is being done, and by itself when the next request ends or is to be reminded of. */
  sweep(): void {
    if (this.#sweeping !== null || this.#isStopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#sweeping = this.#sweepAll()
      .catch(this.#options.onFault)
      .finally(() => {
        this.#sweeping = null;
      });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#sweeping;
  }

  async #sweepAll(): Promise<void> {
    const { db } = this.#options;
    const tx = inOneStatement(db);
    const next = await approvals.msUntilNext(db);
    if (isDue(next.expiry)) await this.#expireAll();
    if (isDue(next.reminder)) {
      await this.#repeat(reminderBatch, () => approvals.remindDue(tx, reminderBatch));
    }
    await this.#repeat(skipBatch, () => deliveries.skipDueToDisabled(tx, skipBatch));
    const wasBusy = isDue(next.expiry) || isDue(next.reminder);
    this.#sleepUntil(wasBusy ? await approvals.msUntilNext(db) : next);
  }

  /** A second walk from the beginning finds those that were locked by somebody during the first. */
  async #expireAll(): Promise<void> {
    let from: Date | null = null;
    await this.#repeat(expiryBatch, async () => {
      const { db } = this.#options;
      const { expired, until } = await approvals.expireOverdue(inOneStatement(db), {
        from,
        limit: expiryBatch,
      });
      from = until;
      return expired;
    });
  }

  /** As long as a step has taken a whole batch there may be more. */
  async #repeat(batch: number, step: () => Promise<number>): Promise<void> {
    let taken = batch;
    while (taken === batch && !this.#isStopped) {
      taken = await step();
      if (taken > 0) this.#options.onDue();
    }
  }

  #sleepUntil({ expiry, reminder }: { expiry: number | null; reminder: number | null }): void {
    const ms = Math.min(expiry ?? Number.POSITIVE_INFINITY, reminder ?? Number.POSITIVE_INFINITY);
    // Whoever owns this sweeper polls too, so the far future needs no timer.
    if (ms > farMs || this.#isStopped) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.sweep();
      },
      Math.max(ms + 1, busyPauseMs),
    );
  }
}

const farMs = 60_000;
/** What is due but cannot be had, since others hold it, is looked at again after this. */
const busyPauseMs = 50;

function isDue(ms: number | null): boolean {
  return ms !== null && ms <= 0;
}
