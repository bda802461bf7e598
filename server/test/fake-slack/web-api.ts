// The methods of Slack's web API that we call, with their scopes, errors and rates.

import { flawOfMessageBlocks, flawOfView } from "./block-kit.ts";
import type {
  Json,
  SlackApp,
  SlackChannel,
  SlackMessage,
  SlackState,
  SlackUser,
  SlackView,
} from "./slack-state.ts";

export type Arguments = Record<string, Json>;
export type ApiCall = { app: SlackApp; args: Arguments; state: SlackState; rates: Rates };
export type ApiAnswer = Record<string, Json>;

export class SlackError extends Error {
  readonly details: Record<string, Json>;
  constructor(code: string, details: Record<string, Json> = {}) {
    super(code);
    this.details = details;
  }
}

export class RateLimited extends Error {
  readonly retryAfterSeconds: number;
  constructor(waitMs: number) {
    super("ratelimited");
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  }
}

export type RateSettings = {
  /** One message in this time and channel. */
  messageEveryMs: number;
  /** Calls of each method of tier 3 in a minute, such as `chat.update`. Those of tier 4 may be twice as many. */
  tier3PerMinute: number;
  triggerMs: number;
};

/** Slack tolerates a little, because no network keeps time. */
const tolerance = 0.9;

export class Rates {
  readonly settings: RateSettings;
  readonly #lastMessageAt = new Map<string, number>();
  readonly #recentCalls = new Map<string, number[]>();

  constructor(settings: RateSettings) {
    this.settings = settings;
  }

