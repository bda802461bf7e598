// Delivers mails: claim what is due, make the message, hand it to the mail server or keep it, record how that went.

import type { Logger } from "pino";
import { type AttemptOutcome, interrupted } from "../domain/attempt.ts";
import { isInterruptedTooOften, nextStep } from "../domain/delivery.ts";
import {
  leaseSeconds,
  mailRetryDelaysMs,
  mailsInFlightMax,
  mailTimeoutMs,
} from "../domain/limits.ts";
import { type CompleteAttempt, completeFailedMail } from "../operations/complete-attempt.ts";
import { type ComposedMail, composeMail, type MailOrigin } from "../operations/compose-mail.ts";
import type { MailAnswer } from "../outbound/send-mail.ts";
import { type Database, inOneStatement } from "../storage/database.ts";
import type { AttemptEnd } from "../storage/deliveries.ts";
import * as dueMails from "../storage/due-mails.ts";
import { Pump } from "./pump.ts";
import { recordEnd } from "./record-end.ts";

export type SendMail = (mail: ComposedMail) => Promise<MailAnswer>;

export type MailOptions = {
  db: Database;
  origin: MailOrigin;
  /** Null when there is no mail server: mails are kept then. */
  send: SendMail | null;
  /** Told of each mail that was kept. */
  onKept: (mail: ComposedMail) => void;
  complete: CompleteAttempt;
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
};

const nothingSent = { responseStart: null, durationMs: 0 };

export function mailPump(options: MailOptions): Pump<Job> {
  return new Pump<Job>({
    inFlightMax: mailsInFlightMax,
    claim: async (limit) => {
      const claimedAtMs = performance.now();
      const claimed = await dueMails.claim(inOneStatement(options.db), limit);
      return claimed.map((job) => ({ ...job, claimedAtMs }));
    },
    carryOut: (job) => deliver(options, job),
    onFault: options.onFault,
  });
}

async function deliver(options: MailOptions, job: Job): Promise<void> {
  const { complete, onRetry, onNotice, onKept, db } = options;
  const { numberInRound } = job;
  const isHopeless = isInterruptedTooOften(numberInRound, mailRetryDelaysMs);
  const mail = isHopeless ? null : composeMail(job, options.origin);
  if (performance.now() - job.claimedAtMs > sendWithinMs) return;
  const answer = isHopeless ? null : await send(options, mail);
  const { outcome, responseStart, durationMs } = answer ?? { outcome: interrupted, ...nothingSent };
  const next = isHopeless
    ? ({ state: "failed" } as const)
    : nextStep({
        outcome,
        numberInRound,
        retryAfterSeconds: null,
        delaysMs: mailRetryDelaysMs,
        chance: Math.random(),
      });
  const end: AttemptEnd = {
    lease: job,
    outcome,
    httpStatus: null,
    responseStart,
    durationMs: Math.round(durationMs),
    next,
  };
  // Of a mail that failed for good the owners hear. A notice to owners that fails has nobody left to tell.
  const isToTell = next.state === "failed" && job.subject.kind.startsWith("request.");
  const record: CompleteAttempt = isToTell ? (failed) => completeFailedMail(db, failed) : complete;
  const wasHeld = await recordEnd(record, end, job.claimedAtMs);
  logAttempt(options.log, job, { outcome, durationMs }, { state: next.state, wasHeld });
  if (!wasHeld) return;
  if (next.state === "due") onRetry(next.delayMs);
  if (isToTell) onNotice();
  if (outcome === "kept" && mail !== null) onKept(mail);
}

async function send({ send }: MailOptions, mail: ComposedMail | null): Promise<MailAnswer> {
  if (mail === null) return { outcome: "secret_unreadable", ...nothingSent };
  return send === null ? { outcome: "kept", ...nothingSent } : send(mail);
}

/** One line per attempt, with ids and figures only: neither address nor words. */
function logAttempt(
  log: Logger,
  { workspaceId, deliveryId, number: attempt, subject }: Job,
  { outcome, durationMs }: { outcome: AttemptOutcome; durationMs: number },
  { state, wasHeld }: { state: string; wasHeld: boolean },
): void {
  if (!wasHeld) log.warn({ deliveryId }, "another worker took this delivery over");
  const ms = Math.round(durationMs * 10) / 10;
  const facts = { workspaceId, deliveryId, event: subject.kind, attempt, outcome, ms, state };
  const advice = adviceByOutcome[outcome];
  if (advice !== undefined) log.error(facts, `mail: ${advice}`);
  else log[state === "failed" ? "warn" : "info"](facts, "mail");
}
