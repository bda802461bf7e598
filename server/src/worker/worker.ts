// The worker carries out the work that transactions have promised. It is woken when something becomes due, and polls in
// case a wake-up was lost; any number of workers share one database without knowing of each other.

import type { Logger } from "pino";
import { type Database, isUnavailable } from "../database/database.ts";
import type { Listener } from "../database/listener.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import type { Channel } from "../domain/shown/destination.ts";
import { makeCompleteAttempt } from "../operations/deliveries/complete-attempt.ts";
import { resolutionChannel } from "../storage/approvals/approval-resolution.ts";
import { dueChannel } from "../storage/deliveries/new-deliveries.ts";
import { Alarms } from "./alarms.ts";
import { callbackWork } from "./callbacks.ts";
import { channelPump } from "./channel-pump.ts";
import { Indexer } from "./indexer.ts";
import { type MailOptions, mailWork } from "./mails.ts";
import type { Pump } from "./pump.ts";
import { makePutBack } from "./put-back.ts";
import { Sweeper } from "./sweeper.ts";
import { type SendWebhook, webhookWork } from "./webhooks.ts";

export type WorkerOptions = {
  db: Database;
  listener: Listener;
  keyring: Keyring;
  sendWebhook: SendWebhook;
  webhookRetryDelaysMs: readonly number[];
  mail: Pick<MailOptions, "send" | "origin" | "onKept">;
  log: Logger;
};

type Wakeable = Pick<Pump<never>, "wake" | "stop">;

const pollWhileListeningMs = 6_000;
const pollWhileDeafMs = 1_000;
/** How long attempts under way get to end when the worker stops. */
const stopGraceMs = 4_000;
const tellOfAwayEveryMs = 30_000;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #alarms = new Alarms(() => this.wake());
  readonly #pumps: readonly Wakeable[];
  readonly #sweeper;
  readonly #indexer;
  #pollTimer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #isStopped = false;
  #toldOfAwayAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { db, keyring, log, listener } = options;
    const onFault = (error: unknown) => this.#faulted(error);
    const onRetry = (inMs: number) => this.#alarms.set(inMs);
    const putBack = makePutBack({ db, log });
    const complete = makeCompleteAttempt(db);
    const common = { db, log, complete, putBack, onFault, onRetry };
    const onNotice = () => this.wake();
    const { sendWebhook: send, webhookRetryDelaysMs: retryDelaysMs } = options;
    const posting = { db, keyring, send, retryDelaysMs, onNotice };
    const pumps: Record<Channel, Wakeable> = {
      webhook: channelPump(webhookWork(posting), common),
      callback: channelPump(callbackWork(posting), common),
      mail: channelPump(mailWork({ ...options.mail, db, onRetry, onNotice }), common),
    };
    this.#pumps = Object.values(pumps);
    this.#sweeper = new Sweeper({ db, onFault, onDue: () => this.wake() });
    this.#indexer = new Indexer({ db, onFault });
    listener.on(dueChannel, () => this.wake());
    listener.on(resolutionChannel, () => this.wake());
    listener.onChange(() => this.#poll());
  }

  /** Wake-ups before this call don't count: the database may not be migrated yet. */
  start(): void {
    this.#isStarted = true;
    this.#poll();
  }

  /** Something may be due. Costs nothing when it is called often. */
  wake(): void {
    if (!this.#isStarted || this.#isStopped) return;
    for (const pump of this.#pumps) pump.wake();
    this.#indexer.wake();
  }

  /** Lets attempts under way end, and gives back the rest, so that another worker need not wait for the lease. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    this.#alarms.stop();
    await Promise.all([
      ...this.#pumps.map((pump) => pump.stop(stopGraceMs)),
      this.#sweeper.stop(),
      this.#indexer.stop(),
    ]);
  }

  #poll(): void {
    if (!this.#isStarted || this.#isStopped) return;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    this.wake();
    this.#sweeper.sweep();
    const ms = this.#options.listener.isListening ? pollWhileListeningMs : pollWhileDeafMs;
    this.#pollTimer = setTimeout(() => this.#poll(), ms);
  }

  /** Logs an unreachable database now and then, not at every poll. */
  #faulted(error: unknown): void {
    const { log } = this.#options;
    if (this.#isStopped) return;
    if (!isUnavailable(error)) {
      log.error({ err: error }, "the worker met a fault of ours");
      return;
    }
    if (performance.now() - this.#toldOfAwayAtMs < tellOfAwayEveryMs) return;
    this.#toldOfAwayAtMs = performance.now();
    log.warn({ err: error }, "the worker waits for the database");
  }
}
