// The one pool of connections, and transactions on it.

import pg from "pg";
import type { Holder } from "../domain/fair-queue.ts";
import {
  connectionsKeptFreeShare,
  connectionsPerHolderShare,
  connectionWaitersPerHolderMax,
} from "../domain/limits.ts";
import { takeOptions } from "./addresses.ts";
import { asked, currentSpan } from "./current-span.ts";
import { DatabaseClient, type SessionConfig } from "./database-client.ts";
import {
  DatabaseBusy,
  isDeadlock,
  isOutOfReach,
  isSurelyUndone,
  isTurnedAway,
  isUnavailable,
  isUnconnected,
} from "./faults.ts";
import { currentHolder } from "./holder.ts";
import { neededSettings, type Settings, toOptions } from "./session-settings.ts";
import { markUndone, ShortOutage } from "./short-outage.ts";
import { Turnstile } from "./turnstile.ts";
import {
  giveBack,
  isMereRefusal,
  isReadOnlyFault,
  isUnanswered,
  requireReplicated,
} from "./used-connection.ts";

/** Reads may go through anything that can run a query. */
export type Queryable = Pick<pg.ClientBase, "query">;

export type Database = pg.Pool;

declare const transactionBrand: unique symbol;

/** Storage functions that write demand it, so that nobody writes by accident. */
export type Transaction = Queryable & { readonly [transactionBrand]: true };

const connectionTimeoutMs = 5_000;
const queryTimeoutMs = 15_000;
const timeLimits: Settings = {
  statement_timeout: "15s",
  // A process that stands still inside a transaction, as a halted machine does, keeps its locks for no longer.
  idle_in_transaction_session_timeout: "15s",
};
const idleConnectionTimeoutMs = 60_000;

export type DatabaseOptions = {
  connection: pg.ClientConfig;
  connectionsMax: number;
  /** The connection leads to a pooler, which gives each transaction another session. */
  isThroughPooler?: boolean;
  /** For statements that must find few rows among very many, and are prepared while there are none yet. */
  walksIndexes?: boolean;
  /** What is asked waits for so long for the end of an outage, if nothing of it was done. By default it doesn't. */
  shortOutageMs?: number;
  /** Called when an idle connection breaks; the pool replaces it by itself. */
  onIdleFault: (error: Error) => void;
};

export function openDatabase({
  connection,
  connectionsMax,
  isThroughPooler = false,
  walksIndexes = false,
  shortOutageMs = 0,
  onIdleFault,
}: DatabaseOptions): Database {
  const settings = { ...noWholeTables, ...(walksIndexes ? indexWalks : {}), ...timeLimits };
  const session: SessionConfig = isThroughPooler
    ? { ...connection, settings: { ...neededSettings, ...settings }, isThroughPooler }
    : withSessionSettings(connection, settings);
  const pool = new SharedPool({
    ...session,
    shortOutageMs,
    Client: DatabaseClient,
    max: connectionsMax,
    application_name: connection.application_name ?? "countersign",
    connectionTimeoutMillis: connectionTimeoutMs,
    idleTimeoutMillis: idleConnectionTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
  });
  // Without a listener, a restart of PostgreSQL would end the process.
  pool.on("error", (error) => {
    if (!pool.ending) onIdleFault(error);
  });
  return pool;
}

export type PoolUse = { total: number; idle: number; waiting: number; max: number };

/** How many connections there are, and how many callers wait for one. */
export function useOf(db: Database): PoolUse {
  const inFront = db instanceof SharedPool ? db.waitingInFront : 0;
  const { totalCount: total, idleCount: idle, waitingCount, options } = db;
  return { total, idle, waiting: waitingCount + inFront, max: options.max };
}

type Connected = (
  fault: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (fault?: Error | boolean) => void,
) => void;

/**
 * A pool in which no holder can take all connections: each has a share, and waits for its own turn. pg-pool's queue is
 * first come, first served, so callers wait in front of it.
 */
