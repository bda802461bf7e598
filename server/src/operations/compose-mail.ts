// Makes the message of a mail from the rows behind it. The same rows give the same message, with the same id and
// the same link, each time: a retry collapses into one, and a kept mail can be shown again.

import { disabledAfter } from "../domain/endpoint-health.ts";
import { findSecretKey, type Keyring } from "../domain/keyring.ts";
import {
  endpointDisabledMail,
  endpointFailingMail,
  invitationMail,
  type MailContent,
  mailRefusedMail,
  passkeyAddedMail,
  passkeyRemovedMail,
  reminderMail,
  reviewMail,
  signInMail,
} from "../domain/mail.ts";
import { deriveReviewCode } from "../domain/review-code.ts";
import { deriveReviewToken } from "../domain/review-link.ts";
import { deriveSignInCode } from "../domain/sign-in.ts";
import type { Mail } from "../storage/due-mails.ts";

export type ComposedMail = MailContent & {
  to: string;
  messageId: string;
  /** The message that this one follows. */
  references: string | null;
  date: Date;
  /** Where its reader is asked to decide; null in a notice. */
  reviewUrl: string | null;
  /** What they are to type there; null when the link alone is enough, and in a notice. */
  reviewCode: string | null;
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
  });
  switch (subject.kind) {
    case "request.created":
    case "request.expiring": {
      const { approval, reviewer, kind } = subject;
      const key = findSecretKey(keyring, reviewer.secretKeyId);
      if (key === null) return null;
      const reviewUrl = `${publicUrl}/review/${deriveReviewToken(key, reviewer.tokenNonce)}`;
      const reviewCode = reviewer.needsCode ? deriveReviewCode(key, reviewer.tokenNonce) : null;
      const facts = { ...common, ...approval, approverEmail: to, reviewUrl, reviewCode };
      const first = `<${reviewer.id}.review@${host}>`;
      return kind === "request.created"
        ? {
            ...reviewMail(facts),
            to,
            date,
            messageId: messageId(`${reviewer.id}.review`, mail, host),
            references: null,
            reviewUrl,
            reviewCode,
          }
        : {
            ...reminderMail(facts),
            to,
            date,
            messageId: messageId(`${reviewer.id}.reminder`, mail, host),
            references: first,
            reviewUrl,
            reviewCode,
          };
    }
    case "mail.failed": {
      const { approval, reviewerEmail: recipient, answer } = subject;
      return notice(
        mailRefusedMail({ ...common, ...approval, approvalId: approval.id, recipient, answer }),
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

/** Sent again because somebody asked for it, it must not be taken for the message that came before. */
function messageId(name: string, { round }: Mail, host: string): string {
  return round === 1 ? `<${name}@${host}>` : `<${name}.${round}@${host}>`;
}
