// What messages beside mail are called, and why they failed, in words.

import type { MessageEntry } from "../../../../server/src/wire/dashboard-history.ts";

export const messageNames: Readonly<Record<MessageEntry["channel"], string>> = {
  push: "Push message",
  slack: "Slack message",
  teams: "Teams card",
};

const reasons = new Map(
  Object.entries({
    not_connected: "it is no longer connected",
    secret_unreadable: "its secret can’t be opened with the keys of this service",
    address_not_allowed: "its address can’t be reached",
    given_up: "too many tries were cut short",
  }),
);

/** A status or a code of theirs stays as it is: that is what one searches for. */
export function failureWords(failure: string): string {
  return reasons.get(failure) ?? failure;
}
