// Makes the message of a mail from the rows behind it. The same rows give the same message, with the same id and
// the same link, each time: a retry collapses into one, and a kept mail can be shown again.

import { hash } from "node:crypto";
import { findSecretKey, isAwaited, type Keyring } from "../../domain/access/keyring.ts";
import { deriveReviewCode } from "../../domain/access/review-code.ts";
import { deriveReviewToken } from "../../domain/access/review-link.ts";
import { deriveSignInCode } from "../../domain/access/sign-in.ts";
import { disabledAfter } from "../../domain/delivery/endpoint-health.ts";
import {
  invitationMail,
  passkeyAddedMail,
  passkeyRemovedMail,
  signInMail,
} from "../../domain/mail/account-mails.ts";
import { countFitting, type DigestRequest, digestMail } from "../../domain/mail/digest-mail.ts";
import { type MailContent, reminderMail, reviewMail } from "../../domain/mail/mail.ts";
import {
  callbackFailedMail,
  deliveryFailedMail,
  endpointDisabledMail,
  endpointFailingMail,
  mailRefusedMail,
} from "../../domain/mail/owner-mails.ts";
import { digestOf, type Mail, type ReviewMail } from "../../storage/deliveries/mails.ts";

export type ComposedMail = MailContent & {
  to: string;
  messageId: string;
  /** The message that this one follows. */
  references: string | null;
  date: Date;
  /** The page where its reader decides; null in a notice, and in a digest, which has many. */
  reviewUrl: string | null;
  /** The code that they type there; null when the link alone is enough, and in a notice. */
  reviewCode: string | null;
  /** All codes in it, which no log may show. */
  reviewCodes: readonly string[];
};

export type MailOrigin = { keyring: Keyring; publicUrl: string };

/** Null when the key that made the review link is no longer there. */
export function composeMail(mail: Mail, { keyring, publicUrl }: MailOrigin): ComposedMail | null {
  const { subject, workspaceName, workspaceId, to, eventAt: date } = mail;
  const host = new URL(publicUrl).hostname;
  const common = { workspaceName, workspaceId, publicUrl };
  const notice = (content: MailContent): ComposedMail => ({
    ...content,
    to,
    date,
    messageId: messageId(mail.deliveryId, mail, host),
    references: null,
    reviewUrl: null,
    reviewCode: null,
    reviewCodes: [],
  });
  switch (subject.kind) {
    case "request.created":
    case "request.expiring": {
      const { approval, reviewer, kind } = subject;
      const secrets = secretsOf({ ...mail, subject }, { keyring, publicUrl });
      if (secrets === null) return null;
      const facts = { ...common, ...approval, approverEmail: to, ...secrets };
      const first = `<${reviewer.id}.review@${host}>`;
      const reviewCodes = secrets.reviewCode === null ? [] : [secrets.reviewCode];
      return kind === "request.created"
        ? {
            ...reviewMail(facts),
            to,
            date,
            messageId: messageId(`${reviewer.id}.review`, mail, host),
            references: null,
            ...secrets,
            reviewCodes,
          }
        : {
            ...reminderMail(facts),
            to,
            date,
            messageId: messageId(`${reviewer.id}.reminder`, mail, host),
            references: first,
            ...secrets,
            reviewCodes,
          };
    }
    case "digest": {
      const requests = subject.mails.map((each) => toDigestRequest(each, { keyring, publicUrl }));
      if (!requests.every((request) => request !== null)) return null;
      return {
        ...notice(digestMail({ ...common, approverEmail: to, requests })),
        messageId: `<${nameOfDigest(subject.mails)}.digest@${host}>`,
        reviewCodes: requests.flatMap(({ reviewCode }) => reviewCode ?? []),
      };
    }
    case "mail.failed": {
      const { approval, reviewerEmail: recipient, answer } = subject;
      return notice(
        mailRefusedMail({ ...common, ...approval, approvalId: approval.id, recipient, answer }),
      );
    }
    case "callback.failed": {
      const { approval, host: callbackHost, event, reason: lastOutcome } = subject;
      const facts = { ...approval, approvalId: approval.id, callbackHost, event, lastOutcome };
      return notice(callbackFailedMail({ ...common, ...facts, givenUpAt: date }));
    }
    case "endpoint.delivery_failed": {
      const { endpoint, reason, event, approvalId, waiting } = subject;
      return notice(
        deliveryFailedMail({
          ...common,
          endpointId: endpoint.id,
          endpointUrl: endpoint.url,
          givenUpAt: date,
          lastOutcome: reason,
          event,
          approvalId,
          waiting,
        }),
      );
    }
    case "endpoint.failing":
      return notice(
        endpointFailingMail({
          ...common,
          endpointId: subject.endpoint.id,
          endpointUrl: subject.endpoint.url,
          failingSince: subject.failingSince ?? date,
          disabledOnOrAfter: disabledAfter(date),
          lastOutcome: subject.reason,
        }),
      );
    case "endpoint.disabled":
      return notice(
        endpointDisabledMail({
          ...common,
          endpointId: subject.endpoint.id,
          endpointUrl: subject.endpoint.url,
          failingSince: subject.failingSince,
          disabledAt: date,
          reason: subject.reason,
        }),
      );
    case "person.signing_in": {
      const key = findSecretKey(keyring, subject.secretKeyId);
      if (key === null) return null;
      const code = deriveSignInCode(key, subject.nonce);
      return notice(signInMail({ code, expiresAt: subject.expiresAt, publicUrl, email: to }));
    }
    case "person.passkey_added":
    case "person.passkey_removed": {
      const { kind, passkeyName } = subject;
      const facts = { passkeyName, at: date, publicUrl, email: to };
      const isAdded = kind === "person.passkey_added";
      return notice(isAdded ? passkeyAddedMail(facts) : passkeyRemovedMail(facts));
    }
    case "member.invited": {
      const { role, invitedBy } = subject;
      return notice(invitationMail({ workspaceName, role, invitedBy, publicUrl, email: to }));
    }
    default:
      return subject satisfies never;
  }
}