class SharedPool extends pg.Pool {
  readonly #turnstile: Turnstile;
  readonly #outage: ShortOutage | null;
  readonly #users = new WeakMap<pg.ClientBase, { holder: Holder }>();
  /** Connections of an earlier generation lead to a server that no longer takes writes. */
  readonly #generations = new WeakMap<pg.ClientBase, number>();
  #generation = 0;

  constructor(options: pg.PoolConfig & { max: number; shortOutageMs: number }) {
    super(options);
    this.#outage = options.shortOutageMs === 0 ? null : new ShortOutage(options.shortOutageMs);
    this.query = ((...words: unknown[]) => this.#ask(words)) as pg.Pool["query"];
    this.#turnstile = new Turnstile({
      placesMax: options.max,
      perHolderMax: Math.max(1, Math.floor(options.max * connectionsPerHolderShare)),
      keptFree: Math.floor(options.max * connectionsKeptFreeShare),
    });
    this.on("connect", (client) => this.#generations.set(client, this.#generation));
    this.on("release", (fault, client) => {
      if (isReadOnlyFault(fault)) this.#generation += 1;
      const user = this.#users.get(client);
      if (user === undefined) return;
      this.#users.delete(client);
      // After pg-pool has put it back: the next user should get this connection, not open another.
      process.nextTick(() => this.#turnstile.leave(user.holder));
    });
  }

  get waitingInFront(): number {
    return this.#turnstile.waiting;
  }

  /** One statement, which is a transaction by itself. pg-pool would close the connection at any refusal. */
  #ask(words: unknown[]): Promise<unknown> {
    return this.outlast(() => asked(words, () => this.askNow(words)));
  }

  outlast<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#outage === null ? work() : this.#outage.outlast(work, () => this.ending);
  }

  async askNow(words: unknown[]): Promise<unknown> {
    const client = await connectTo(this);
    try {
      const result: unknown = await Reflect.apply(client.query, client, words);
      requireReplicated(client);
      client.release();
      return result;
    } catch (error) {
      giveBack(client, error, isMereRefusal(error));
      if (isSurelyUndone(error)) markUndone(error);
      throw error;
    }
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): unknown {
    if (connected !== undefined) return this.#connect(connected);
    return new Promise((resolve, reject) => {
      this.#connect((fault, client) => {
        if (client === undefined) reject(fault);
        else resolve(client);
      });
    });
  }

  #connect(connected: Connected): void {
    const holder = currentHolder();
    const refuse = (why: string) => connected(new DatabaseBusy(why), undefined, () => {});
    if (this.#turnstile.waitingOf(holder) >= connectionWaitersPerHolderMax) {
      refuse("too many calls of one holder wait for a connection");
      return;
    }
    const impatience = setTimeout(() => {
      leaveQueue();
      refuse("no connection became free in good time");
    }, connectionTimeoutMs).unref();
    const leaveQueue = this.#turnstile.queue(holder, () => {
      clearTimeout(impatience);
      this.#connectAnew((fault, client, release) => {
        if (client === undefined) this.#turnstile.leave(holder);
        else this.#users.set(client, { holder });
        connected(fault, client, release);
      });
    });
  }

  #connectAnew(connected: Connected): void {
    super.connect((fault, client, release) => {
      const isLeft = client !== undefined && this.#generations.get(client) !== this.#generation;
      if (!isLeft) return connected(fault, client, release);
      release(true);
      this.#connectAnew(connected);
    });
  }
}

/** A kept plan that was made for an empty table would read the whole table once it is full. */
const noWholeTables: Settings = { enable_seqscan: "off" };

