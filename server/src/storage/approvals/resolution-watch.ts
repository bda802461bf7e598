// Wakes callers who wait for an approval to leave PENDING, on whichever node that happens.
// The process's listener tells of changes; a slow poll over all waiting callers covers what a broken connection
// missed. A waiting caller holds no connection and asks nothing.

import type { Database } from "../../database/database.ts";
import type { Listener } from "../../database/listener.ts";
import { waitersPerWorkspaceMax } from "../../domain/limits.ts";
import * as approvalResolution from "./approval-resolution.ts";

const pollWhileListeningMs = 5_000;
const pollWhileDeafMs = 400;

/** The workspace is known, and not empty, once the caller sleeps. */
type Waiter = { workspaceId: string; wasWoken: boolean; onWake: () => void };

/**
 * Whether the approval is worth reading again, or waiting is over: the caller has gone away, the service is stopping, or
 * too many callers of the workspace wait already.
 */
export type SleepEnd = "read_again" | "given_up";

export type Waiting = {
  /** Ends when the approval may have left PENDING, when the time is over, or when `signal` says so. */
  sleep(workspaceId: string, ms: number, signal: AbortSignal): Promise<SleepEnd>;
  close(): void;
};

export class ResolutionWatch {
  readonly #db: Database;
  readonly #listener: Listener;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #pollTimer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #waiting = 0;
  readonly #asleep = new Map<string, number>();

  constructor(db: Database, listener: Listener) {
    this.#db = db;
    this.#listener = listener;
    listener.on(approvalResolution.resolutionChannel, (payload) => this.#announced(payload));
    listener.onChange(() => {
      // One poll finds whatever was announced while nobody listened.
      void this.#poll().finally(() => this.#schedulePoll());
    });
  }

  get waiting(): number {
    return this.#waiting;
  }

  asleepIn(workspaceId: string): number {
    return this.#asleep.get(workspaceId) ?? 0;
  }

  start(): void {
    this.#schedulePoll();
  }

  /** Registers interest before the approval is read, so that no change between can be missed. */
  register(id: string): Waiting {
    const waiter: Waiter = { workspaceId: "", wasWoken: false, onWake: () => {} };
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(waiter));
    this.#waiting += 1;
    return {
      sleep: async (workspaceId, ms, signal) => {
        if (this.asleepIn(workspaceId) >= waitersPerWorkspaceMax) return "given_up";
        waiter.workspaceId = workspaceId;
        if (!waiter.wasWoken && !signal.aborted) {
          this.#countAsleep(workspaceId, 1);
          await sleepUntilWoken(waiter, ms, signal);
          this.#countAsleep(workspaceId, -1);
        }
        waiter.wasWoken = false;
        return this.#isStopped || signal.aborted ? "given_up" : "read_again";
      },
      close: () => {
        this.#waiting -= 1;
        waiters.delete(waiter);
        if (waiters.size === 0) this.#waiters.delete(id);
      },
    };
  }

  /** Wakes everybody, so that each can be answered before the process ends. */
  stop(): void {
    this.#isStopped = true;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    this.#wakeAll();
  }

  #countAsleep(workspaceId: string, change: 1 | -1): void {
    const count = this.asleepIn(workspaceId) + change;
    if (count === 0) this.#asleep.delete(workspaceId);
    else this.#asleep.set(workspaceId, count);
  }

  #announced(payload: string): void {
    if (payload === approvalResolution.manyResolved) return void this.#poll();
    for (const id of payload.split(",")) this.#wake(id);
  }

  #schedulePoll(): void {
    if (this.#isStopped) return;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    const ms = this.#listener.isListening ? pollWhileListeningMs : pollWhileDeafMs;
    this.#pollTimer = setTimeout(() => {
      void this.#poll().finally(() => this.#schedulePoll());
    }, ms);
  }

  async #poll(): Promise<void> {
    const waiting = [...this.#waiters].flatMap(([id, waiters]) => {
      const asleep = [...waiters].find(({ workspaceId }) => workspaceId !== "");
      return asleep === undefined ? [] : [{ workspaceId: asleep.workspaceId, id }];
    });
    if (waiting.length === 0) return;
    try {
      const ids = await approvalResolution.listResolvedIds(this.#db, waiting);
      for (const id of ids) this.#wake(id);
    } catch {
      // The database is out of reach; the waiting callers learn it when they read.
    }
  }

  #wake(id: string): void {
    for (const waiter of this.#waiters.get(id) ?? []) {
      waiter.wasWoken = true;
      waiter.onWake();
    }
  }

  #wakeAll(): void {
    for (const id of this.#waiters.keys()) this.#wake(id);
  }
}

function sleepUntilWoken(waiter: Waiter, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    waiter.onWake = end;
  });
}