/** The key that a mail can't be made without, when it may still come; null when it is here or given up. */
export function awaitedKeyOf({ subject }: Mail, keyring: Keyring): string | null {
  const id =
    "reviewer" in subject
      ? subject.reviewer.secretKeyId
      : "secretKeyId" in subject
        ? subject.secretKeyId
        : null;
  return id !== null && isAwaited(keyring, id) ? id : null;
}

/**
 * The mails of a digest as they can be sent. Each part fits into one message. A mail whose key is gone can't be sent,
 * and keeps none of the others back. Any other mail is one part.
 */
export function partsOfMail(mail: Mail, origin: MailOrigin): [Mail, ...Mail[]] {
  if (mail.subject.kind !== "digest") return [mail];
  const sendable: { mail: ReviewMail; request: DigestRequest }[] = [];
  const parts: Mail[] = [];
  for (const each of mail.subject.mails) {
    const request = toDigestRequest(each, origin);
    if (request === null) parts.push(each);
    else sendable.push({ mail: each, request });
  }
  const { workspaceName, to: approverEmail } = mail;
  const around = { workspaceName, approverEmail, publicUrl: origin.publicUrl };
  while (sendable.length > 0) {
    const requests = sendable.map(({ request }) => request);
    const part = sendable.splice(0, countFitting({ ...around, requests }));
    parts.push(digestOf(part.map((each) => each.mail)));
  }
  const [first = mail, ...others] = parts;
  return [first, ...others];
}

/** Null when the key that made the review link is no longer there. */
function secretsOf({ subject: { reviewer } }: ReviewMail, { keyring, publicUrl }: MailOrigin) {
  const key = findSecretKey(keyring, reviewer.secretKeyId);
  if (key === null) return null;
  const reviewUrl = `${publicUrl}/review/${deriveReviewToken(key, reviewer.tokenNonce)}`;
  const reviewCode = reviewer.needsCode ? deriveReviewCode(key, reviewer.tokenNonce) : null;
  return { reviewUrl, reviewCode };
}

function toDigestRequest(mail: ReviewMail, origin: MailOrigin): DigestRequest | null {
  const { approval, kind } = mail.subject;
  const secrets = secretsOf(mail, origin);
  if (secrets === null) return null;
  return { ...approval, ...secrets, isReminder: kind === "request.expiring" };
}

/** The same mails give the same name. Without one of them, the digest is another message. */
function nameOfDigest(mails: readonly ReviewMail[]): string {
  return hash("sha256", mails.map(({ deliveryId }) => deliveryId).join(" ")).slice(0, 32);
}

/** A mail that somebody asked to send again must not be taken for the message that came before. */
function messageId(name: string, { round }: Mail, host: string): string {
  return round === 1 ? `<${name}@${host}>` : `<${name}.${round}@${host}>`;
}
