// Makes the mails to reviewers: those that ask for a decision, and those that tell how it ended. Each stands in the
// reader's own thread about the request.

import { findSecretKey } from "../../domain/access/keyring.ts";
import { deriveReviewCode } from "../../domain/access/review-code.ts";
import { deriveReviewToken } from "../../domain/access/review-link.ts";
import { isOutcomeKind } from "../../domain/approval/event.ts";
import type { DigestRequest } from "../../domain/mail/digest-mail.ts";
import type { MailContent, ReviewFacts } from "../../domain/mail/mail.ts";
import { askingMail, type MailedOutcome, outcomeMail } from "../../domain/mail/voting-mails.ts";
import type { Mail, ReviewMail, ReviewSubject } from "../../storage/deliveries/mails.ts";
import type { ComposedMail, MailOrigin } from "./composed-mail.ts";

/** Null when the key that made the review link is no longer there. */
export function composeReviewMail(mail: ReviewMail, origin: MailOrigin): ComposedMail | null {
  const { subject, workspaceName, to, eventAt: date } = mail;
  const secrets = secretsOf(mail, origin);
  if (secrets === null) return null;
  const { publicUrl } = origin;
  const voting = subject.story?.voting ?? null;
  const facts: ReviewFacts = {
    ...subject.approval,
    ...(voting === null ? {} : { voting }),
    workspaceName,
    publicUrl,
    approverEmail: to,
    ...secrets,
  };
  return {
    ...contentOf(subject, facts),
    to,
    date,
    ...placeInThread(mail, new URL(publicUrl).hostname),
    ...secrets,
    reviewCodes: secrets.reviewCode === null ? [] : [secrets.reviewCode],
  };
}

function contentOf({ kind, story }: ReviewSubject, facts: ReviewFacts): MailContent {
  if (isOutcomeKind(kind)) return outcomeMail({ ...facts, outcome: outcomeOf(story) });
  return askingMail(kind, {
    ...facts,
    isAgain: story?.isFirst === false,
    handOver: story?.handOver ?? null,
    afterMinutes: story?.afterMinutes ?? null,
    change: story?.change ?? null,
  });
}

/** Only requests with seats have these mails. */
function outcomeOf(story: ReviewSubject["story"]): MailedOutcome {
  const outcome = story?.outcome ?? null;
  if (outcome === null) throw new Error("a mail about an outcome has one");
  return outcome;
}

/** The first mail to this reader begins the thread, whatever its kind. Its id follows from the reviewer alone. */
function placeInThread(mail: ReviewMail, host: string) {
  const { kind, reviewer, story } = mail.subject;
  const first = `${reviewer.id}.review`;
  if (kind === "request.created" || story?.isFirst === true) {
    return { messageId: messageId(first, mail, host), references: null };
  }
  const name = kind === "request.expiring" ? `${reviewer.id}.reminder` : mail.deliveryId;
  return { messageId: messageId(name, mail, host), references: `<${first}@${host}>` };
}

/** A mail that somebody asked to send again must not be taken for the message that came before. */
export function messageId(name: string, { round }: Mail, host: string): string {
  return round === 1 ? `<${name}@${host}>` : `<${name}.${round}@${host}>`;
}

/** Null when the key that made the review link is no longer there. */
export function toDigestRequest(mail: ReviewMail, origin: MailOrigin): DigestRequest | null {
  const { approval, kind, story } = mail.subject;
  const secrets = secretsOf(mail, origin);
  if (secrets === null) return null;
  const voting = story?.voting ?? null;
  return {
    ...approval,
    ...secrets,
    news: newsOf(mail.subject),
    ...(voting === null ? {} : { voting }),
    ...(isOutcomeKind(kind) ? { outcome: outcomeOf(story) } : {}),
  };
}

/** What a digest says of a request that isn't simply asked. */
function newsOf({ kind, story }: ReviewSubject): string | null {
  switch (kind) {
    case "request.created":
    case "request.stage_entered":
      return null;
    case "request.expiring":
      return "reminder, time is running out";
    case "request.reminded":
      return "reminder";
    case "request.escalated":
      return "escalated to you";
    case "request.reassigned":
      return story?.voting?.seat.reason === "away"
        ? "asked in place of a colleague"
        : "handed over to you";
    case "request.changed":
      return "changed, your earlier approval no longer counts";
    case "request.approved":
      return "approved";
    case "request.rejected":
      return "rejected";
    case "request.expired":
      return "expired";
    case "request.cancelled":
      return "cancelled";
    default:
      return kind satisfies never;
  }
}

function secretsOf({ subject: { reviewer } }: ReviewMail, { keyring, publicUrl }: MailOrigin) {
  const key = findSecretKey(keyring, reviewer.secretKeyId);
  if (key === null) return null;
  const reviewUrl = `${publicUrl}/review/${deriveReviewToken(key, reviewer.tokenNonce)}`;
  const reviewCode = reviewer.needsCode ? deriveReviewCode(key, reviewer.tokenNonce) : null;
  return { reviewUrl, reviewCode };
}
