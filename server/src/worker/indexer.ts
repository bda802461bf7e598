// Writes the words by which requests are found, a moment after they were created or decided. It never works for more
// than half of the time: creates and deliveries come first, and a search may lag behind a flood.

import { setTimeout as pause } from "node:timers/promises";
import { attempt, type Database, inTransaction, type Transaction } from "../database/database.ts";
import { indexBatch } from "../domain/limits.ts";
import * as searchIndex from "../storage/approvals/search-index.ts";

export type IndexerOptions = { db: Database; onFault: (error: unknown) => void };

/** Requests that come within this time share a batch. */
const gatherMs = 400;
/** At least as long as a batch took, and no shorter than this. */
const restMsMin = 5;

export class Indexer {
  readonly #options: IndexerOptions;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #working: Promise<void> | null = null;
  #isWoken = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Something may have been created or decided. Costs nothing when it is called often. */
  wake(): void {
    this.#isWoken = true;
    if (this.#timer !== null || this.#working !== null || this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#working = this.#indexAll()
        .catch(this.#options.onFault)
        .finally(() => {
          this.#working = null;
          if (this.#isWoken) this.wake();
        });
    }, gatherMs);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#working;
  }

  async #indexAll(): Promise<void> {
    this.#isWoken = false;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedAt = performance.now();
      // Requests from before an upgrade wait for new ones.
      const isBusy = (await this.#index(takeQueued)) || (await this.#index(takeBacklog));
      if (!isBusy) return;
      const restMs = Math.max(restMsMin, performance.now() - startedAt);
      await pause(restMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Whether there was anything to do. */
  async #index(
    take: (tx: Transaction) => Promise<searchIndex.ApprovalRef[] | null>,
  ): Promise<boolean> {
    return inTransaction(this.#options.db, async (tx) => {
      const refs = await take(tx);
      if (refs === null) return false;
      if (refs.length > 0) await this.#write(tx, refs);
      return true;
    });
  }

  /** A request that can't be indexed is left out, so that it doesn't keep all others from being found. */
  async #write(tx: Transaction, refs: readonly searchIndex.ApprovalRef[]): Promise<void> {
    const fault = await attempt(tx, () => searchIndex.writeWords(tx, refs));
    if (fault === null) return;
    for (const ref of refs) {
      const cause = await attempt(tx, () => searchIndex.writeWords(tx, [ref]));
      if (cause === null) continue;
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#options.onFault(new Error(`no search finds ${ref.id} by its words: ${why}`, { cause }));
    }
  }
}

async function takeQueued(tx: Transaction): Promise<searchIndex.ApprovalRef[] | null> {
  const refs = await searchIndex.takeQueued(tx, indexBatch);
  return refs.length === 0 ? null : refs;
}

function takeBacklog(tx: Transaction): Promise<searchIndex.ApprovalRef[] | null> {
  return searchIndex.takeBacklog(tx, indexBatch);
}
