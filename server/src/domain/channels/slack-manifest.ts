// The manifest from which Slack makes the app: which rights it asks for, and how clicks reach us. It asks for no right to
// read what people write.

export type SlackManifest = {
  display_information: { name: string; description: string };
  features: {
    app_home: {
      home_tab_enabled: boolean;
      messages_tab_enabled: boolean;
      messages_tab_read_only_enabled: boolean;
    };
    bot_user: { display_name: string; always_online: boolean };
  };
  oauth_config: { scopes: { bot: SlackScope[] } };
  settings: {
    interactivity: { is_enabled: boolean; request_url?: string };
    org_deploy_enabled: boolean;
    socket_mode_enabled: boolean;
    token_rotation_enabled: boolean;
  };
};

/** To post and update messages, to write to people, to know guests from members, and to find channels by their ids. */
const botScopes = ["chat:write", "im:write", "users:read", "channels:read", "groups:read"] as const;
/** To know people by the confirmed address in their profile. */
const emailScope = "users:read.email";

export type SlackScope = (typeof botScopes)[number] | typeof emailScope;

export function neededScopes({ matchesEmail }: { matchesEmail: boolean }): SlackScope[] {
  return matchesEmail ? [...botScopes, emailScope] : [...botScopes];
}

/** Without an address clicks come through a socket that we open, which needs no way in from outside. */
export function slackManifest({
  interactionsUrl,
  matchesEmail,
}: {
  interactionsUrl: string | null;
  matchesEmail: boolean;
}): SlackManifest {
  return {
    display_information: {
      name: "Countersign",
      description: "Asks people before an automated agent acts, and tells how it ended.",
    },
    features: {
      app_home: {
        home_tab_enabled: false,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: true,
      },
      bot_user: { display_name: "Countersign", always_online: true },
    },
    oauth_config: { scopes: { bot: neededScopes({ matchesEmail }) } },
    settings: {
      interactivity:
        interactionsUrl === null
          ? { is_enabled: true }
          : { is_enabled: true, request_url: interactionsUrl },
      org_deploy_enabled: false,
      socket_mode_enabled: interactionsUrl === null,
      token_rotation_enabled: false,
    },
  };
}
