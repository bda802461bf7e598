// The one kind of connection to PostgreSQL. Everything that connects makes its connections here.

import { randomUUID } from "node:crypto";
import pg from "pg";
import { splitAddress } from "./addresses.ts";
import {
  explainRefusedStart,
  lackedSettings,
  type Place,
  type Settings,
  type Shown,
  unfitBehindPooler,
  unfitSession,
} from "./session-settings.ts";

export type SessionConfig = pg.ClientConfig & {
  /** Looked at when the connection is there. */
  settings?: Settings;
  /** Statements may each run in another session, which other clients use as well. */
  isThroughPooler?: boolean;
};

/** The commit is done, but nobody knows whether a synchronous standby has it: it could be lost with the primary, or is. */
export class NotReplicated extends Error {
  override name = "NotReplicated";

  constructor(
    why = "a commit is in PostgreSQL, but the wait for its synchronous standby was cancelled",
  ) {
    super(why);
  }
}

/** The function of PostgreSQL that waits for a standby. Its warnings have no code of their own, and are translated. */
const standbyWait = "SyncRepWaitForLSN";

const cancelMs = 2_000;
/** For each of several hosts to say whether it takes writes. All are asked at once. */
const lookMs = 2_000;

/** What pg doesn't declare. */
type Internals = {
  connection: pg.Connection & { stream: { destroy(): void } };
  processID: number | null;
  secretKey: number | null;
};

const pgOwn = pg.Client.prototype as unknown as { getStartupConf(): Record<string, string> };

