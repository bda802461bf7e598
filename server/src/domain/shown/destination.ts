// The destinations of deliveries, one entry for each kind: how attempts to it can end, and what pages say of it. Each
// record is exhaustive, so a new channel compiles when its entry is complete.

import {
  type heldByRestore,
  type interrupted,
  type MailOutcome,
  mailOutcomes,
  type WebhookOutcome,
  webhookOutcomes,
} from "./attempt.ts";

/** As it stands in deliveries.channel. */
export const channels = ["webhook", "mail", "callback"] as const;
export type Channel = (typeof channels)[number];

/** Channels without endpoints: a worker goes from workspace to workspace. */
export const workspaceChannels = ["mail", "callback"] as const satisfies Channel[];

/** Each channel has one kind of destination. */
export type Destination =
  | { kind: "endpoint"; id: string; url: string }
  | { kind: "mailbox"; email: string }
  /** The rest of its address is with the request: it may be a secret. */
  | { kind: "callback"; host: string };
export type DestinationKind = Destination["kind"];

/** The address by which people know it. */
export function addressOf(destination: Destination): string {
  switch (destination.kind) {
    case "endpoint":
      return destination.url;
    case "mailbox":
      return destination.email;
    case "callback":
      return destination.host;
    default:
      return destination satisfies never;
  }
}

export type DestinationWords<Outcome extends string = string> = {
  outcomes: readonly Outcome[];
  /** How an attempt went: what happened and, where somebody can do something, what. */
  sentences: Readonly<Record<Outcome | typeof interrupted | typeof heldByRestore, string>>;
  /** Stands above the beginning of the answer. */
  answered: string;
  skipped: string;
  /** Names a delivery of this event; null where receivers know the event's own name. */
  title: (event: string) => string | null;
  /** Lower ranks come first in a list: they usually need a look. */
  rank: number;
  /** It asks for a decision. After the decision there is nothing to send again. */
  isAboutDeciding: boolean;
};

type OutcomesByKind = {
  endpoint: WebhookOutcome;
  mailbox: MailOutcome;
  callback: WebhookOutcome;
};

/** How a POST to a server went, whoever named the server. */
const postSentences = {
  delivered: "Received and confirmed.",
  http_status: "Answered with a status that means it was not accepted.",
  redirected:
    "Answered with a redirect. We don’t follow redirects: set the endpoint to its final address.",
  timed_out: "No complete answer within 10 seconds. Answer first and work afterwards.",
  name_not_resolved: "The host name has no address. Check its spelling and its DNS.",
  address_not_allowed:
    "The host has no public address. Check its spelling and its DNS. Webhooks reach private addresses only if the operator of this service allows it.",
  connection_failed:
    "The connection was refused, failed, or was lost before the answer. Check that the server runs and can be reached.",
  tls_failed: "No encrypted connection could be made. Check the certificate and its chain.",
  broken_response: "The answer isn’t HTTP. Check that a web server answers at this address.",
  secret_unreadable:
    "The endpoint’s secret cannot be opened with the service’s keys, so nothing was signed or sent. The operator must restore SECRET_KEY, or rotate the secret.",
  given_up:
    "Not sent: the service stopped each time it tried to send this, for days. Ask the operator to look at its log, then resend.",
  interrupted:
    "The service stopped during this attempt, so nobody knows whether it arrived. The attempt doesn’t count.",
  held_by_restore:
    "Held: the service was restored from a backup, and this may have been sent since. The operator can release it, or resend it here.",
} satisfies DestinationWords<WebhookOutcome>["sentences"];

export const destinationWords: {
  readonly [Kind in DestinationKind]: DestinationWords<OutcomesByKind[Kind]>;
} = {
  endpoint: {
    outcomes: webhookOutcomes,
    sentences: postSentences,
    answered: "The start of your server’s answer",
    skipped: "Not sent: the endpoint was disabled. Enable it, then resend.",
    title: () => null,
    rank: 0,
    isAboutDeciding: false,
  },
  callback: {
    outcomes: webhookOutcomes,
    sentences: {
      ...postSentences,
      redirected:
        "Answered with a redirect. We don’t follow redirects: the request must name the final address.",
      address_not_allowed:
        "The host has no public address, or none that may be reached over plain http. Check its spelling and its DNS. Callbacks reach private addresses only if the operator of this service allows it.",
      secret_unreadable:
        "The workspace’s callback secret cannot be opened with the service’s keys, so nothing was signed or sent. The operator must restore SECRET_KEY, or rotate the secret.",
    },
    answered: "The start of the server’s answer",
    skipped: "Not sent.",
    title: () => null,
    rank: 0,
    isAboutDeciding: false,
  },
  mailbox: {
    outcomes: mailOutcomes,
    sentences: {
      delivered: "Accepted by the mail server.",
      kept: "There is no mail server, so the mail was kept: it is shown at /dev/mail.",
      refused: "The mail server refuses this mail for good. Check the address.",
      deferred: "The mail server asked to try again later.",
      timed_out: "The mail server took too long to answer.",
      connection_failed: "The mail server could not be reached, or the connection was lost.",
      tls_failed: "No encrypted connection to the mail server could be made.",
      sign_in_failed:
        "The mail server refused our user name and password. The operator must check SMTP_URL.",
      secret_unreadable:
        "The key that made the review link is no longer in SECRET_KEY, so no link could be made.",
      given_up:
        "Not sent: the service stopped each time it tried to send this mail, for days. Ask the operator to look at its log, then send again.",
      interrupted:
        "The service stopped during this attempt, so nobody knows whether the mail was sent. The attempt doesn’t count.",
      held_by_restore:
        "Held: the service was restored from a backup, and this mail may have been sent since. The operator can release it.",
    },
    answered: "The mail server’s answer",
    skipped: "Not sent: the request had ended, or this person was no longer asked.",
    title: mailTitle,
    rank: 1,
    isAboutDeciding: true,
  },
};

/** Mails are named by their purpose. */
const mailTitles: Readonly<Record<string, string>> = {
  "request.created": "Review mail",
  "request.stage_entered": "Review mail",
  "request.escalated": "Escalation mail",
  "request.reassigned": "Hand-over mail",
  "request.changed": "Mail about a change",
  "request.reminded": "Reminder mail",
  "request.expiring": "Reminder mail",
  "request.approved": "Mail about the outcome",
  "request.rejected": "Mail about the outcome",
  "request.expired": "Mail about the outcome",
  "request.cancelled": "Mail about the outcome",
};

function mailTitle(event: string): string {
  return mailTitles[event] ?? `Mail about ${event}`;
}
