// The outcome of an attempt as a sentence: what happened and, if somebody can act, what to do.

import type {
  AttemptOutcome,
  MailOutcome,
  WebhookOutcome,
} from "../../../../server/src/domain/shown/attempt.ts";

export type DestinationKind = "endpoint" | "mailbox";

type Told = { outcome: string | null; httpStatus: number | null };

const webhookSentences: Record<WebhookOutcome | "interrupted", string> = {
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
};

const mailSentences: Record<MailOutcome | "interrupted", string> = {
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
};

export function outcomeSentence(kind: DestinationKind, { outcome, httpStatus }: Told): string {
  if (outcome === null) return "Not tried yet.";
  if (kind === "endpoint" && outcome === "http_status" && httpStatus !== null) {
    return statusSentence(httpStatus);
  }
  const sentences: Record<string, string> = kind === "endpoint" ? webhookSentences : mailSentences;
  // A newer service may know more words than this page.
  return Object.hasOwn(sentences, outcome)
    ? (sentences[outcome] ?? outcome)
    : `Ended with “${outcome.replaceAll("_", " ")}”.`;
}

export function isSuccess(outcome: string | null): boolean {
  return (
    outcome === ("delivered" satisfies AttemptOutcome) ||
    outcome === ("kept" satisfies AttemptOutcome)
  );
}

function statusSentence(status: number): string {
  const meaning = statusMeanings[status] ?? classMeanings[Math.floor(status / 100)];
  const answered = `Answered with HTTP ${status}`;
  return meaning === undefined ? `${answered}.` : `${answered}: ${meaning}`;
}

const statusMeanings: Record<number, string> = {
  400: "your server did not understand the webhook.",
  401: "your server asks for credentials, which webhooks don’t have. Check the signature instead.",
  403: "your server forbids it. A firewall or bot protection may stand in front.",
  404: "nothing is at this address. Check the path.",
  405: "the address takes no POST.",
  410: "your server says that the address is gone for good.",
  413: "the body is larger than your server accepts.",
  429: "your server asks us to slow down.",
  502: "the server behind your proxy could not be reached.",
  503: "your server is not available just now.",
  504: "the server behind your proxy took too long.",
};

const classMeanings: Record<number, string> = {
  1: "not a final answer.",
  3: "not a status that confirms the webhook.",
  4: "your server refused the webhook.",
  5: "your server failed while handling the webhook.",
};
