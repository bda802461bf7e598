// Sees which lock a session waits for and who holds it. The session itself can't say: it is busy waiting.

import type pg from "pg";
import type { Queryable } from "./database.ts";
import { DatabaseClient } from "./database-client.ts";

const lookEveryMs = 1_000;
const tellEveryMs = 10_000;

export type LockWatchOptions = {
  connection: pg.ClientConfig;
  /** The watched session's process. */
  pid: number;
  /** Hears of a wait that lasts. */
  tell: (wait: string) => void;
};

/** It connects only if the watched work lasts, and its own faults concern nobody: it only tells. */
export class LockWatch {
  readonly #options: LockWatchOptions;
  #client: DatabaseClient | null = null;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;
  #seen: string | null = null;
  #toldAtMs = performance.now();

  constructor(options: LockWatchOptions) {
    this.#options = options;
    this.#lookLater();
  }

  /** The newest wait that it has seen, such as "AccessExclusiveLock on approvals, held by process 71 (psql)". */
  get seen(): string | null {
    return this.#seen;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    await this.#disconnect();
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look()
        .catch(() => this.#disconnect())
        .finally(() => this.#lookLater());
    }, lookEveryMs);
  }

  async #look(): Promise<void> {
    const wait = await findLockWait(await this.#connected(), this.#options.pid);
    if (wait === null) {
      this.#toldAtMs = performance.now();
      return;
    }
    this.#seen = wait;
    if (performance.now() - this.#toldAtMs < tellEveryMs) return;
    this.#toldAtMs = performance.now();
    this.#options.tell(wait);
  }

  async #connected(): Promise<DatabaseClient> {
    if (this.#client !== null) return this.#client;
    const client = new DatabaseClient({
      ...this.#options.connection,
      application_name: "countersign lock watch",
      connectionTimeoutMillis: tellEveryMs,
      query_timeout: tellEveryMs,
    });
    this.#client = client;
    await client.connect();
    return client;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}

/** Says nothing of statements: they may quote rows. */
async function findLockWait(db: Queryable, pid: number): Promise<string | null> {
  const { rows } = await db.query<{ wanted: string; holders: string[] }>(findLockWaitSql, [pid]);
  const [wait] = rows;
  if (wait === undefined) return null;
  const { wanted, holders } = wait;
  return holders.length === 0 ? wanted : `${wanted}, held by ${holders.join(" and ")}`;
}

const findLockWaitSql = `
  select
    case
      when l.relation is not null then l.mode || ' on ' || l.relation::regclass
      when l.locktype in ('virtualxid', 'transactionid') then 'the end of a transaction'
      else l.mode || ' on ' || l.locktype
    end as wanted,
    array(
      select format('process %s (%s)', a.pid, concat_ws(', ',
        coalesce(nullif(a.application_name, ''), a.backend_type, 'unnamed'), a.state,
        'in a transaction for ' || round(extract(epoch from clock_timestamp() - a.xact_start)) || ' s'
      ))
      from pg_stat_activity a where a.pid = any(pg_blocking_pids(l.pid))
      order by a.xact_start nulls last, a.pid limit 3
    ) as holders
  from pg_locks l where l.pid = $1 and not l.granted limit 1`;
