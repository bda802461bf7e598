// Makes the message of a mail from the rows behind it. The same rows give the same message, with the same id and
// the same link, each time: a retry collapses into one, and a kept mail can be shown again.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { findSecretKey, isAwaited, type Keyring } from "../../domain/access/keyring.ts";
import { deriveSignInCode } from "../../domain/access/sign-in.ts";
import { disabledAfter } from "../../domain/delivery/endpoint-health.ts";
import {
  invitationMail,
  passkeyAddedMail,
  passkeyRemovedMail,
  signInMail,
} from "../../domain/mail/account-mails.ts";
import { countFitting, type DigestRequest, digestMail } from "../../domain/mail/digest-mail.ts";
import { checkpointMail, contradictedLogMail } from "../../domain/mail/log-mails.ts";
import type { MailContent } from "../../domain/mail/mail.ts";
import {
  callbackFailedMail,
  deliveryFailedMail,
  endpointDisabledMail,
  endpointFailingMail,
  mailRefusedMail,
  ownersPasskeyMail,
} from "../../domain/mail/owner-mails.ts";
import { stuckMail, unreachableMail } from "../../domain/mail/stuck-mails.ts";
import {
  digestOf,
  isReviewSubject,
  type Mail,
  type ReviewMail,
} from "../../storage/deliveries/mails.ts";
import { composeReviewMail, messageId, toDigestRequest } from "./compose-review-mail.ts";
import type { ComposedMail, MailOrigin } from "./composed-mail.ts";

/** Null when the key that made the review link is no longer there. */
export function composeMail(mail: Mail, origin: MailOrigin): ComposedMail | null {
  const { keyring, publicUrl } = origin;
  const { subject, workspaceName, workspaceId, to, eventAt: date } = mail;
  if (isReviewSubject(subject)) return composeReviewMail({ ...mail, subject }, origin);
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
    case "digest": {
      const [newest, ...others] = newestOfEach(subject.mails);
      if (others.length === 0) return composeReviewMail(newest, origin);
      const requests = [newest, ...others].map((each) => toDigestRequest(each, origin));
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
    case "request.stuck": {
      const { approval, stages } = subject;
      return notice(stuckMail({ ...common, ...approval, approvalId: approval.id, stages }));
    }
    case "request.unreachable": {
      const { approval, stage, people: addresses, peopleCount: count, answer } = subject;
      const people = { named: addresses.map((email) => ({ email })), count };
      const facts = { ...approval, approvalId: approval.id, stage, people, answer };
      return notice(unreachableMail({ ...common, ...facts }));
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
    case "owner.passkey_added": {
      const { passkeyName, email: holder } = subject;
      return notice(ownersPasskeyMail({ ...common, holder, passkeyName, at: date }));
    }
    case "log.checkpoint":
      return notice(checkpointMail({ ...common, checkpoint: subject.checkpoint, at: date }));
    case "log.contradicted": {
      const { kind: _kind, ...facts } = subject;
      return notice(contradictedLogMail({ ...common, ...facts, at: date }));
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

/** A request that asks again while its first mail is held is listed once, with its newest news. */
function newestOfEach(mails: readonly ReviewMail[]): [ReviewMail, ...ReviewMail[]] {
  const newest = new Map(mails.map((mail) => [mail.subject.reviewer.id, mail]));
  const [first, ...others] = newest.values();
  assert(first !== undefined, "a digest stands for at least one mail");
  return [first, ...others];
}

/** The same mails give the same name. Without one of them, the digest is another message. */
function nameOfDigest(mails: readonly ReviewMail[]): string {
  return hash("sha256", mails.map(({ deliveryId }) => deliveryId).join(" ")).slice(0, 32);
}