  noteMessage(channelId: string): void {
    const now = performance.now();
    const nextAt =
      (this.#lastMessageAt.get(channelId) ?? -Infinity) + this.settings.messageEveryMs * tolerance;
    if (now < nextAt) throw new RateLimited(nextAt - now);
    this.#lastMessageAt.set(channelId, now);
  }

  noteCall(appId: string, method: string, tier: 3 | 4): void {
    const now = performance.now();
    const key = `${appId} ${method}`;
    const recent = (this.#recentCalls.get(key) ?? []).filter((at) => now - at < 60_000);
    const [oldest = now] = recent;
    if (recent.length >= this.settings.tier3PerMinute * (tier - 2))
      throw new RateLimited(60_000 - (now - oldest));
    this.#recentCalls.set(key, [...recent, now]);
  }
}

type Method = {
  token: "bot" | "app";
  scopes?: readonly string[];
  /** How often an app may call it; null for those with rules of their own. */
  tier: 3 | 4 | null;
  /** Methods that only read take no JSON body. */
  takesJson: boolean;
  run: (call: ApiCall) => ApiAnswer;
};

export const methods: Record<string, Method> = {
  "auth.test": { token: "bot", tier: null, takesJson: true, run: authTest },
  "bots.info": { token: "bot", tier: 3, scopes: ["users:read"], takesJson: false, run: botsInfo },
  "conversations.open": {
    token: "bot",
    tier: 3,
    scopes: ["im:write"],
    takesJson: true,
    run: openConversation,
  },
  "conversations.info": { token: "bot", tier: 3, takesJson: false, run: conversationsInfo },
  "chat.postMessage": {
    token: "bot",
    tier: null,
    scopes: ["chat:write"],
    takesJson: true,
    run: postMessage,
  },
  "chat.update": {
    token: "bot",
    tier: 3,
    scopes: ["chat:write"],
    takesJson: true,
    run: updateMessage,
  },
  "chat.postEphemeral": {
    token: "bot",
    tier: 4,
    scopes: ["chat:write"],
    takesJson: true,
    run: postEphemeral,
  },
  "users.info": { token: "bot", tier: 4, scopes: ["users:read"], takesJson: false, run: usersInfo },
  "users.lookupByEmail": {
    token: "bot",
    tier: 3,
    scopes: ["users:read.email"],
    takesJson: false,
    run: lookupByEmail,
  },
  "views.open": { token: "bot", tier: 4, takesJson: true, run: openView },
  "views.update": { token: "bot", tier: 4, takesJson: true, run: updateView },
};

function authTest({ app, state }: ApiCall): ApiAnswer {
  return {
    url: "https://fake.slack.example/",
    team: `Team ${app.teamId}`,
    user: state.users.get(app.botUserId)?.name,
    team_id: app.teamId,
    user_id: app.botUserId,
    bot_id: app.botId,
    is_enterprise_install: false,
  };
}

function botsInfo({ app, args }: ApiCall): ApiAnswer {
  if (args.bot !== app.botId) throw new SlackError("bot_not_found");
  const { botId: id, id: app_id, botUserId: user_id } = app;
  return { bot: { id, deleted: false, name: "countersign", updated: 0, app_id, user_id } };
}

function openConversation({ app, args, state }: ApiCall): ApiAnswer {
  const user = state.users.get(required(args, "users"));
  if (user === undefined || user.isBot) throw new SlackError("user_not_found");
  if (user.isDeleted) throw new SlackError("user_disabled");
  return { no_op: true, already_open: true, channel: { id: state.directChannel(app, user.id).id } };
}

const readScopes = { public: "channels:read", private: "groups:read", im: "im:read" } as const;

function conversationsInfo({ app, args, state }: ApiCall): ApiAnswer {
  const channel = state.channels.get(required(args, "channel"));
  if (channel === undefined || !isVisible(channel, app)) throw new SlackError("channel_not_found");
  needScope(app, readScopes[channel.kind]);
  const { id, name, kind, isArchived: is_archived, members } = channel;
  const is_member = members.has(app.botUserId);
  return {
    channel: {
      id,
      ...(kind === "im" ? {} : { name, is_member }),
      is_channel: kind === "public",
      is_group: false,
      is_im: kind === "im",
      is_private: kind !== "public",
      is_archived,
    },
  };
}

function postMessage({ app, args, state, rates }: ApiCall): ApiAnswer {
  const channel = writable(app, required(args, "channel"), state);
  const content = contentOf(args);
  rates.noteMessage(channel.id);
  const message = addMessage(state, { app, channel, content, args, onlyFor: null });
  return { channel: channel.id, ts: message.ts, message: messageToJson(message, state) };
}

function postEphemeral({ app, args, state }: ApiCall): ApiAnswer {
  const channel = writable(app, required(args, "channel"), state);
  const userId = required(args, "user");
  if (!channel.members.has(userId)) throw new SlackError("user_not_in_channel");
  const content = contentOf(args);
  const message = addMessage(state, { app, channel, content, args, onlyFor: userId });
  return { message_ts: message.ts };
}

function updateMessage({ app, args, state }: ApiCall): ApiAnswer {
  const channel = state.channels.get(required(args, "channel"));
  if (channel === undefined || !isVisible(channel, app)) throw new SlackError("channel_not_found");
  const message = state.findMessage(channel.id, required(args, "ts"));
  if (message === null) throw new SlackError("message_not_found");
  if (message.appId !== app.id) throw new SlackError("cant_update_message");
  if (channel.isArchived) throw new SlackError("is_archived");
  const content = contentOf(args);
  change(message, content);
  return {
    channel: channel.id,
    ts: message.ts,
    text: message.text,
    message: messageToJson(message, state),
  };
}

function usersInfo({ app, args, state }: ApiCall): ApiAnswer {
  const user = state.users.get(required(args, "user"));
  if (user === undefined) throw new SlackError("user_not_found");
  return { user: userToJson(user, app) };
}

/** Deactivated people are not found by their address. */
function lookupByEmail({ app, args, state }: ApiCall): ApiAnswer {
  needScope(app, "users:read");
  const email = required(args, "email").toLowerCase();
  const user = [...state.users.values()].find(
    (each) => each.email?.toLowerCase() === email && !each.isDeleted && each.teamId === app.teamId,
  );
  if (user === undefined) throw new SlackError("users_not_found");
  return { user: userToJson(user, app) };
}

function openView({ app, args, state, rates }: ApiCall): ApiAnswer {
  const trigger = state.triggers.get(required(args, "trigger_id"));
  if (trigger === undefined || trigger.appId !== app.id) throw new SlackError("invalid_trigger_id");
  if (trigger.isUsed) throw new SlackError("exchanged_trigger_id");
  if (performance.now() - trigger.bornAtMs > rates.settings.triggerMs)
    throw new SlackError("expired_trigger_id");
  const view = checkedView(args.view);
  trigger.isUsed = true;
  const kept: SlackView = {
    id: state.newId("V"),
    userId: trigger.userId,
    appId: app.id,
    hash: state.newTs(),
    view,
    isOpen: true,
  };
  state.views.set(kept.id, kept);
  return { view: viewToJson(kept, app.teamId) };
}

function updateView({ app, args, state }: ApiCall): ApiAnswer {
  const kept = state.views.get(required(args, "view_id"));
  if (kept === undefined || kept.appId !== app.id || !kept.isOpen)
    throw new SlackError("not_found");
  if (args.hash !== undefined && args.hash !== kept.hash) throw new SlackError("hash_conflict");
  replaceView(kept, args.view, state);
  return { view: viewToJson(kept, app.teamId) };
}

export function replaceView(kept: SlackView, view: Json, state: SlackState): void {
  kept.view = checkedView(view);
  kept.hash = state.newTs();
}

export function checkedView(view: Json): Json {
  const flaw = flawOfView(view);
  if (flaw === null) return withIds(view);
  throw new SlackError(flaw.error, { response_metadata: { messages: flaw.messages } });
}

/** Blocks without an id get one from Slack. */
function withIds(view: Json): Json {
  return { ...view, blocks: idsGiven(view.blocks) };
}

function idsGiven(blocks: Json[]): Json[] {
  return blocks.map((block, at) => ({ block_id: `gen${at}`, ...block }));
}

const textCharactersMax = 40_000;

type Content = { text: string; blocks: Json[] };

export function contentOf({ text = "", blocks }: Arguments): Content {
  if (typeof text !== "string") throw new SlackError("invalid_arguments");
  const given =
    typeof blocks === "string" ? parseOr(blocks, "invalid_blocks_format") : (blocks ?? []);
  const flaw = flawOfMessageBlocks(given);
  if (flaw !== null)
    throw new SlackError(flaw.error, { response_metadata: { messages: flaw.messages } });
  if (text === "" && given.length === 0) throw new SlackError("no_text");
  if (text.length > textCharactersMax) throw new SlackError("msg_too_long");
  return { text, blocks: idsGiven(given) };
}

type NewMessage = {
  app: SlackApp;
  channel: SlackChannel;
  content: Content;
  args: Arguments;
  onlyFor: string | null;
};

export function addMessage(
  state: SlackState,
  { app, channel, content, args, onlyFor }: NewMessage,
): SlackMessage {
  const message: SlackMessage = {
    ...content,
    channel: channel.id,
    ts: state.newTs(),
    appId: app.id,
    onlyFor,
    isDeleted: false,
    versions: [content],
    unfurlsLinks: isTrue(args.unfurl_links, false),
    unfurlsMedia: isTrue(args.unfurl_media, true),
    isMarkup: isTrue(args.mrkdwn, true),
    linksUrls: args.parse !== "none",
  };
  state.messages.push(message);
  return message;
}

export function change(message: SlackMessage, content: Content): void {
  Object.assign(message, content);
  message.versions.push(content);
}

/** Forms have words where JSON has true and false. */
function isTrue(value: Json, absent: boolean): boolean {
  return value === undefined ? absent : value === true || value === "true" || value === "1";
}

function writable(app: SlackApp, id: string, state: SlackState): SlackChannel {
  const user = state.users.get(id);
  const channel = user === undefined ? state.channels.get(id) : state.directChannel(app, user.id);
  if (channel === undefined || !isVisible(channel, app)) throw new SlackError("channel_not_found");
  if (channel.isArchived) throw new SlackError("is_archived");
  if (!channel.members.has(app.botUserId)) {
    if (!app.scopes.has("chat:write.public")) throw new SlackError("not_in_channel");
  }
  return channel;
}

function isVisible(channel: SlackChannel, app: SlackApp): boolean {
  return (
    channel.teamId === app.teamId &&
    (channel.kind === "public" || channel.members.has(app.botUserId))
  );
}

function required(args: Arguments, name: string): string {
  const value = args[name];
  if (typeof value === "string" && value !== "") return value;
  throw new SlackError("invalid_arguments", {
    response_metadata: { messages: [`[ERROR] missing required field: ${name}`] },
  });
}

export function needScope(app: SlackApp, scope: string): void {
  if (app.scopes.has(scope)) return;
  throw new SlackError("missing_scope", { needed: scope, provided: [...app.scopes].join(",") });
}

export function parseOr(text: string, code: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw new SlackError(code);
  }
}

/** The address only for those who may read addresses. */
function userToJson(user: SlackUser, app: SlackApp): Json {
  const seesEmail = app.scopes.has("users:read.email") && user.email !== null && !user.isStranger;
  return {
    id: user.id,
    team_id: user.teamId,
    name: user.name,
    deleted: user.isDeleted,
    real_name: user.name,
    profile: {
      real_name: user.name,
      display_name: user.name,
      ...(seesEmail ? { email: user.email } : {}),
    },
    is_bot: user.isBot,
    is_app_user: false,
    updated: 0,
    is_restricted: user.isRestricted,
    is_ultra_restricted: user.isUltraRestricted,
    ...(user.isStranger ? { is_stranger: true } : {}),
    ...(user.isDeleted ? {} : { is_email_confirmed: user.isEmailConfirmed }),
  };
}

export function messageToJson(message: SlackMessage, state: SlackState): Json {
  const app = state.apps.get(message.appId);
  return {
    type: "message",
    user: app?.botUserId,
    bot_id: app?.botId,
    app_id: message.appId,
    team: app?.teamId,
    ts: message.ts,
    text: message.text,
    blocks: message.blocks,
  };
}

export function viewToJson(kept: SlackView, teamId: string, values: Json = {}): Json {
  const { private_metadata = "", callback_id = "", ...view } = kept.view;
  return {
    id: kept.id,
    team_id: teamId,
    state: { values },
    hash: kept.hash,
    clear_on_close: false,
    notify_on_close: false,
    close: null,
    submit: null,
    previous_view_id: null,
    root_view_id: kept.id,
    app_id: kept.appId,
    external_id: "",
    app_installed_team_id: teamId,
    private_metadata,
    callback_id,
    ...view,
  };
}
