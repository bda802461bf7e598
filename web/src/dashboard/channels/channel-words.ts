// What the pages say of channels.

import type { SlackMode } from "../../../../server/src/wire/dashboard-channels.ts";

export const modeWords: Record<SlackMode, { name: string; hint: string }> = {
  socket: {
    name: "Socket Mode",
    hint: "This service connects to Slack. Works behind a firewall and on localhost.",
  },
  http: {
    name: "HTTP",
    hint: "Slack calls this service, so its address must be reachable from the internet.",
  },
};

const brokenWords = new Map(
  Object.entries({
    account_inactive: "the app’s bot user was removed",
    invalid_auth: "the token is not valid any more",
    missing_scope: "the app lacks a permission: install it again from the manifest",
    token_expired: "the token has expired",
    token_revoked: "the token was revoked, or the app was removed",
  }),
);

/** Slack's code, and what it means if we know. */
export function brokenSentence(reason: string): string {
  const meaning = brokenWords.get(reason);
  return meaning === undefined ? reason : `${meaning} (${reason})`;
}

/** "At once", "10 minutes after the other channels". */
export function mailWords(minutes: number | null): string {
  if (minutes === null) return "At once";
  return `${minutes} ${minutes === 1 ? "minute" : "minutes"} after the other channels`;
}
