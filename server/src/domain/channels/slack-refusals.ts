// Slack's refusals as sentences for the person who connects it: what is wrong, and what to do.

import type { SlackFailure } from "./slack-answer.ts";

/** `what` names what Slack was asked for, such as "the bot token". */
export function slackRefusal(what: string, { error, needed }: SlackFailure): string {
  if (error === "missing_scope") {
    const scope = needed === undefined ? "a scope" : `the scope ${needed}`;
    return `${what} lacks ${scope}. Add it to the app (countersign slack manifest prints all), install the app again, and copy the token anew.`;
  }
  const sentence = sentences[error];
  return sentence === undefined
    ? `Slack refused ${what}: ${error}.`
    : `Slack refused ${what} (${error}). ${sentence}`;
}

const reinstall = "Install the app again in Slack, and copy the token anew.";
const later = "Try again in a moment.";

const sentences: Readonly<Record<string, string>> = {
  invalid_auth: "It doesn't know this token. Copy it again, whole.",
  not_authed: "It doesn't know this token. Copy it again, whole.",
  token_revoked: reinstall,
  token_expired: `${reinstall} Token rotation must be off.`,
  account_inactive: `The app was removed, or its team is gone. ${reinstall}`,
  not_allowed_token_type: "This is another kind of token than the one that is needed.",
  org_login_required: "The team is moving to an organization. Try again later.",
  ratelimited: later,
  internal_error: later,
  service_unavailable: later,
  timeout: "Slack didn't answer in time. Check the network between this machine and Slack.",
  unreachable: "Slack can't be reached from this machine. Check its network, and SLACK_API_URL.",
  bad_answer: "The answer isn't Slack's. Check SLACK_API_URL, and proxies in between.",
  channel_not_found: "There is no such channel, or the app isn't in it. Invite it there in Slack.",
  not_in_channel: "The app isn't in this channel. Invite it there in Slack.",
  is_archived: "The channel is archived.",
  users_not_found: "Nobody in this Slack team has that address.",
  user_disabled: "This person's Slack account is no longer active.",
};