/** Planning a claim takes longer than running it, so each statement is planned once, and may only walk indexes. */
const indexWalks: Settings = {
  plan_cache_mode: "force_generic_plan",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** Settings our statements rely on: sent when the connection begins, and then looked at. */
export function withSessionSettings(
  connection: pg.ClientConfig,
  more: Settings = {},
): SessionConfig {
  const settings = { ...neededSettings, ...more };
  const { connectionString } = connection;
  // Options in the address would replace ours. Joined, the last of two that disagree holds.
  const { address, options } =
    connectionString === undefined
      ? { address: undefined, options: null }
      : takeOptions(connectionString);
  const theirs = options ?? connection.options;
  const ours = toOptions(settings);
  return {
    ...connection,
    ...(address === undefined ? {} : { connectionString: address }),
    options: theirs === undefined ? ours : `${theirs} ${ours}`,
    settings,
  };
}

/** Runs several statements in one transaction on one connection. */
export async function inTransaction<Result>(
  db: Database,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return between(db, "begin", work);
}

/** Reads of one moment, however long they take: for an operator's own process, because they keep a connection. */
export async function inSnapshot<Result>(
  db: Database,
  work: (snapshot: Queryable) => Promise<Result>,
): Promise<Result> {
  return between(db, "begin isolation level repeatable read, read only", async (tx) => {
    // Who reads the texts may stand still, as a pager does.
    await tx.query("set local idle_in_transaction_session_timeout = 0");
    return work(tx);
  });
}

/** The work may be done again, so nothing of it may stay but what it writes through `tx`. */
function between<Result>(
  db: Database,
  begin: string,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const once = () => asked("transaction", () => betweenOnce(db, begin, work));
  return db instanceof SharedPool ? db.outlast(once) : once();
}

async function betweenOnce<Result>(
  db: Database,
  begin: string,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const client = await connectTo(db);
  let result: Result;
  let isCommitting = false;
  try {
    await client.query(begin);
    result = await work(asTransaction(client));
    isCommitting = true;
    await client.query("commit");
    requireReplicated(client);
  } catch (error) {
    giveBack(client, error, await undo(client, error));
    if (!isCommitting && isTurnedAway(error)) markUndone(error);
    throw error;
  }
  client.release();
  return result;
}

/** Its statements are told of one by one, where somebody traces. */
function asTransaction(client: pg.PoolClient): Transaction {
  if (currentSpan() === null) return client as unknown as Transaction;
  const query = (...words: unknown[]) =>
    asked(words, () => Reflect.apply(client.query, client, words));
  return { query } as unknown as Transaction;
}

/** Nothing was asked yet of a server that can't be reached. */
async function connectTo(db: Database): Promise<pg.PoolClient> {
  try {
    return await db.connect();
  } catch (error) {
    if (isTurnedAway(error) || isUnconnected(error)) markUndone(error);
    throw error;
  }
}

/** Answers whether the connection is as good as before. */
async function undo(client: pg.PoolClient, fault: unknown): Promise<boolean> {
  // What waits in front of it would have to end first.
  if (isUnanswered(fault)) return false;
  try {
    await client.query("rollback");
  } catch {
    return false;
  }
  return fault instanceof pg.DatabaseError ? isMereRefusal(fault) : !isOutOfReach(fault);
}

/**
 * A part of a transaction that may fail by itself: its fault is answered, and the transaction goes on without it. Faults
 * that pass by themselves end the transaction as ever.
 */
export async function attempt(tx: Transaction, work: () => Promise<void>): Promise<unknown> {
  await tx.query("savepoint attempt");
  try {
    await work();
  } catch (error) {
    if (isUnavailable(error) || isDeadlock(error)) throw error;
    await tx.query("rollback to savepoint attempt");
    return error;
  }
  await tx.query("release savepoint attempt");
  return null;
}

/** For who must know how the database is now. */
export function withoutWaiting(db: Database): Queryable {
  if (!(db instanceof SharedPool)) return db;
  return { query: ((...words: unknown[]) => db.askNow(words)) as Queryable["query"] };
}

/** For an operation that is exactly one statement: PostgreSQL makes that a transaction by itself. */
export function inOneStatement(db: Database): Transaction {
  return db as unknown as Transaction;
}
