// The channels beside mail, as the dashboard gets and changes them. Tokens and addresses of webhooks only ever go in.

/** The calls about channels, by method and path. */
export type ChannelCalls = {
  "GET /workspaces/:workspaceId/channels": { answer: Channels };
  /** Replaces an earlier connection, once Slack takes the tokens. */
  "POST /workspaces/:workspaceId/slack": { body: NewSlackConnection; answer: SlackConnection };
  "POST /workspaces/:workspaceId/slack/settings": {
    body: Pick<SlackConnection, "matchesEmail" | "showsPayload">;
    answer: SlackConnection;
  };
  /** Posts to a channel, or to the owner of an address; null asks Slack alone. */
  "POST /workspaces/:workspaceId/slack/test": { body: { to: string | null }; answer: SlackTrial };
  "POST /workspaces/:workspaceId/slack/disconnect": { answer: { done: true } };
  "GET /workspaces/:workspaceId/slack/manifest": {
    query: { mode: SlackMode; matchesEmail: "true" | "false" };
    answer: { text: string };
  };
  /** Those before the first that is refused hold. */
  "POST /workspaces/:workspaceId/groups/:groupId/channels": {
    body: GroupChannelChanges;
    answer: GroupChannels;
  };
};

export type Channels = {
  /** Null while Slack isn't connected. */
  slack: SlackConnection | null;
  /** Only groups that have a channel of their own, or whose mails wait. */
  groups: GroupChannels[];
};

export type SlackMode = "socket" | "http";

export type SlackConnection = {
  teamName: string;
  mode: SlackMode;
  /** A Slack profile counts as the person whose confirmed address it has. */
  matchesEmail: boolean;
  /** Otherwise messages lead to the inbox, and the payload never leaves. */
  showsPayload: boolean;
  /** Null is the operator. */
  connectedBy: string | null;
  connectedAt: string;
  /** Slack no longer takes the token, and says why in a code of its own. */
  broken: { at: string; reason: string } | null;
};

export type NewSlackConnection = {
  mode: SlackMode;
  botToken: string;
  /** For mode `socket`. */
  appToken?: string;
  /** For mode `http`. */
  signingSecret?: string;
  matchesEmail: boolean;
  showsPayload: boolean;
};

/** `isPosted` if a message was wanted, and is there. */
export type SlackTrial = { teamName: string; isPosted: boolean };

export type GroupChannels = {
  groupId: string;
  slackChannel: { id: string; name: string } | null;
  /** The host of its Workflows webhook. The whole address is a secret. */
  teamsHost: string | null;
  /** Null: mail goes out at once. */
  mailAfterMinutes: number | null;
};

/** What is left out stays as it is, and null takes it away. */
export type GroupChannelChanges = {
  /** A channel's id, or a link to it. */
  slackChannel?: string | null;
  teamsUrl?: string | null;
  mailAfterMinutes?: number | null;
};
