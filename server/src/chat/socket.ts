// One socket to Slack for one app-level token, kept open until it is stopped. Slack's own library speaks the protocol; its
// own reconnecting is off, because a failure there would reach nobody and end the process.

import type { SocketModeClient } from "@slack/socket-mode";
import type { Logger } from "pino";
import type { SlackAcknowledgement } from "./interactions.ts";

export type SlackSocketOptions = {
  appToken: string;
  slackApiUrl: string;
  onInteraction: (payload: unknown) => Promise<SlackAcknowledgement>;
  /** Slack refuses the token, by its own code for that. */
  onRefused: (error: string) => void;
  log: Logger;
};

type Envelope = {
  ack: (body?: Record<string, unknown>) => Promise<void>;
  body: unknown;
  type: string;
  accepts_response_payload?: boolean;
};

const connectTimeoutMs = 20_000;
const firstRetryMs = 500;
const longestRetryMs = 30_000;
/** A socket that lived so long was fine. Slack replaces each now and then, and the next one is opened at once. */
const fineMs = 10_000;
const closeGraceMs = 1_500;

export class SlackSocket {
  readonly #options: SlackSocketOptions;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  readonly #underWay = new Set<Promise<void>>();
  #client: SocketModeClient | null = null;
  #isOpen = false;

  constructor(options: SlackSocketOptions) {
    this.#options = options;
    this.#ended = this.#keepOpen();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Clicks under way are answered first, then the socket is closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.race([Promise.all(this.#underWay), afterMs(closeGraceMs)]);
    await this.#close();
    await this.#ended;
  }

  async #keepOpen(): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      const begunAtMs = performance.now();
      const error = await this.#live();
      this.#isOpen = false;
      if (this.#stopping.signal.aborted) return;
      const wasFine = error === null && performance.now() - begunAtMs > fineMs;
      failures = wasFine ? 0 : failures + 1;
      if (error !== null) {
        this.#options.log.warn({ reason: error }, "the socket to Slack could not be opened");
        this.#options.onRefused(error);
      }
      if (failures > 0) await this.#pause(failures);
    }
  }

  /** From opening to closing. Answers why it could not be opened; null if it was open. */
  async #live(): Promise<string | null> {
    const client = await this.#makeClient();
    const closed = new Promise<void>((resolve) => client.once("disconnected", () => resolve()));
    this.#client = client;
    if (this.#stopping.signal.aborted) return null;
    const started = client.start().then(
      () => null,
      (error: unknown) => codeOf(error),
    );
    const error = await Promise.race([started, afterMs(connectTimeoutMs, "timeout")]);
    if (error !== null) {
      await this.#close();
      return error;
    }
    // It may have come too late to be closed with the others.
    if (this.#stopping.signal.aborted) await this.#close();
    this.#isOpen = true;
    await closed;
    return null;
  }

  async #makeClient(): Promise<SocketModeClient> {
    const { SocketModeClient } = await import("@slack/socket-mode");
    const { appToken, slackApiUrl } = this.#options;
    const client = new SocketModeClient({
      appToken,
      autoReconnectEnabled: false,
      logger: silent,
      clientOptions: {
        slackApiUrl,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        timeout: connectTimeoutMs / 2,
        fetch: (url, init = {}) => this.#fetch(url, init),
      },
    });
    // What the library can't read must not end the process: it reads in a promise that nobody awaits.
    const readers = client.listeners("ws_message");
    client.removeAllListeners("ws_message");
    for (const read of readers) {
      client.on("ws_message", (...message: unknown[]) => {
        Promise.resolve(read.apply(client, message)).catch(() => {
          this.#options.log.warn("Slack sent something that can't be read");
        });
      });
    }
    client.on("slack_event", (envelope: Envelope) => this.#take(envelope));
    return client;
  }

  /** A stop doesn't wait for Slack's answer. */
  #fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const { signal } = this.#stopping;
    return fetch(url, {
      ...init,
      signal: init.signal == null ? signal : AbortSignal.any([init.signal, signal]),
    });
  }

  #take({ ack, body, type, accepts_response_payload: takesBody }: Envelope): void {
    const work = async () => {
      const answer = type === "interactive" ? await this.#options.onInteraction(body) : null;
      // A socket that broke meanwhile takes no answer. What was recorded stays, and the next click tells it.
      await (answer === null || takesBody === false ? ack() : ack(answer));
    };
    const done = work()
      .catch(() => this.#options.log.warn("an answer did not reach Slack by its socket"))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  async #close(): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    const closed = client.disconnect().catch(() => {});
    await Promise.race([closed, afterMs(closeGraceMs)]);
    // The second time it doesn't wait for the other side.
    await Promise.race([client.disconnect().catch(() => {}), afterMs(closeGraceMs)]);
  }

  #pause(failures: number): Promise<void> {
    const ms = Math.min(longestRetryMs, firstRetryMs * 2 ** (failures - 1));
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
      this.#stopping.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Slack's own code, or a word for what happened on the way. Never a text, which may hold a token. */
function codeOf(error: unknown): string {
  const data = error instanceof Error && "data" in error ? error.data : null;
  const code = typeof data === "object" && data !== null && "error" in data ? data.error : null;
  return typeof code === "string" && /^[a-z_]{1,80}$/.test(code) ? code : "unreachable";
}

async function afterMs<Value = undefined>(ms: number, value?: Value): Promise<Value> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value as Value), ms).unref();
  });
}

/** The library writes messages and addresses with tickets into its log. */
const silent = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => "error" as never,
  setName: () => {},
};
