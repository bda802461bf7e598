// What the fake Slack remembers: teams' apps, people, conversations, messages and open modals.

// biome-ignore lint/suspicious/noExplicitAny: blocks and views are checked when they come in, and looked into by tests
export type Json = any;

export type SlackApp = {
  id: string;
  teamId: string;
  botUserId: string;
  botId: string;
  botToken: string;
  /** Opens sockets. */
  appToken: string;
  signingSecret: string;
  scopes: Set<string>;
  /** Where clicks go when no socket is used. */
  interactionsUrl: string | null;
};

export type SlackUser = {
  id: string;
  teamId: string;
  name: string;
  email: string | null;
  isEmailConfirmed: boolean;
  isDeleted: boolean;
  isRestricted: boolean;
  isUltraRestricted: boolean;
  /** Of another company, in a shared channel. */
  isStranger: boolean;
  isBot: boolean;
};

export type SlackChannel = {
  id: string;
  teamId: string;
  name: string;
  kind: "public" | "private" | "im";
  members: Set<string>;
  isArchived: boolean;
};

export type SlackMessage = {
  channel: string;
  ts: string;
  text: string;
  blocks: Json[];
  appId: string;
  /** Set for a message that only this person sees. */
  onlyFor: string | null;
  isDeleted: boolean;
  /** Each state it has had, the newest last. */
  versions: { text: string; blocks: Json[] }[];
  unfurlsLinks: boolean;
  unfurlsMedia: boolean;
  /** How its text is read. */
  isMarkup: boolean;
  linksUrls: boolean;
};

export type SlackView = {
  id: string;
  userId: string;
  appId: string;
  hash: string;
  view: Json;
  isOpen: boolean;
};

type Token = { app: SlackApp; kind: "bot" | "app"; refusal: string | null };
type Trigger = { userId: string; appId: string; bornAtMs: number; isUsed: boolean };

export class SlackState {
  readonly apps = new Map<string, SlackApp>();
  readonly users = new Map<string, SlackUser>();
  readonly channels = new Map<string, SlackChannel>();
  readonly messages: SlackMessage[] = [];
  readonly views = new Map<string, SlackView>();
  readonly tokens = new Map<string, Token>();
  readonly triggers = new Map<string, Trigger>();
  readonly responseUrls = new Map<
    string,
    { message: SlackMessage; userId: string; uses: number }
  >();
  #count = 0;

  /** Unique, and with the letter that Slack's ids begin with. */
  newId(letter: string): string {
    this.#count += 1;
    return `${letter}${String(this.#count).padStart(8, "0")}FK`;
  }

  newTs(): string {
    this.#count += 1;
    return `${Math.floor(Date.now() / 1000)}.${String(this.#count).padStart(6, "0")}`;
  }

  newTrigger(userId: string, appId: string): string {
    const id = `${this.newId("")}.trigger`;
    this.triggers.set(id, { userId, appId, bornAtMs: performance.now(), isUsed: false });
    return id;
  }

  findMessage(channel: string, ts: string): SlackMessage | null {
    return (
      this.messages.find(
        (each) =>
          each.channel === channel && each.ts === ts && !each.isDeleted && each.onlyFor === null,
      ) ?? null
    );
  }

  directChannel(app: SlackApp, userId: string): SlackChannel {
    for (const channel of this.channels.values()) {
      const { kind, members } = channel;
      if (kind === "im" && members.has(userId) && members.has(app.botUserId)) return channel;
    }
    const channel: SlackChannel = {
      id: this.newId("D"),
      teamId: app.teamId,
      name: "",
      kind: "im",
      members: new Set([userId, app.botUserId]),
      isArchived: false,
    };
    this.channels.set(channel.id, channel);
    return channel;
  }
}

/** A fault that a test asks for, at the next calls of a method. */
export type PlannedFault = {
  error?: string;
  /** Instead of what Slack would say. */
  answer?: Json;
  status?: number;
  retryAfterSeconds?: number;
  /** `before` breaks off without doing anything, `after` does everything and loses the answer. */
  breaks?: "before" | "after";
  times?: number;
  /** The answer waits until it is resolved. */
  until?: Promise<void>;
};
