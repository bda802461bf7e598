// What came of a call to Slack, and what follows from it.

// biome-ignore lint/suspicious/noExplicitAny: Slack's answers have a shape for each method; callers check what they use
export type SlackBody = Record<string, any>;

/** Those that are undefined are not sent. */
export type SlackArguments = Record<string, unknown>;

export type SlackAnswer =
  | {
      ok: true;
      body: SlackBody;
      /** What the token may do, where Slack says so. */
      scopes?: string[];
    }
  | SlackFailure;

export type SlackFailure = {
  ok: false;
  /** Slack's code, or `timeout`, `unreachable`, `bad_answer`. */
  error: string;
  /** The Retry-After of a 429 or 503. Not bounded. */
  retryAfterSeconds: number | null;
  /** The scope that the token lacks, if that is why. */
  needed?: string;
};

/** How those who may not talk to strangers themselves are given the call. */
export type CallSlack = (call: {
  token: string;
  /** Such as `chat.postMessage`. */
  method: string;
  body?: SlackArguments;
}) => Promise<SlackAnswer>;

/** The token is worth nothing any more, whatever is called. */
const brokenCodes = new Set([
  "account_inactive",
  "invalid_auth",
  "missing_scope",
  "not_allowed_token_type",
  "not_authed",
  "team_access_not_granted",
  "token_expired",
  "token_revoked",
]);

/** Another try, later, may go well. */
const passingCodes = new Set([
  "accesslimited",
  "bad_answer",
  "fatal_error",
  "internal_error",
  "message_limit_exceeded",
  "org_login_required",
  "rate_limited",
  "ratelimited",
  "request_timeout",
  "rollup_error",
  "service_unavailable",
  "team_added_to_org",
  "timeout",
  "unreachable",
]);

/** `broken` is about the connection, `refused` about this message alone. */
export function meaningOfSlackError(error: string): "passing" | "broken" | "refused" {
  if (brokenCodes.has(error)) return "broken";
  return passingCodes.has(error) ? "passing" : "refused";
}
