// How an attempt at a webhook went, in words that say what to look at. The words of the service's list that are
// not known here, because it is newer, are shown as they are.

const outcomes = new Map(
  Object.entries({
    delivered: "Delivered",
    http_status: "Answered with an error",
    redirected: "Answered with a redirect, which is not followed",
    timed_out: "No complete answer within 10 seconds",
    name_not_resolved: "The host name has no address",
    address_not_allowed: "The address is private, and not allowed here",
    connection_failed: "Could not connect, or the connection was lost",
    tls_failed: "The certificate or the TLS handshake failed",
    broken_response: "What came back is not HTTP",
    secret_unreadable: "The secret could not be opened, so nothing was sent",
    interrupted: "Interrupted; nobody knows how it went",
  }),
);

export function describeOutcome(outcome: string | null, httpStatus: number | null): string {
  if (outcome === null) return "Not tried yet";
  if (outcome === "http_status" && httpStatus !== null) return `Answered ${httpStatus}`;
  const words = outcomes.get(outcome) ?? outcome.replaceAll("_", " ");
  return httpStatus === null ? words : `${words} (${httpStatus})`;
}
