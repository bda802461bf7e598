// Delivers mails: claims them, composes the message, and gives it to the mail server or the box of kept mails.

import { type Database, inOneStatement } from "../database/database.ts";
import { isAskingKind } from "../domain/approval/event.ts";
import { mailRetryDelaysMs, mailsInFlightMax, mailTimeoutMs } from "../domain/limits.ts";
import {
  completeFailedMail,
  completeReachingMail,
} from "../operations/deliveries/complete-mail.ts";
import { awaitedKeyOf, composeMail, partsOfMail } from "../operations/deliveries/compose-mail.ts";
import type { ComposedMail, MailOrigin } from "../operations/deliveries/composed-mail.ts";
import type { MailAnswer } from "../outbound/send-mail.ts";
import * as dueMails from "../storage/deliveries/due-mails.ts";
import { deliveryIdsOf, type Mail, reviewMailsOf } from "../storage/deliveries/mails.ts";
import type { ChannelWork } from "./channel.ts";

export type SendMail = (mail: ComposedMail) => Promise<MailAnswer>;

export type MailOptions = {
  db: Database;
  origin: MailOrigin;
  /** Null when there is no mail server: mails are kept then. */
  send: SendMail | null;
  /** Told of each mail that was kept. */
  onKept: (mail: ComposedMail) => void;
  onRetry: (inMs: number) => void;
  /** Called when owners are to be told of a failure. */
  onNotice: () => void;
};

const kept: MailAnswer = { outcome: "kept", responseStart: null, durationMs: 0 };

export function mailWork(options: MailOptions): ChannelWork<dueMails.ClaimedMail, ComposedMail> {
  const { db, origin, send, onKept, onNotice } = options;
  return {
    channel: "mail",
    inFlightMax: mailsInFlightMax,
    timeoutMs: mailTimeoutMs,
    retryDelaysMs: mailRetryDelaysMs,
    advice: {
      secret_unreadable:
        "the key that made this review link is no longer in SECRET_KEY; add it back to the list",
      sign_in_failed: "the mail server refuses user name and password; check SMTP_URL",
    },
    failureLevel: "warn",
    claim: async ({ limit }) => {
      const { mails, waitMs, skipped } = await dueMails.claim(inOneStatement(db), limit);
      const isDigest = mails.some(({ leases }) => leases.length > 1);
      return { jobs: mails, waitMs, isMore: isDigest || waitMs.length + skipped > 0 };
    },
    compose: async (claimed) => {
      const job = await toOneMessage(options, claimed);
      const message = composeMail(job, origin);
      if (message !== null) return { job, message };
      const awaitedKeyId = awaitedKeyOf(job, origin.keyring);
      return awaitedKeyId === null ? { job, outcome: "secret_unreadable" } : { job, awaitedKeyId };
    },
    send: async (mail) => (send === null ? kept : send(mail)),
    // When a notice to owners fails, there is nobody left to tell.
    recordFailure: (job) => (isAsking(job) ? (ends) => completeFailedMail(db, ends) : null),
    recordSuccess: (job) => (isMissed(job) ? (ends) => completeReachingMail(db, ends) : null),
    onRecorded: async ({ job, message, answer, next }) => {
      if (next.state === "failed" && isAsking(job)) onNotice();
      if (answer.outcome === "kept" && message !== null) onKept(message);
    },
    factsOf: ({ leases, subject }): Record<string, number> =>
      subject.kind === "digest" ? { digestOf: leases.length } : {},
  };
}

/** A digest that does not fit into one message is taken apart: the first part goes out now, the others right after it. */
async function toOneMessage(
  { db, origin, onRetry }: MailOptions,
  job: dueMails.ClaimedMail,
): Promise<dueMails.ClaimedMail> {
  const parts = partsOfMail(job, origin);
  if (parts.length === 1) return job;
  const leasesOf = (part: Mail) => {
    const ids = new Set(deliveryIdsOf(part));
    return job.leases.filter(({ deliveryId }) => ids.has(deliveryId));
  };
  await dueMails.splitDigest(inOneStatement(db), parts.map(leasesOf));
  onRetry(0);
  const [first] = parts;
  return { ...job, ...first, leases: leasesOf(first) };
}

/** Owners are told when one of these fails for good: somebody is waited for who may not know. */
function isAsking(job: Mail): boolean {
  return reviewMailsOf(job).some(({ subject }) => isAskingKind(subject.kind));
}

/** Nobody of the open stage was reached until now. */
function isMissed(job: Mail): boolean {
  return reviewMailsOf(job).some(({ subject }) => subject.story?.isUnreachable === true);
}
