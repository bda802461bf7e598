// Does the work that begins because time has passed: expires, reminds, skips deliveries that are due to disabled
// endpoints, and cancels what was created while its group was deleted. Sleeps until the next moment with something to do.

import { type Database, inOneStatement } from "../database/database.ts";
import { isTooSlow } from "../database/faults.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { stepBatch } from "../domain/approval/voting-limits.ts";
import { expiryBatch, reminderBatch, skipBatch } from "../domain/limits.ts";
import { cancelStranded } from "../operations/people/delete-group.ts";
import { beginAbsences, endAbsences } from "../operations/votings/begin-absences.ts";
import { checkRemoved } from "../operations/votings/check-people.ts";
import { takeSteps } from "../operations/votings/take-steps.ts";
import * as approvalResolution from "../storage/approvals/approval-resolution.ts";
import * as reminding from "../storage/approvals/reminding.ts";
import * as dueWebhooks from "../storage/deliveries/due-webhooks.ts";
import * as sessions from "../storage/people/sessions.ts";
import * as signInChallenges from "../storage/people/sign-in-challenges.ts";
import * as signInSecrets from "../storage/people/sign-in-secrets.ts";
import { SweepFaults } from "./sweep-faults.ts";

export type SweeperOptions = {
  db: Database;
  keyring: Keyring;
  /** Called when a sweep has made deliveries due. */
  onDue: () => void;
  onFault: (error: unknown) => void;
};

export class Sweeper {
  readonly #options: SweeperOptions;
  #sweeping: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #expiryBatch = expiryBatch;
  #tidyAtMs = 0;
  #cancelStrandedAtMs = 0;
  readonly #faults: SweepFaults;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#faults = new SweepFaults(options.onFault);
  }

  /** Sweeps now, unless a sweep is running, and by itself when the next request ends or its reminder is due. */
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
    const { db, onDue } = this.#options;
    const tx = inOneStatement(db);
    for (;;) {
      const next = await reminding.msUntilNext(db);
      if (isDue(next.expiry)) await this.#expireAll();
      // One batch of each at a time: a request that expires in between does not wait for the rest of them.
      const reminded = isDue(next.reminder) ? await reminding.remindDue(tx, reminderBatch) : 0;
      const skipped = await dueWebhooks.skipDueToDisabled(tx, skipBatch);
      const stepped = await this.#takeSteps(next);
      if (reminded + stepped > 0) onDue();
      await this.#cancelStranded();
      await this.#tidy();
      const isMore = reminded + stepped + skipped > 0;
      if (isMore && !this.#isStopped) continue;
      this.#sleepUntil(isDue(next.expiry) ? await reminding.msUntilNext(db) : next);
      return;
    }
  }

  /** What follows for requests on which several people vote: steps, absences that begin or end, people who were removed. */
  async #takeSteps({ step, absence }: { step: number | null; absence: number | null }) {
    const { db, keyring } = this.#options;
    const parts = { db, keyring };
    const faults = this.#faults;
    const taken = isDue(step) ? await takeSteps(parts, stepBatch, faults) : 0;
    // The end of one lets others begin anew.
    const ended = isDue(absence) ? await endAbsences(db, stepBatch) : 0;
    const begun = isDue(absence) ? await beginAbsences(parts, stepBatch, faults) : 0;
    return taken + begun + ended + (await checkRemoved(db, stepBatch, faults));
  }

  async #cancelStranded(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.#cancelStrandedAtMs) return;
    this.#cancelStrandedAtMs = nowMs + cancelStrandedEveryMs;
    if ((await cancelStranded(this.#options.db)) > 0) this.#options.onDue();
  }

  /** Removes stale rows of signing in, now and then. */
  async #tidy(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.#tidyAtMs) return;
    this.#tidyAtMs = nowMs + tidyEveryMs;
    const tx = inOneStatement(this.#options.db);
    await signInSecrets.removeStale(tx, tidyBatch);
    await signInChallenges.removeStale(tx, tidyBatch);
    await sessions.removeStale(tx, tidyBatch);
  }

  /**
   * A second walk from the beginning finds requests that others had locked during the first. The workspace decides how
   * much follows from one expiry, so batches shrink until each is brief: else one workspace with many endpoints would
   * keep a statement from ever ending in time, and everybody's requests from expiring.
   */
  async #expireAll(): Promise<void> {
    let from: Date | null = null;
    let isMore = true;
    while (isMore && !this.#isStopped) {
      const limit = this.#expiryBatch;
      const startedAt = performance.now();
      try {
        const tx = inOneStatement(this.#options.db);
        const { expired, until } = await approvalResolution.expireOverdue(tx, { from, limit });
        from = until;
        isMore = expired === limit;
        if (expired > 0) this.#options.onDue();
      } catch (error) {
        if (limit === 1 || !isTooSlow(error)) throw error;
        this.#expiryBatch = Math.max(1, Math.floor(limit / 10));
        continue;
      }
      const ms = performance.now() - startedAt;
      if (ms > longMs) this.#expiryBatch = Math.max(1, Math.floor(limit / 2));
      else if (ms < longMs / 4) this.#expiryBatch = Math.min(expiryBatch, limit * 2);
    }
  }

  #sleepUntil(next: Awaited<ReturnType<typeof reminding.msUntilNext>>): void {
    const { expiry, reminder } = next;
    // What was left out after a failure is due, and has to wait. The worker's poll finds everything else.
    const isLeftOut = this.#faults.list().length > 0;
    const times = isLeftOut ? [expiry, reminder] : Object.values(next);
    const ms = Math.min(...times.map((each) => each ?? Number.POSITIVE_INFINITY));
    // The worker that owns this sweeper polls too, so the far future needs no timer.
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
const tidyEveryMs = 10 * 60_000;
/** Below the worker's pace while it listens, so that it looks at every poll and not at every expiry. */
const cancelStrandedEveryMs = 5_000;
const tidyBatch = 10_000;
/** A statement of a sweep that takes longer took too many rows. */
const longMs = 1_000;
/** The pause before a sweep looks again at due rows that others hold. */
const busyPauseMs = 50;

function isDue(ms: number | null): boolean {
  return ms !== null && ms <= 0;
}
