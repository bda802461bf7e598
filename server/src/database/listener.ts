// One connection per process that hears announcements of other nodes. They only wake somebody who would look anyway:
// listeners also poll, more often while the connection is lost.
//
// A connection may be deaf without being lost: a network that swallows everything, or a pooler that hands each
// statement to another session. So it must hear itself before it counts, and is asked now and then whether it lives.

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { withSessionSettings } from "./database.ts";
import { DatabaseClient } from "./database-client.ts";

const reconnectDelayMs = 1_000;
/** A pooler stays what it is, and each try costs two connections. */
const deafDelayMs = 30_000;
const patienceDefaultMs = 5_000;
const selfTestChannel = "countersign_self_test";

/**
 * PostgreSQL frees room in its queue when somebody announces something, and a full queue refuses every announcement: it
 * would stay full after whoever filled it has gone, and no decision could be committed. This frees room, too.
 */
const sweepQueue = "select pg_notification_queue_usage()";

export type ListenerOptions = {
  /** How often the connection is asked whether it lives, and how long an answer or an announcement may take. */
  patienceMs?: number;
  /** Called when announcements don't arrive on a connection that works. */
  onDeaf?: () => void;
};

class Deaf extends Error {
  override name = "Deaf";
}

export class Listener {
  readonly #connection: pg.ClientConfig;
  readonly #patienceMs: number;
  readonly #onDeaf: () => void;
  readonly #handlers = new Map<string, ((payload: string) => void)[]>();
  readonly #onChange: (() => void)[] = [];
  readonly #givenUp = new WeakSet<pg.Client>();
  #client: pg.Client | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #lookTimer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(connection: pg.ClientConfig, options: ListenerOptions = {}) {
    this.#connection = connection;
    this.#patienceMs = options.patienceMs ?? patienceDefaultMs;
    this.#onDeaf = options.onDeaf ?? (() => {});
  }

  get isListening(): boolean {
    return this.#client !== null;
  }

  /** Before `start`: channels can't be added later. */
  on(channel: string, handler: (payload: string) => void): void {
    this.#handlers.set(channel, [...(this.#handlers.get(channel) ?? []), handler]);
  }

  /** Called when the connection is there, since something may have been missed before, and when it is lost. */
  onChange(handler: () => void): void {
    this.#onChange.push(handler);
  }

  start(): void {
    void this.#listen();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#reconnectTimer !== null) clearTimeout(this.#reconnectTimer);
    if (this.#lookTimer !== null) clearTimeout(this.#lookTimer);
    const client = this.#client;
    this.#client = null;
    if (client !== null) await hangUp(client);
  }

  async #listen(): Promise<void> {
    const client = this.#open();
    client.on("notification", ({ channel, payload }) => {
      for (const handler of this.#handlers.get(channel) ?? []) handler(payload ?? "");
    });
    client.on("end", () => this.#lost(client));
    try {
      await client.connect();
      for (const channel of this.#handlers.keys()) await client.query(`listen ${channel}`);
      await this.#requireHearing(client);
    } catch (error) {
      // Out of reach: the pool's users report that; here it is enough to try again.
      const isDeaf = error instanceof Deaf && !this.#isStopped;
      this.#lost(client, isDeaf ? deafDelayMs : reconnectDelayMs);
      if (isDeaf) this.#onDeaf();
      await hangUp(client);
      return;
    }
    if (this.#isStopped) return void hangUp(client);
    // Lost while it was tested.
    if (this.#givenUp.has(client)) return;
    this.#client = client;
    this.#lookLater(client);
    for (const handler of this.#onChange) handler();
  }

  #open(): DatabaseClient {
    return new DatabaseClient({
      ...withSessionSettings(this.#connection),
      application_name: "countersign listen",
      keepAlive: true,
      connectionTimeoutMillis: this.#patienceMs,
      query_timeout: this.#patienceMs,
    });
  }

  /** Another connection announces something. If it can't be had, nothing is known, and we listen all the same. */
  async #requireHearing(client: pg.Client): Promise<void> {
    const token = randomUUID();
    const heard = Promise.withResolvers<void>();
    let hasHeard = false;
    const onNotification = ({ channel, payload }: pg.Notification) => {
      if (channel !== selfTestChannel || payload !== token) return;
      hasHeard = true;
      heard.resolve();
    };
    client.on("notification", onNotification);
    await client.query(`listen ${selfTestChannel}`);
    const other = this.#open();
    const patience = new AbortController();
    try {
      const isSent = await announce(other, token);
      if (!isSent) return;
      const waited = pause(this.#patienceMs, undefined, { signal: patience.signal });
      waited.catch(() => {});
      await Promise.race([heard.promise, waited]);
      // A process that stood still has not read yet what has arrived. The answer comes behind it.
      if (!hasHeard) await client.query("select");
      if (!hasHeard) throw new Deaf("a notification did not arrive");
    } finally {
      patience.abort();
      client.off("notification", onNotification);
      await hangUp(other);
    }
    await client.query(`unlisten ${selfTestChannel}`);
  }

  #lookLater(client: pg.Client): void {
    this.#lookTimer = setTimeout(() => {
      client.query(sweepQueue).then(
        () => {
          if (this.#client === client) this.#lookLater(client);
        },
        () => {
          this.#lost(client);
          void hangUp(client);
        },
      );
    }, this.#patienceMs);
  }

  #lost(client: pg.Client, delayMs = reconnectDelayMs): void {
    if (this.#givenUp.has(client)) return;
    this.#givenUp.add(client);
    if (this.#client === client) {
      this.#client = null;
      for (const handler of this.#onChange) handler();
    }
    if (this.#isStopped) return;
    this.#reconnectTimer = setTimeout(() => {
      this.#reconnectTimer = null;
      void this.#listen();
    }, delayMs);
  }
}

async function announce(client: pg.Client, token: string): Promise<boolean> {
  try {
    await client.connect();
    await client.query("select pg_notify($1, $2)", [selfTestChannel, token]);
    return true;
  } catch {
    return false;
  }
}

const hangUpMs = 1_000;

/** A network that swallows everything would swallow a goodbye, too. */
async function hangUp(client: pg.Client): Promise<void> {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  const impatience = setTimeout(() => connection.stream.destroy(), hangUpMs);
  await client.end().catch(() => {});
  clearTimeout(impatience);
}
