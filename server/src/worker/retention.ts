// Deletes requests that are older than their workspaces keep them: a small batch of each workspace in turn, and never for
// more than half of the time.

import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import { retentionBatch } from "../domain/limits.ts";
import { deleteOldRequests } from "../operations/workspaces/delete-old-requests.ts";
import * as retention from "../storage/approvals/retention.ts";

export type RetentionOptions = { db: Database; onFault: (error: unknown) => void };

/** Requests age by days, so nobody notices. */
const everyMs = 10 * 60_000;
/** The pause before another look at old requests that had to wait. */
const waitingMs = 5_000;
/** At least as long as a batch took, and no shorter than this. */
const restMsMin = 20;

export class Retention {
  readonly #options: RetentionOptions;
  readonly #stopping = new AbortController();
  #working: Promise<void> | null = null;
  #nextAtMs = 0;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Looks now and then, however often it is called. */
  wake(): void {
    if (this.#working !== null || this.#stopping.signal.aborted) return;
    if (performance.now() < this.#nextAtMs) return;
    this.#nextAtMs = performance.now() + everyMs;
    this.#working = this.#deleteAll()
      .catch(this.#options.onFault)
      .finally(() => {
        this.#working = null;
      });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
  }

  /** A workspace with very much to delete waits for its next turn like all others. */
  async #deleteAll(): Promise<void> {
    let left = await retention.listWorkspaces(this.#options.db);
    while (left.length > 0) {
      const more: string[] = [];
      for (const workspaceId of left) {
        if (this.#stopping.signal.aborted) return;
        if (await this.#deleteSome(workspaceId)) more.push(workspaceId);
      }
      left = more;
    }
  }

  /** Whether it deleted any. What fails in one workspace doesn't keep the others from theirs. */
  async #deleteSome(workspaceId: string): Promise<boolean> {
    const { signal } = this.#stopping;
    const startedAt = performance.now();
    let hasDeleted = false;
    try {
      const deletion = await deleteOldRequests(this.#options.db, workspaceId, retentionBatch);
      hasDeleted = deletion.deleted > 0;
      const isWaiting = deletion.wereOld && !hasDeleted;
      if (isWaiting) this.#nextAtMs = Math.min(this.#nextAtMs, performance.now() + waitingMs);
    } catch (error) {
      this.#options.onFault(error);
    }
    const restMs = Math.max(restMsMin, performance.now() - startedAt);
    await pause(restMs, undefined, { signal }).catch(() => {});
    return hasDeleted;
  }
}
