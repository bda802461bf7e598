// Finds out whether the database can do the service's work: it answers, takes writes, has room on its disk, and has
// the schema of this program.

import { OperatorFault } from "../domain/operator-fault.ts";
import type { Queryable } from "./database.ts";
import { DatabaseBusy, isDiskFull, isOverTempLimit, isUnavailable } from "./faults.ts";
import { compareSchema, isReadOnly } from "./migrations.ts";
import { OutageLog, outageWords } from "./outage-log.ts";
import { UnfitConnection } from "./session-settings.ts";

/** Anybody may ask, and what fills a disk takes longer than this. */
const diskLookEveryMs = 2_000;

export type ReadinessLog = {
  info(message: string): void;
  warn(facts: object, message: string): void;
};

export class Readiness {
  readonly #db: Queryable;
  readonly #log: ReadinessLog;
  readonly #outages = new OutageLog();
  #look: Promise<string | null> | null = null;
  #roomFoundAtMs = Number.NEGATIVE_INFINITY;
  #wasReady = true;
  #newerBy = 0;

  constructor(db: Queryable, log: ReadinessLog) {
    this.#db = db;
    this.#log = log;
  }

  /** Null when it can, else why not, in words that strangers may read. Callers at the same moment share a look. */
  async reasonAgainst(): Promise<string | null> {
    this.#look ??= this.#find().finally(() => {
      this.#look = null;
    });
    return this.#look;
  }

  async #find(): Promise<string | null> {
    try {
      const reason = await this.#examine();
      if (reason === null) this.#noteReady();
      else this.#tell(reason);
      return reason;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      this.#tell(reason, { err: error });
      return reason;
    }
  }

  async #examine(): Promise<string | null> {
    if (await isReadOnly(this.#db)) {
      // The pool leaves its connections at this fault. The next one may lead to a new primary.
      await this.#db.query(refuseAsReadOnly).catch(() => {});
      return "The database takes no writes: it is a standby, or read-only.";
    }
    const { missing, unknown, beyond } = await compareSchema(this.#db);
    if (missing.length > 0) return `The database still lacks ${missing.length} migration(s).`;
    if (beyond.length > 0) {
      return `The database's schema is newer than this program by ${unknown.length} migration(s), and doesn't work beside it.`;
    }
    this.#noteNewer(unknown);
    const now = performance.now();
    if (now - this.#roomFoundAtMs < diskLookEveryMs) return null;
    await this.#db.query(spill).catch((error: unknown) => {
      // Others, such as a limit on temporary files, say nothing about the disk. What it allows was written before.
      if (isUnavailable(error) && !isOverTempLimit(error)) throw error;
    });
    this.#roomFoundAtMs = now;
    return null;
  }

  #tell(reason: string, facts: { err?: unknown } = {}): void {
    this.#wasReady = false;
    // One reason may have several causes.
    const due = this.#outages.due(facts.err ?? new Error(reason));
    if (due !== null) this.#log.warn({ ...facts, ...due }, `not ready: ${reason}`);
  }

  /** Two versions at a time are for an upgrade. A process that was forgotten shows here. */
  #noteNewer(unknown: readonly string[]): void {
    if (unknown.length > this.#newerBy) {
      const by = `newer than this program by ${unknown.join(", ")}, and works beside it`;
      this.#log.info(`the database's schema is ${by}`);
    }
    this.#newerBy = unknown.length;
  }

  #noteReady(): void {
    if (!this.#wasReady) this.#log.info("ready again");
    this.#wasReady = true;
  }
}

const refuseAsReadOnly =
  "do $$ begin raise exception 'takes no writes' using errcode = '25006'; end $$";

/**
 * Writes some hundred kilobytes to the disk on which the database's tables are, as a sort that does not fit into memory
 * does, and frees them. A row would mostly find room in a page that is there already.
 */
const spill = `
  set local work_mem = '64kB';
  set local temp_tablespaces = '';
  select count(*) from (
    select from generate_series(1, 3000) as n order by md5(n::text) || repeat('x', 64) offset 0
  ) as sorted`;

function reasonOf(error: unknown): string | null {
  if (error instanceof DatabaseBusy) return "No connection to the database became free in time.";
  if (isDiskFull(error)) return "The database has no room left on its disk.";
  if (error instanceof UnfitConnection) return `${capitalized(outageWords(error))}.`;
  if (error instanceof OperatorFault) return "The database's role may not read the tables.";
  return isUnavailable(error) ? `${capitalized(outageWords(error))}.` : null;
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
