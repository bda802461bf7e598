// Delivers mails: claim what is due, make the message, hand it to the mail server or keep it, record how that went.

import type { Logger } from "pino";
import { type Database, inOneStatement } from "../database/database.ts";
import { isCrashedTooOften, nextStep } from "../domain/delivery/delivery.ts";
import {
  leaseSeconds,
  mailRetryDelaysMs,
  mailsInFlightMax,
  mailTimeoutMs,
} from "../domain/limits.ts";
import type { AttemptOutcome } from "../domain/shown/attempt.ts";
import {
  type CompleteAttempt,
  completeFailedMail,
  completeTogether,
} from "../operations/deliveries/complete-attempt.ts";
import {
  awaitedKeyOf,
  type ComposedMail,
  composeMail,
  type MailOrigin,
  partsOfMail,
} from "../operations/deliveries/compose-mail.ts";
import type { MailAnswer } from "../outbound/send-mail.ts";
import type { AttemptEnd } from "../storage/deliveries/attempts.ts";
import * as dueMails from "../storage/deliveries/due-mails.ts";
import * as mails from "../storage/deliveries/mails.ts";
import { Pump } from "./pump.ts";
import type { PutBack } from "./put-back.ts";
import { crashAdvice, givenBack, recordEnd } from "./record-end.ts";

export type SendMail = (mail: ComposedMail) => Promise<MailAnswer>;

export type MailOptions = {
  db: Database;
  origin: MailOrigin;
  /** Null when there is no mail server: mails are kept then. */
  send: SendMail | null;
  /** Told of each mail that was kept. */
  onKept: (mail: ComposedMail) => void;
  complete: CompleteAttempt;
  putBack: PutBack;
  onRetry: (inMs: number) => void;
  /** Called when owners are to be told of a failure. */
  onNotice: () => void;
  onFault: (error: unknown) => void;
  log: Logger;
};

type Job = dueMails.ClaimedMail & { claimedAtMs: number };

const sendWithinMs = leaseSeconds * 1_000 - mailTimeoutMs - 2_000;

/** What only the operator can mend. */
const adviceByOutcome: Partial<Record<AttemptOutcome, string>> = {
  secret_unreadable:
    "the key that made this review link is no longer in SECRET_KEY; add it back to the list",
  sign_in_failed: "the mail server refuses user name and password; check SMTP_URL",
  given_up: crashAdvice,
};

const nothingSent = { responseStart: null, durationMs: 0 };

export function mailPump(options: MailOptions): Pump<Job> {
  const pump = new Pump<Job>({
    inFlightMax: mailsInFlightMax,
    claim: async (limit) => {
      const claimedAtMs = performance.now();
      const { mails, waitMs, skipped } = await dueMails.claim(inOneStatement(options.db), limit);
      for (const ms of waitMs) options.onRetry(ms);
      // A claim reads few rows of a workspace. These are out of the way now, so others behind them can be claimed.
      const isMore = mails.some(({ leases }) => leases.length > 1);
      if (isMore || waitMs.length + skipped > 0) pump.wake();
      return mails.map((mail) => ({ ...mail, claimedAtMs }));
    },
    carryOut: (job) => deliver(options, job),
    giveBack: async ({ leases, claimedAtMs }) => {
      const ends = leases.map((lease) => givenBack(lease, claimedAtMs));
      await completeTogether(options.db, ends);
    },
    onFault: options.onFault,
  });
  return pump;
}

async function deliver(options: MailOptions, claimed: Job): Promise<void> {
  const { onRetry, onNotice, onKept } = options;
  const isHopeless = isCrashedTooOften(claimed.crashesInRow);
  const job = isHopeless ? claimed : await toOneMessage(options, claimed);
  const mail = isHopeless ? null : composeMail(job, options.origin);
  const awaited = isHopeless || mail !== null ? null : awaitedKeyOf(job, options.origin.keyring);
  if (awaited !== null) return options.putBack(job.leases, awaited);
  if (performance.now() - job.claimedAtMs > sendWithinMs) return;
  const answer: MailAnswer = isHopeless
    ? { outcome: "given_up", ...nothingSent }
    : await send(options, mail);
  const { outcome, responseStart, durationMs } = answer;
  const next = nextStep({
    outcome,
    numberInRound: claimed.numberInRound,
    retryAfterSeconds: null,
    delaysMs: mailRetryDelaysMs,
    chance: Math.random(),
  });
  const ends = job.leases.map(
    (lease): AttemptEnd => ({
      lease,
      outcome,
      httpStatus: null,
      responseStart,
      durationMs: Math.round(durationMs),
      next,
    }),
  );
  // Of a mail that failed for good the owners hear. A notice to owners that fails has nobody left to tell.
  const isToTell = next.state === "failed" && isAboutRequests(job);
  const wereHeld = await recordEnd(recordOf(options, isToTell), ends, job.claimedAtMs);
  logAttempts(options.log, job, { outcome, durationMs }, { state: next.state, wereHeld });
  if (!wereHeld.includes(true)) return;
  if (next.state === "due") onRetry(next.delayMs);
  if (isToTell) onNotice();
  if (outcome === "kept" && mail !== null) onKept(mail);
}

/** A digest that does not fit into one message is taken apart: the first part goes out now, the others right after it. */
async function toOneMessage({ db, origin, onRetry }: MailOptions, job: Job): Promise<Job> {
  const parts = partsOfMail(job, origin);
  if (parts.length === 1) return job;
  const leasesOf = (part: mails.Mail) => {
    const ids = new Set(mails.deliveryIdsOf(part));
    return job.leases.filter(({ deliveryId }) => ids.has(deliveryId));
  };
  await dueMails.splitDigest(inOneStatement(db), parts.map(leasesOf));
  onRetry(0);
  const [first] = parts;
  return { ...job, ...first, leases: leasesOf(first) };
}

type RecordEnds = (ends: AttemptEnd[]) => Promise<boolean[]>;

function recordOf({ db, complete }: MailOptions, isToTell: boolean): RecordEnds {
  if (isToTell) return (ends) => completeFailedMail(db, ends);
  return (ends) => {
    const [end] = ends;
    // Alone it may share a statement with whatever else has just ended.
    return end !== undefined && ends.length === 1
      ? complete(end).then((wasHeld) => [wasHeld])
      : completeTogether(db, ends);
  };
}

function isAboutRequests({ subject }: Job): boolean {
  return subject.kind === "digest" || subject.kind.startsWith("request.");
}

async function send({ send }: MailOptions, mail: ComposedMail | null): Promise<MailAnswer> {
  if (mail === null) return { outcome: "secret_unreadable", ...nothingSent };
  return send === null ? { outcome: "kept", ...nothingSent } : send(mail);
}

/** One line per attempt, with ids and figures only: neither address nor words. */
function logAttempts(
  log: Logger,
  { leases, subject }: Job,
  { outcome, durationMs }: { outcome: AttemptOutcome; durationMs: number },
  { state, wereHeld }: { state: string; wereHeld: boolean[] },
): void {
  const ms = Math.round(durationMs * 10) / 10;
  const advice = adviceByOutcome[outcome];
  leases.forEach(({ workspaceId, deliveryId, event, number: attempt }, at) => {
    if (!wereHeld[at]) log.warn({ deliveryId }, "another worker took this delivery over");
    const digest = subject.kind === "digest" ? { digestOf: leases.length } : {};
    const facts = { workspaceId, deliveryId, event, attempt, outcome, ms, state, ...digest };
    if (advice !== undefined) log.error(facts, `mail: ${advice}`);
    else log[state === "failed" ? "warn" : "info"](facts, "mail");
  });
}
