// One connection per process that hears announcements of other nodes. They only wake somebody who would look anyway:
// listeners also poll, more often while the connection is lost.

import type pg from "pg";
import { withSessionSettings } from "./database.ts";
import { DatabaseClient } from "./database-client.ts";

const reconnectDelayMs = 1_000;
const connectTimeoutMs = 5_000;

export class Listener {
  readonly #connection: pg.ClientConfig;
  readonly #handlers = new Map<string, ((payload: string) => void)[]>();
  readonly #onChange: (() => void)[] = [];
  #client: pg.Client | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(connection: pg.ClientConfig) {
    this.#connection = connection;
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
    const client = this.#client;
    this.#client = null;
    await client?.end();
  }

  async #listen(): Promise<void> {
    const client = new DatabaseClient({
      ...withSessionSettings(this.#connection),
      application_name: "countersign listen",
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
    });
    client.on("notification", ({ channel, payload }) => {
      for (const handler of this.#handlers.get(channel) ?? []) handler(payload ?? "");
    });
    client.on("end", () => this.#lost(client));
    try {
      await client.connect();
      for (const channel of this.#handlers.keys()) await client.query(`listen ${channel}`);
    } catch {
      // Out of reach: the pool's users report that; here it is enough to try again.
      await client.end().catch(() => {});
      this.#lost(client);
      return;
    }
    if (this.#isStopped) return void client.end().catch(() => {});
    this.#client = client;
    for (const handler of this.#onChange) handler();
  }

  #lost(client: pg.Client): void {
    if (this.#client === client) {
      this.#client = null;
      for (const handler of this.#onChange) handler();
    }
    if (this.#isStopped || this.#reconnectTimer !== null) return;
    this.#reconnectTimer = setTimeout(() => {
      this.#reconnectTimer = null;
      void this.#listen();
    }, reconnectDelayMs);
  }
}
