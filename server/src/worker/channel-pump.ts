// Delivers through any channel: claims due deliveries, makes one attempt of each, records how it ended, and says when
// the next is due.

import type { Logger } from "pino";
import { inOwnSpan } from "../database/current-span.ts";
import type { Database } from "../database/database.ts";
import { isCrashedTooOften, nextStep } from "../domain/delivery/delivery.ts";
import { crashesInRowMax, leaseSeconds } from "../domain/limits.ts";
import type { Recorder } from "../domain/recorder.ts";
import type { Channel } from "../domain/shown/destination.ts";
import type { SpanEnd, Tracer } from "../domain/tracer.ts";
import {
  type CompleteAttempt,
  completeTogether,
} from "../operations/deliveries/complete-attempt.ts";
import type { AttemptEnd } from "../storage/deliveries/attempts.ts";
import type {
  Answer,
  ChannelWork,
  Composed,
  Ended,
  EndedOutcome,
  Job,
  RecordEnds,
} from "./channel.ts";
import { Pump } from "./pump.ts";
import type { PutBack } from "./put-back.ts";
import { givenBack, recordEnd } from "./record-end.ts";

export type ChannelPumpOptions = {
  db: Database;
  complete: CompleteAttempt;
  putBack: PutBack;
  /** Called when a further attempt will be due. */
  onRetry: (inMs: number) => void;
  onFault: (error: unknown) => void;
  recorder: Recorder | null;
  tracer: Tracer | null;
  log: Logger;
};

type Timed<Claimed> = { job: Claimed; claimedAtMs: number };

const crashAdvice = `given up, because ${crashesInRowMax} crashes in a row cut it short; mend what ends the workers, then resend it`;
/** An attempt that can't be over by this time before its lease ends is not begun: the worker was stopped for a while. */
const marginMs = 2_000;

export function channelPump<Claimed extends Job, Message>(
  work: ChannelWork<Claimed, Message>,
  options: ChannelPumpOptions,
): Pump<Timed<Claimed>> {
  return new Pump<Timed<Claimed>>({
    inFlightMax: work.inFlightMax,
    claim: async (room) => {
      const claimedAtMs = performance.now();
      const underWay = room.underWay.map(({ job }) => job);
      const { jobs, waitMs, isMore } = await work.claim({ ...room, underWay });
      for (const ms of waitMs) options.onRetry(ms);
      return { jobs: jobs.map((job) => ({ job, claimedAtMs })), isMore };
    },
    carryOut: (timed) => {
      const span = options.tracer?.attempt(work.channel) ?? null;
      return inOwnSpan(span, () => deliver(work, options, timed));
    },
    giveBack: async ({ job, claimedAtMs }) => {
      await recordOf(options)(job.leases.map((lease) => givenBack(lease, claimedAtMs)));
    },
    onFault: options.onFault,
  });
}

async function deliver<Claimed extends Job, Message>(
  work: ChannelWork<Claimed, Message>,
  options: ChannelPumpOptions,
  { job: claimed, claimedAtMs }: Timed<Claimed>,
): Promise<SpanEnd | null> {
  const composed: Composed<Claimed, Message> = isCrashedTooOften(claimed.crashesInRow)
    ? { job: claimed, outcome: "given_up" }
    : await work.compose(claimed);
  const { job } = composed;
  if ("awaitedKeyId" in composed) {
    await options.putBack(job.leases, composed.awaitedKeyId);
    return null;
  }
  const message = "message" in composed ? composed.message : null;
  const sendWithinMs = leaseSeconds * 1_000 - work.timeoutMs - marginMs;
  if (message !== null && performance.now() - claimedAtMs > sendWithinMs) return null;
  noteBegin(options.recorder, work.channel, job);
  const answer =
    "outcome" in composed ? nothingSent(composed.outcome) : await work.send(composed.message);
  const next = (await work.onAnswer?.(job, answer)) ?? nextAfter(work, job, answer);
  const ends = job.leases.map((lease): AttemptEnd => ({ lease, ...toRecord(answer), next }));
  const record = ownRecordOf(work, { job, answer, next }) ?? recordOf(options);
  const wereHeld = await recordEnd(record, ends, claimedAtMs);
  for (const wasHeld of wereHeld) {
    if (wasHeld) options.recorder?.attempted(work.channel, answer.outcome);
    else options.recorder?.lostLease(work.channel);
  }
  logAttempts(options.log, work, { job, message, answer, next, wereHeld });
  const { outcome, status = null } = answer;
  const told = { outcome, status, fault: next.state === "delivered" ? null : outcome };
  // Another worker has taken over and will do the rest.
  if (!wereHeld.includes(true)) return told;
  if (next.state === "due") options.onRetry(next.delayMs);
  await work.onRecorded?.({ job, message, answer, next });
  return told;
}

