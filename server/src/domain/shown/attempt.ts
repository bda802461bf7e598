// The outcomes of one attempt: two closed lists, stored with the attempt and shown wherever attempts are. Few classes
// on purpose: a stranger's host may answer a connection in more ways than we want to map.

export const webhookOutcomes = [
  /** Answered with 2xx. */
  "delivered",
  /** Answered with another status, which is recorded beside it. */
  "http_status",
  /** Answered with a redirect, which is never followed. */
  "redirected",
  /** Not over within the deadline. */
  "timed_out",
  "name_not_resolved",
  /** The address is private or special, and not allowed. Nothing was sent. */
  "address_not_allowed",
  /** Refused, unreachable, or lost before the answer was there. */
  "connection_failed",
  "tls_failed",
  /** The response is not HTTP. */
  "broken_response",
  /** None of the keys in SECRET_KEY opens the endpoint's secret, so nothing could be signed or sent. */
  "secret_unreadable",
  /** Too many crashes in a row have cut the delivery short. Nothing was sent. */
  "given_up",
] as const;

export type WebhookOutcome = (typeof webhookOutcomes)[number];

export const mailOutcomes = [
  /** Accepted by the mail server. */
  "delivered",
  /** There is no mail server: kept, and shown at /dev/mail. */
  "kept",
  /** The mail server refuses this message for good (5xx). */
  "refused",
  /** The mail server wants it later (4xx). */
  "deferred",
  "timed_out",
  "connection_failed",
  "tls_failed",
  /** The mail server refuses our user name and password. */
  "sign_in_failed",
  /** The key that made the review link is no longer in SECRET_KEY. */
  "secret_unreadable",
  /** Too many crashes in a row have cut the mail short. Nothing was sent. */
  "given_up",
] as const;

export type MailOutcome = (typeof mailOutcomes)[number];

/** The process ended while it was under way, so nobody knows how it went. It doesn't count, and is tried again. */
export const interrupted = "interrupted";

/**
 * No attempt at all: the database was restored from a backup, and whether an attempt followed the backup, nobody knows.
 * The delivery is skipped until the operator releases it.
 */
export const heldByRestore = "held_by_restore";

export type AttemptOutcome = WebhookOutcome | MailOutcome | typeof interrupted;

/** After these a delivery is done. */
export const successes = ["delivered", "kept"] as const satisfies AttemptOutcome[];

/** After these a delivery has failed, whatever attempts are left. */
export const finalFailures = ["refused", "given_up"] as const satisfies AttemptOutcome[];

export function isSuccess(outcome: string | null): boolean {
  return successes.some((success) => success === outcome);
}

export function isFinalFailure(outcome: string): boolean {
  return finalFailures.some((failure) => failure === outcome);
}

/** Members don't learn whether a name is unknown or leads inside: otherwise they could ask for the names in there. */
export function outcomeToldToMembers<Outcome extends string | null>(
  outcome: Outcome,
): Outcome | "address_not_allowed" {
  return outcome === "name_not_resolved" ? "address_not_allowed" : outcome;
}
