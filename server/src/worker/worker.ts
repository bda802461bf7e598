// The worker carries out the work that transactions have promised. It is woken when something becomes due, and polls in
// case a wake-up was lost; any number of workers share one database without knowing of each other.

import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { inSpan } from "../database/current-span.ts";
import type { Database } from "../database/database.ts";
import { isUnavailable } from "../database/faults.ts";
import type { Listener } from "../database/listener.ts";
import { compareSchema } from "../database/migrations.ts";
import { OutageLog, outageWords } from "../database/outage-log.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import type { WitnessSetting } from "../domain/proof/witness-settings.ts";
import type { Recorder } from "../domain/recorder.ts";
import type { Channel } from "../domain/shown/destination.ts";
import type { Tracer } from "../domain/tracer.ts";
import { makeCompleteAttempt } from "../operations/deliveries/complete-attempt.ts";
import { makeReadReceipt } from "../operations/proof/receipts.ts";
import type { AddCheckpoint } from "../outbound/add-checkpoint.ts";
import { resolutionChannel } from "../storage/approvals/approval-resolution.ts";
import { dueChannel } from "../storage/deliveries/new-deliveries.ts";
import { Alarms } from "./alarms.ts";
import { callbackWork } from "./callbacks.ts";
import { channelPump } from "./channel-pump.ts";
import { Indexer } from "./indexer.ts";
import { LogSequencer } from "./log-sequencer.ts";
import { LogTellings } from "./log-tellings.ts";
import { LogWitnesses } from "./log-witnesses.ts";
import { type MailOptions, mailWork } from "./mails.ts";
import type { MessageChannel } from "./message-channel.ts";
import { Messages } from "./messages.ts";
import type { Pump } from "./pump.ts";
import { makePutBack } from "./put-back.ts";
import { Retention } from "./retention.ts";
import { Sweeper } from "./sweeper.ts";
import { type SendWebhook, webhookWork } from "./webhooks.ts";

export type WorkerOptions = {
  db: Database;
  listener: Listener;
  keyring: Keyring;
  sendWebhook: SendWebhook;
  webhookRetryDelaysMs: readonly number[];
  mail: Pick<MailOptions, "send" | "origin" | "onKept">;
  /** The channels beside mail. */
  messageChannels?: readonly MessageChannel[];
  /** Who cosigns the log, and how they are asked. */
  witnessing?: { witnesses: readonly WitnessSetting[]; addCheckpoint: AddCheckpoint };
  recorder?: Recorder | null;
  tracer?: Tracer | null;
  log: Logger;
};

const noWitnesses: NonNullable<WorkerOptions["witnessing"]> = {
  witnesses: [],
  addCheckpoint: async () => ({ kind: "failed", reason: "there are no witnesses" }),
};

type Wakeable = Pick<Pump<never>, "wake" | "stop">;

