// Sends messages through channels beside mail: spreads the news of requests to their messages, claims those that are due,
// has their channel draw and send them, and records what became of each. Where nobody uses such a channel, it asks one
// small question at a time and nothing else.

import type { Logger } from "pino";
import { inOwnSpan } from "../database/current-span.ts";
import { type Database, inOneStatement } from "../database/database.ts";
import { messageTimeoutMs } from "../domain/channels/message-limits.ts";
import { askedMs, isTriedTooOften, stepAfterRefusal } from "../domain/channels/message-step.ts";
import type { MessageChannelName } from "../domain/channels/wanted-messages.ts";
import { leaseSeconds } from "../domain/limits.ts";
import type { Recorder } from "../domain/recorder.ts";
import type { SpanEnd, Tracer } from "../domain/tracer.ts";
import {
  type CompletedMessage,
  completeMessage,
  type MessageOutcome,
  type MessageStep,
} from "../operations/channels/complete-message.ts";
import { spreadNews } from "../operations/channels/spread-news.ts";
import * as channelMessages from "../storage/channels/channel-messages.ts";
import type { MessageChannel } from "./message-channel.ts";
import { Pump } from "./pump.ts";
import { recordEnd } from "./record-end.ts";

export type MessagesOptions = {
  db: Database;
  channels: readonly MessageChannel[];
  /** Called when a message will be due. */
  onRetry: (inMs: number) => void;
  /** Called when mails became due, because a message failed. */
  onMailsDue: () => void;
  onFault: (error: unknown) => void;
  recorder: Recorder | null;
  tracer: Tracer | null;
  log: Logger;
};

type Timed = { message: channelMessages.ClaimedMessage; claimedAtMs: number };

/** Wake-ups within this time share a look: a flood of creates must not pay for each. */
const gatherMs = 40;
const sendWithinMs = leaseSeconds * 1_000 - messageTimeoutMs - 2_000;

export class Messages {
  readonly #options: MessagesOptions;
  readonly #pumps: ReadonlyMap<MessageChannelName, Pump<Timed>>;
  #timer: NodeJS.Timeout | null = null;
  #working: Promise<void> | null = null;
  #isWoken = false;
  #isStopped = false;

  constructor(options: MessagesOptions) {
    this.#options = options;
    this.#pumps = new Map(options.channels.map((each) => [each.channel, pumpOf(each, options)]));
  }

  /** Something may have changed. Costs nothing when it is called often. */
  wake(): void {
    this.#isWoken = true;
    if (this.#timer !== null || this.#working !== null || this.#isStopped) return;
    if (this.#pumps.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#working = this.#look()
        .catch(this.#options.onFault)
        .finally(() => {
          this.#working = null;
          if (this.#isWoken) this.wake();
        });
    }, gatherMs);
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#working;
    await Promise.all([...this.#pumps.values()].map((pump) => pump.stop(graceMs)));
  }

  async #look(): Promise<void> {
    this.#isWoken = false;
    const { hasNews, channels } = await channelMessages.findWork(this.#options.db);
    for (const channel of channels) this.#pumps.get(channel)?.wake();
    if (hasNews) await this.#spreadAll();
  }

  async #spreadAll(): Promise<void> {
    const { db, onRetry, onMailsDue } = this.#options;
    while (!this.#isStopped) {
      const spread = await spreadNews(db);
      if (spread === null) break;
      for (const ms of spread.waitMs) onRetry(ms);
      if (spread.hurried > 0) onMailsDue();
    }
    for (const pump of this.#pumps.values()) pump.wake();
  }
}

function pumpOf(channel: MessageChannel, options: MessagesOptions): Pump<Timed> {
  const { db, onFault } = options;
  return new Pump<Timed>({
    inFlightMax: channel.inFlightMax,
    claim: async ({ limit }) => {
      const claimedAtMs = performance.now();
      const claimed = await channelMessages.claim(inOneStatement(db), channel.channel, limit);
      return { jobs: claimed.map((message) => ({ message, claimedAtMs })), isMore: false };
    },
    carryOut: (timed) => {
      const span = options.tracer?.attempt(channel.channel) ?? null;
      return inOwnSpan(span, () => deliver(channel, options, timed));
    },
    giveBack: async ({ message }) => {
      await completeMessage(db, message, { kind: "due", delayMs: 0, failure: null });
    },
    onFault,
  });
}

async function deliver(
  channel: MessageChannel,
  { db, log, recorder, onRetry, onMailsDue }: MessagesOptions,
  { message, claimedAtMs }: Timed,
): Promise<SpanEnd | null> {
  // The worker was stopped for a while: another one has the message by the time this one could be done.
  if (performance.now() - claimedAtMs > sendWithinMs) return null;
  const outcome: MessageOutcome = isTriedTooOften(message.attempts)
    ? { kind: "failed", failure: "given_up" }
    : await channel.send(message);
  const step = stepOf(outcome, message);
  const ended = await recordEnd((end) => completeMessage(db, message, end), step, claimedAtMs);
  if (ended.wasHeld) recorder?.attempted(message.channel, outcome.kind);
  else recorder?.lostLease(message.channel);
  logMessage(log, { message, outcome, step, ended, ms: performance.now() - claimedAtMs });
  const isFault = outcome.kind === "retry" || outcome.kind === "failed";
  const told = { outcome: outcome.kind, fault: isFault ? outcome.kind : null };
  if (!ended.wasHeld) return told;
  if (ended.dueInMs !== null) onRetry(ended.dueInMs);
  if (ended.hurried > 0) onMailsDue();
  return told;
}

function stepOf(
  outcome: MessageOutcome,
  { attempts }: channelMessages.ClaimedMessage,
): MessageStep {
  if (outcome.kind === "retry") return stepAfterRefusal(outcome, attempts, Math.random());
  if (outcome.kind !== "wait") return outcome;
  return { kind: "due", delayMs: askedMs(outcome.afterSeconds), failure: null };
}

type Logged = {
  message: channelMessages.ClaimedMessage;
  outcome: MessageOutcome;
  step: MessageStep;
  ended: CompletedMessage;
  ms: number;
};

/** One line for each try, with ids and figures only: neither address nor words. */
function logMessage(log: Logger, { message, outcome, step, ended, ms }: Logged): void {
  const { workspaceId, id: messageId, approvalId, channel, attempts: attempt } = message;
  if (!ended.wasHeld) log.warn({ messageId }, "another worker took this message over");
  const failure = "failure" in outcome ? { failure: outcome.failure } : {};
  const hurried = ended.hurried === 0 ? {} : { hurriedMails: ended.hurried };
  const ids = { workspaceId, messageId, approvalId, attempt };
  const facts = { ...ids, outcome: outcome.kind, ...failure, ...hurried, ms: Math.round(ms) };
  log[step.kind === "failed" ? "warn" : "info"](facts, channel);
}
