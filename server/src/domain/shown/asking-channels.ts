// The channels by which people are asked, as callers name them in `channels`. Mail is always among them.

/** `slack_link` tells of the request in Slack, without its payload, and leads to the inbox. */
export const askingChannels = ["mail", "push", "slack", "slack_link", "teams"] as const;
export type AskingChannel = (typeof askingChannels)[number];

const names: Readonly<Record<AskingChannel, string>> = {
  mail: "mail",
  push: "push",
  slack: "Slack",
  slack_link: "Slack without the payload",
  teams: "Teams",
};

/** "mail, Slack" */
export function channelList(channels: readonly AskingChannel[]): string {
  return channels.map((channel) => names[channel]).join(", ");
}