const pollWhileListeningMs = 6_000;
const pollWhileDeafMs = 1_000;
/** How long attempts under way get to end when the worker stops. */
const stopGraceMs = 4_000;
/** A stop takes no longer, whatever happened. */
const stopMsMax = 15_000;
const tellOfAwayEveryMs = 30_000;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #alarms = new Alarms(() => this.wake());
  readonly #outages = new OutageLog(tellOfAwayEveryMs);
  readonly #pumps: readonly Wakeable[];
  readonly #sweeper;
  readonly #indexer;
  readonly #retention;
  readonly #sequencer;
  readonly #messages;
  readonly #witnesses;
  readonly #tellings;
  #pollTimer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #isStopped = false;
  #stopped: Promise<void> | null = null;
  #lookingAtSchema: Promise<void> | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { db, keyring, log, listener, recorder = null, tracer = null } = options;
    const onFault = (error: unknown) => this.#faulted(error);
    const onRetry = (inMs: number) => this.#alarms.set(inMs);
    const putBack = makePutBack({ db, log });
    const complete = makeCompleteAttempt(db, recorder);
    const common = { db, log, recorder, tracer, complete, putBack, onFault, onRetry };
    const onNotice = () => this.wake();
    const { sendWebhook: send, webhookRetryDelaysMs: retryDelaysMs } = options;
    const readReceipt = makeReadReceipt({ db, keyring, origin: options.mail.origin, recorder });
    const posting = { db, keyring, readReceipt, send, retryDelaysMs, onNotice };
    const pumps: Record<Channel, Wakeable> = {
      webhook: channelPump(webhookWork(posting), common),
      callback: channelPump(callbackWork(posting), common),
      mail: channelPump(mailWork({ ...options.mail, db, onRetry, onNotice }), common),
    };
    this.#pumps = Object.values(pumps);
    this.#sweeper = new Sweeper({ db, keyring, onFault, onDue: () => this.wake() });
    this.#indexer = new Indexer({ db, onFault });
    this.#retention = new Retention({ db, onFault });
    const { origin } = options.mail;
    this.#sequencer = new LogSequencer({ db, keyring, origin, log, onFault });
    const { messageChannels: channels = [] } = options;
    this.#messages = new Messages({ ...common, channels, onMailsDue: onNotice });
    const { witnessing = noWitnesses } = options;
    this.#witnesses = new LogWitnesses({ ...witnessing, db, log, onFault, onNotice });
    this.#tellings = new LogTellings({ db, onFault, onNotice });
    listener.on(dueChannel, () => this.wake());
    listener.on(resolutionChannel, () => this.wake());
    listener.onChange(() => this.#poll());
  }

  /** Wake-ups before this call don't count: the database may not be migrated yet. */
  start(): void {
    void this.#stopIfOutgrown().then(() => {
      if (this.#isStopped) return;
      this.#isStarted = true;
      this.#sequencer.start();
      this.#poll();
    });
  }

  /** Something may be due. Costs nothing when it is called often. */
  wake(): void {
    if (!this.#isStarted || this.#isStopped) return;
    // What it begins is no part of the call that woke it.
    inSpan(null, () => {
      for (const pump of this.#pumps) pump.wake();
      this.#indexer.wake();
      this.#messages.wake();
      this.#witnesses.wake();
      this.#tellings.wake();
    });
  }

  /** Lets attempts under way end, and gives back the rest, so that another worker need not wait for the lease. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    this.#alarms.stop();
    const ended = Promise.all([
      ...this.#pumps.map((pump) => pump.stop(stopGraceMs)),
      this.#sweeper.stop(),
      this.#indexer.stop(),
      this.#retention.stop(),
      this.#sequencer.stop(),
      this.#messages.stop(stopGraceMs),
      this.#witnesses.stop(),
      this.#tellings.stop(),
      this.#lookingAtSchema,
    ]);
    // A connection that is cut in a bad moment may leave a call without an end. What it held is another worker's later.
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([ended, pause(stopMsMax, undefined, { signal }).catch(() => {})]);
    patience.abort();
  }

  #poll(): void {
    if (!this.#isStarted || this.#isStopped) return;
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer);
    this.wake();
    this.#sweeper.sweep();
    this.#retention.wake();
    void this.#stopIfOutgrown();
    const ms = this.#options.listener.isListening ? pollWhileListeningMs : pollWhileDeafMs;
    this.#pollTimer = setTimeout(() => this.#poll(), ms);
  }

  /** On a schema that doesn't work beside this program it would do wrong work. Schemas never go back, so that is for good. */
  #stopIfOutgrown(): Promise<void> {
    const { db, log } = this.#options;
    this.#lookingAtSchema ??= compareSchema(db)
      .then(({ beyond }) => {
        if (beyond.length === 0 || this.#isStopped) return;
        const by = `the database's schema is newer than this program by ${beyond.join(", ")}`;
        log.error(
          `${by}, and doesn't work beside it: the worker has stopped; start the new version`,
        );
        void this.stop();
      })
      .catch((error: unknown) => this.#faulted(error))
      .finally(() => {
        this.#lookingAtSchema = null;
      });
    return this.#lookingAtSchema;
  }

  /** Logs an unreachable database now and then, not at every poll. */
  #faulted(error: unknown): void {
    const { log } = this.#options;
    if (this.#isStopped) return;
    if (!isUnavailable(error)) {
      log.error({ err: error }, "the worker met a fault of ours");
      return;
    }
    const due = this.#outages.due(error);
    if (due === null) return;
    log.warn({ err: error, ...due }, `the worker waits for the database: ${outageWords(error)}`);
  }
}
