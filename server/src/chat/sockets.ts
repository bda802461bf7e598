// Keeps one socket open for each app-level token that some workspace has connected, and none for others. Connections are
// looked at every few seconds: somebody may connect Slack while the service runs, on another node.

import { hash } from "node:crypto";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { noteSlackBroken } from "../operations/channels/note-slack-broken.ts";
import { openAppToken } from "../operations/channels/slack-tokens.ts";
import type { SlackConnection } from "../storage/channels/slack-connections.ts";
import * as slackConnections from "../storage/channels/slack-connections.ts";
import type { Interactions } from "./interactions.ts";
import { SlackSocket } from "./socket.ts";

export type SlackSocketsOptions = {
  db: Database;
  keyring: Keyring;
  slackApiUrl: string;
  interactions: Interactions;
  /** How often connections are looked at. */
  lookEveryMs?: number | undefined;
  log: Logger;
};

const lookEveryMsDefault = 3_000;

type Kept = { socket: SlackSocket; connections: readonly SlackConnection[] };

export class SlackSockets {
  readonly #options: SlackSocketsOptions;
  /** By the digest of the token. */
  readonly #kept = new Map<string, Kept>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: SlackSocketsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#look();
  }

  /** How many are open just now. */
  get openCount(): number {
    return [...this.#kept.values()].filter(({ socket }) => socket.isOpen).length;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all([...this.#kept.values()].map(({ socket }) => socket.stop()));
    await this.#options.interactions.ended();
  }

  #look(): void {
    const { lookEveryMs = lookEveryMsDefault } = this.#options;
    this.#looking = this.#adjust()
      .catch((error: unknown) => {
        // The worker tells of an unreachable database; sockets that are open stay so.
        this.#options.log.debug({ err: error }, "the connections to Slack could not be looked at");
      })
      .finally(() => {
        if (!this.#isStopped) this.#timer = setTimeout(() => this.#look(), lookEveryMs);
      });
  }

  async #adjust(): Promise<void> {
    const { db, keyring } = this.#options;
    const all = await slackConnections.list(db, { mode: "socket" });
    if (this.#isStopped) return;
    const wanted = new Map<string, { token: string; connections: SlackConnection[] }>();
    for (const connection of all.filter(({ brokenAt }) => brokenAt === null)) {
      const token = openAppToken(keyring, connection);
      if (token === null) continue;
      const name = hash("sha256", token);
      const { connections = [] } = wanted.get(name) ?? {};
      wanted.set(name, { token, connections: [...connections, connection] });
    }
    for (const [name, { socket }] of this.#kept) {
      if (wanted.has(name)) continue;
      this.#kept.delete(name);
      void socket.stop();
    }
    for (const [name, { token, connections }] of wanted) {
      const socket = this.#kept.get(name)?.socket ?? this.#open(name, token);
      this.#kept.set(name, { socket, connections });
    }
  }

  #open(name: string, appToken: string): SlackSocket {
    const { slackApiUrl, interactions, log } = this.#options;
    return new SlackSocket({
      appToken,
      slackApiUrl,
      log,
      onInteraction: (payload) => {
        const { connections = [] } = this.#kept.get(name) ?? {};
        const workspaceIds = connections.map(({ workspaceId }) => workspaceId);
        return interactions.handle(payload, { workspaceIds });
      },
      onRefused: (error) => this.#noteBroken(name, error),
    });
  }

  /** Buttons would lead nowhere, so people are asked by mail again. */
  #noteBroken(name: string, error: string): void {
    const { db, log } = this.#options;
    const { connections = [] } = this.#kept.get(name) ?? {};
    for (const connection of connections) {
      noteSlackBroken(db, connection, error).catch((fault: unknown) =>
        log.warn({ err: fault }, "a broken connection to Slack could not be noted"),
      );
    }
  }
}
