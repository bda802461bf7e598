// The figures of the database that metrics show. They are read when somebody asks, at most every few seconds however many
// ask, and a scrape doesn't wait for a database that is slow or away.

import { setTimeout as pause } from "node:timers/promises";
import type { Backlog } from "../storage/deliveries/backlog.ts";

/** A sample that is younger is shown again. */
const freshMs = 10_000;
/** Prometheus gives a scrape ten seconds. */
const patienceMs = 2_000;
/** An older sample says nothing about now. */
const staleMs = 60_000;

export class BacklogSample {
  readonly #read: () => Promise<Backlog>;
  readonly #clock: () => number;
  #latest: { backlog: Backlog; atMs: number } | null = null;
  #reading: Promise<void> | null = null;
  /** Whether the latest read succeeded; null before the first one has ended. */
  #isAnswered: boolean | null = null;

  constructor(read: () => Promise<Backlog>, clock = () => performance.now()) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Null when there is no sample of the last minute. */
  async show(): Promise<{ backlog: Backlog | null; isAnswered: boolean }> {
    if (this.#latest === null || this.#ageMs() > freshMs) {
      this.#reading ??= this.#readOnce();
      await withPatience(this.#reading);
    }
    const isThere = this.#latest !== null && this.#ageMs() <= staleMs;
    return {
      backlog: isThere ? (this.#latest?.backlog ?? null) : null,
      isAnswered: this.#isAnswered === true,
    };
  }

  #ageMs(): number {
    return this.#clock() - (this.#latest?.atMs ?? Number.NEGATIVE_INFINITY);
  }

  /** A database that can't be asked is a figure here, and others log why. */
  async #readOnce(): Promise<void> {
    const atMs = this.#clock();
    try {
      this.#latest = { backlog: await this.#read(), atMs };
      this.#isAnswered = true;
    } catch {
      this.#isAnswered = false;
    } finally {
      this.#reading = null;
    }
  }
}

async function withPatience(work: Promise<void>): Promise<void> {
  const patience = new AbortController();
  const { signal } = patience;
  await Promise.race([work, pause(patienceMs, undefined, { signal }).catch(() => {})]);
  patience.abort();
}