/** A digest waits on purpose. Where the claim doesn't tell the database's time, ours has to do. */
function noteBegin(recorder: Recorder | null, channel: Channel, job: Job): void {
  const [lease] = job.leases;
  if (recorder === null || job.leases.length > 1 || lease?.number !== 1) return;
  const begunAtMs = job.claimedAt?.getTime() ?? Date.now();
  recorder.begunAfter(channel, begunAtMs - job.eventAt.getTime());
}

/** Null if nothing must follow in the same transaction. */
function ownRecordOf<Claimed extends Job, Message>(
  work: ChannelWork<Claimed, Message>,
  { job, answer, next }: Pick<Ended<Claimed, Message>, "job" | "answer" | "next">,
): RecordEnds | null {
  if (next.state === "failed") return work.recordFailure?.(job, answer) ?? null;
  if (next.state === "delivered") return work.recordSuccess?.(job) ?? null;
  return null;
}

function nothingSent(outcome: EndedOutcome): Answer {
  return { outcome, responseStart: null, durationMs: 0 };
}

function nextAfter<Claimed extends Job, Message>(
  { retryDelaysMs }: ChannelWork<Claimed, Message>,
  { numberInRound }: Job,
  { outcome, retryAfterSeconds = null }: Answer,
) {
  return nextStep({
    outcome,
    numberInRound,
    retryAfterSeconds,
    delaysMs: retryDelaysMs,
    chance: Math.random(),
  });
}

function toRecord({ outcome, status = null, responseStart, durationMs }: Answer) {
  return { outcome, httpStatus: status, responseStart, durationMs: Math.round(durationMs) };
}

function recordOf({ db, complete }: ChannelPumpOptions): RecordEnds {
  return async (ends) => {
    const [end] = ends;
    // A single end may share a statement with the ends of other jobs.
    return end !== undefined && ends.length === 1
      ? [await complete(end)]
      : completeTogether(db, ends);
  };
}

/** One line per attempt, with ids and figures only: neither address nor words. */
function logAttempts<Claimed extends Job, Message>(
  log: Logger,
  work: ChannelWork<Claimed, Message>,
  ended: Ended<Claimed, Message> & { wereHeld: boolean[] },
): void {
  const { job, answer, wereHeld } = ended;
  const { state } = ended.next;
  const { outcome, durationMs } = answer;
  const ms = Math.round(durationMs * 10) / 10;
  const status = answer.status === undefined ? {} : { status: answer.status };
  const advice = outcome === "given_up" ? crashAdvice : work.advice[outcome];
  job.leases.forEach(({ workspaceId, deliveryId, event, number: attempt }, at) => {
    if (!wereHeld[at]) log.warn({ deliveryId }, "another worker took this delivery over");
    const ids = { workspaceId, deliveryId, event, attempt, ...work.factsOf?.(job) };
    const facts = { ...ids, outcome, ...status, ms, state };
    if (advice !== undefined) log.error(facts, `${work.channel}: ${advice}`);
    else log[state === "failed" ? work.failureLevel : "info"](facts, work.channel);
  });
}