type CancelConnection = pg.Connection & {
  stream: { destroy(): void };
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

type Connected = (error: Error | null, client?: pg.Client) => void;

type Look = { host: string; port: number; fault: unknown };

/** It may become the primary at any time, so it counts as what PostgreSQL says to a write. */
class TakesNoWrites extends Error {
  override name = "TakesNoWrites";
  readonly code = "25006";

  constructor(host: string) {
    super(`${host} is a standby, or read-only, and no other host of the address takes writes`);
  }
}

/**
 * A connection whose loss never ends the process. Node ends a process at an "error" event that nobody listens to, and
 * pg-pool has no listener while it hands a connection over. The next statement on the connection reports the loss.
 */
export class DatabaseClient extends pg.Client {
  readonly #config: SessionConfig;
  /** More than one where the address names several hosts. */
  readonly #addresses: readonly string[];
  #isWaitCancelled = false;

  constructor(config: SessionConfig = {}) {
    const { connectionString } = config;
    const addresses = connectionString === undefined ? [] : splitAddress(connectionString);
    super(addresses[0] === undefined ? config : { ...config, connectionString: addresses[0] });
    this.#config = config;
    this.#addresses = addresses;
    this.on("error", () => {});
    this.on("notice", ({ routine }) => {
      if (routine === standbyWait) this.#isWaitCancelled = true;
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): unknown {
    const connecting = this.#connect();
    if (connected === undefined) return connecting;
    return void connecting.then(() => connected(null, this), connected);
  }

  async #connect(): Promise<pg.Client> {
    if (this.#addresses.length > 1) await this.#choosePrimary();
    try {
      await super.connect();
    } catch (error) {
      throw explainRefusedStart(error);
    }
    const { settings } = this.#config;
    if (settings === undefined) return this;
    try {
      await this.#requireSettings(settings);
    } catch (error) {
      await this.end().catch(() => {});
      throw error;
    }
    return this;
  }

  /** The first of the hosts, in their order, that takes writes at this moment. */
  async #choosePrimary(): Promise<void> {
    const faults: unknown[] = [];
    for (const looking of this.#addresses.map((address) => this.#look(address))) {
      const { host, port, fault } = await looking;
      if (fault === null) return void Object.assign(this, { host, port });
      faults.push(fault);
    }
    // That of a host which answered says more.
    throw faults.find((fault) => fault instanceof TakesNoWrites) ?? faults[0];
  }

  async #look(connectionString: string): Promise<Look> {
    const { settings: _, ...config } = this.#config;
    const limits = { connectionTimeoutMillis: lookMs, query_timeout: lookMs };
    const client = new DatabaseClient({ ...config, ...limits, connectionString });
    const { host, port } = client;
    try {
      await client.connect();
      const { rows } = await client.query<{ is_writable: boolean }>(
        "select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as is_writable",
      );
      const isWritable = rows[0]?.is_writable === true;
      return { host, port, fault: isWritable ? null : new TakesNoWrites(host) };
    } catch (fault) {
      return { host, port, fault };
    } finally {
      await client.end().catch(() => {});
    }
  }

  async #requireSettings(wanted: Settings): Promise<void> {
    const { rows } = await this.query<Shown & Place & { pid: number }>(
      `select name, current_setting(name, true) as value, pg_backend_pid() as pid,
         current_user as role, current_database() as database
       from unnest($1::text[]) as name`,
      [Object.keys(wanted)],
    );
    const [first] = rows;
    if (first === undefined) throw new Error("the settings could not be read");
    const lacked = lackedSettings(wanted, rows);
    const isBehindPooler = this.#isBehindPooler(first.pid);
    if (this.#config.isThroughPooler !== true) {
      if (lacked.length > 0) throw unfitSession(lacked, isBehindPooler);
    } else if (isBehindPooler) {
      if (lacked.length > 0) throw unfitBehindPooler(lacked, wanted, first);
      if (!(await this.#areNamesKept())) this.#dropNames();
    } else {
      // No pooler yet, or no longer: the session is ours alone.
      await this.query(
        "select set_config(name, value, false) from unnest($1::text[], $2::text[]) as s (name, value)",
        [Object.keys(wanted), Object.values(wanted)],
      );
    }
  }

  /** A pooler that keeps prepared statements apart gives them names of its own. Any other mixes them up. */
  async #areNamesKept(): Promise<boolean> {
    const name = `countersign_${randomUUID()}`;
    await this.query("begin");
    try {
      const text = "select 1 from pg_prepared_statements where name = $1";
      const { rowCount } = await this.query({ name, text, values: [name] });
      if (rowCount === 0) return true;
      await this.query(`deallocate "${name}"`);
      return false;
    } finally {
      await this.query("rollback");
    }
  }

  /** Each statement is planned anew from here on, which is slower and always right. */
  #dropNames(): void {
    const query = this.query.bind(this) as (...words: unknown[]) => unknown;
    this.query = ((first: unknown, ...rest: unknown[]) =>
      query(
        typeof first === "object" && first !== null ? { ...first, name: undefined } : first,
        ...rest,
      )) as pg.Client["query"];
  }

  /** pg calls it. These a pooler keeps for each of its clients. */
  getStartupConf(): Record<string, string> {
    const given = pgOwn.getStartupConf.call(this);
    if (this.#config.isThroughPooler !== true) return given;
    return { ...given, DateStyle: "ISO", TimeZone: "UTC", standard_conforming_strings: "on" };
  }

  /** PostgreSQL tells each client the number of its own process. A pooler makes one up. */
  #isBehindPooler(pid: number | undefined): boolean {
    return (this as unknown as Internals).processID !== pid;
  }

  /** After each commit. PostgreSQL reports success, and says only in a warning that the standby wasn't waited for. */
  requireReplicated(): void {
    if (!this.#isWaitCancelled) return;
    this.#isWaitCancelled = false;
    throw new NotReplicated();
  }

  /**
   * Has PostgreSQL end the statement under way. A backend that waits for a standby notices neither its own time limit
   * nor that its client is gone, and would stay for as long as the standby is away.
   */
  async cancelStatement(): Promise<void> {
    const { processID, secretKey } = this as unknown as Internals;
    if (processID === null || secretKey === null) return;
    const messenger = new pg.Connection({ ssl: this.ssl }) as CancelConnection;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const impatience = setTimeout(resolve, cancelMs);
    messenger.on("error", () => resolve());
    messenger.on("end", () => resolve());
    const send = () => messenger.cancel(processID, secretKey);
    messenger.on("connect", () => (this.ssl ? messenger.requestSsl() : send()));
    messenger.on("sslconnect", send);
    if (this.host.startsWith("/")) messenger.connect(`${this.host}/.s.PGSQL.${this.port}`);
    else messenger.connect(this.port, this.host);
    await ended;
    clearTimeout(impatience);
    messenger.stream.destroy();
  }
}
