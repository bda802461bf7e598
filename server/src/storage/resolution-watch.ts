// Wakes callers who wait for an approval to leave PENDING, on whichever node that happens.
// One connection listens for the whole process; a slow poll over all waiting callers covers what a broken
// connection missed. A waiting caller holds no connection and asks nothing.

import pg from "pg";
import * as approvals from "./approvals.ts";
import { type Database, withSessionSettings } from "./database.ts";

const pollWhileListeningMs = 5_000;
const pollWhileDeafMs = 400;
const reconnectDelayMs = 1_000;

/** The workspace is known, and not empty, once the caller sleeps. */
type Waiter = { workspaceId: string; wasWoken: boolean; onWake: () => void };

/** Whether the approval is worth reading again, or the caller has gone away or the service is stopping. */
export type SleepEnd = "read_again" | "given_up";

export type Waiting = {
  /** Ends when the approval may have left PENDING, when the time is over, or when `signal` says so. */
  sleep(workspaceId: string, ms: number, signal: AbortSignal): Promise<SleepEnd>;
  close(): void;
};

export class ResolutionWatch {
  readonly #db: Database;
  readonly #connection: pg.ClientConfig;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #listener: pg.Client | null = null;
  #pollTimer: NodeJS.Timeout | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #waiting = 0;

  constructor(db: Database, connection: pg.ClientConfig) {
    this.#db = db;
    this.#connection = connection;
  }

  get waiting(): number {
    return this.#waiting;
  }

  start(): void {
    void this.#listen();
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
        waiter.workspaceId = workspaceId;
        if (!waiter.wasWoken && !signal.aborted) await sleepUntilWoken(waiter, ms, signal);
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
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    if (this.#reconnectTimer !== null) clearTimeout(this.#reconnectTimer);
    this.#wakeAll();
    const listener = this.#listener;
    this.#listener = null;
    await listener?.end();
  }

  async #listen(): Promise<void> {
    const client = new pg.Client({
      ...withSessionSettings(this.#connection),
      application_name: "countersign listen",
      keepAlive: true,
      connectionTimeoutMillis: reconnectDelayMs * 5,
    });
    client.on("notification", ({ payload }) => this.#announced(payload ?? ""));
    client.on("error", () => {});
    client.on("end", () => this.#lost(client));
    try {
      await client.connect();
      await client.query(`listen ${approvals.resolutionChannel}`);
    } catch {
      // Out of reach: the pool's users say so; here it is enough to try again.
      await client.end().catch(() => {});
      this.#lost(client);
      return;
    }
    if (this.#isStopped) return void client.end().catch(() => {});
    this.#listener = client;
    // Whatever was announced while nobody listened is found by asking once.
    await this.#poll();
  }

  #lost(client: pg.Client): void {
    if (this.#listener === client) {
      this.#listener = null;
      this.#schedulePoll();
    }
    if (this.#isStopped || this.#reconnectTimer !== null) return;
    this.#reconnectTimer = setTimeout(() => {
      this.#reconnectTimer = null;
      void this.#listen();
    }, reconnectDelayMs);
  }

  #announced(payload: string): void {
    if (payload === approvals.manyResolved) return void this.#poll();
    for (const id of payload.split(",")) this.#wake(id);
  }

  #schedulePoll(): void {
    if (this.#isStopped) return;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    const ms = this.#listener === null ? pollWhileDeafMs : pollWhileListeningMs;
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
      const ids = await approvals.listResolvedIds(this.#db, waiting);
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
