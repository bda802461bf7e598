// Socket Mode: hands out addresses, greets, delivers envelopes and waits for their acknowledgement.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Json } from "./slack-state.ts";
import { acceptWebSocket, type ServerWebSocket } from "./web-socket-server.ts";

const pingEveryMs = 5_000;
const socketsPerAppMax = 10;

export type Envelope = { type: string; payload: Json; accepts_response_payload: boolean };
/** What came back, or null when nothing did in time. */
export type Acknowledgement = { payload: Json } | null;

type Awaited = { envelopeId: string; acknowledge: (answer: Acknowledgement) => void };

export class Sockets {
  readonly #tickets = new Map<string, string>();
  readonly #open = new Map<ServerWebSocket, string>();
  readonly #awaited = new Map<string, Awaited>();
  readonly #timer: NodeJS.Timeout;
  /** Acknowledgements of envelopes that nobody waits for any more. */
  readonly late: string[] = [];
  /** Slack doesn't promise to send an envelope again that was under way when its socket was cut. */
  sendsAgain = true;
  /** How many were ever opened. */
  opened = 0;
  /** Envelopes that found no socket, and go to the next one. */
  readonly #waiting = new Map<() => void, string>();
  #turn = 0;

  constructor() {
    this.#timer = setInterval(() => {
      for (const socket of this.#open.keys()) socket.ping();
    }, pingEveryMs);
    this.#timer.unref();
  }

  /** The address serves one connection. */
  newTicket(appId: string): string {
    const ticket = randomUUID();
    this.#tickets.set(ticket, appId);
    return ticket;
  }

  accept(request: IncomingMessage, duplex: Duplex): void {
    const ticket = new URL(request.url ?? "/", "http://fake").searchParams.get("ticket") ?? "";
    const appId = this.#tickets.get(ticket);
    if (appId === undefined || this.countOf(appId) >= socketsPerAppMax) {
      duplex.end("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n");
      return;
    }
    this.#tickets.delete(ticket);
    const socket = acceptWebSocket(request, duplex);
    if (socket === null) return;
    this.#open.set(socket, appId);
    this.opened += 1;
    socket.on("close", () => this.#open.delete(socket));
    socket.on("message", (text) => this.#hear(text));
    const debug_info = { host: "fake-slack", build_number: 1, approximate_connection_time: 18_060 };
    const num_connections = this.countOf(appId);
    socket.send(
      JSON.stringify({
        type: "hello",
        num_connections,
        debug_info,
        connection_info: { app_id: appId },
      }),
    );
    socket.ping();
    for (const [send, id] of [...this.#waiting]) if (id === appId) send();
  }

  countOf(appId: string): number {
    return this.#of(appId).length;
  }

  /** Sends it to one of the app's sockets, in turn. If that one closes first, it goes to another. */
  async deliver(appId: string, envelope: Envelope, ackMs: number): Promise<Acknowledgement> {
    const envelopeId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Acknowledgement>();
    const text = JSON.stringify({ envelope_id: envelopeId, ...envelope });
    this.#awaited.set(envelopeId, { envelopeId, acknowledge: resolve });
    const tried = new Set<ServerWebSocket>();
    const send = () => {
      const sockets = this.#of(appId).filter((each) => !tried.has(each));
      const socket = sockets[this.#turn++ % Math.max(1, sockets.length)];
      this.#waiting.delete(send);
      if (socket === undefined) {
        this.#waiting.set(send, appId);
        return;
      }
      tried.add(socket);
      socket.once("close", () => {
        if (!this.#awaited.has(envelopeId)) return;
        if (this.sendsAgain) send();
        else resolve(null);
      });
      socket.send(text);
    };
    send();
    const timer = setTimeout(() => resolve(null), ackMs);
    const answer = await promise;
    clearTimeout(timer);
    this.#awaited.delete(envelopeId);
    this.#waiting.delete(send);
    return answer;
  }

  /** Tells the app's sockets to go, as Slack does every few hours, and closes those that don't. */
  disconnect(appId: string, reason: "warning" | "refresh_requested" | "link_disabled"): void {
    for (const socket of this.#of(appId)) {
      socket.send(
        JSON.stringify({ type: "disconnect", reason, debug_info: { host: "fake-slack" } }),
      );
    }
  }

  /** Anything at all, as Slack never sends it. */
  sendRaw(appId: string, text: string): void {
    for (const socket of this.#of(appId)) socket.send(text);
  }

  cut(appId: string): void {
    for (const socket of this.#of(appId)) socket.cut();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const socket of this.#open.keys()) socket.cut();
  }

  #of(appId: string): ServerWebSocket[] {
    return [...this.#open]
      .filter(([socket, id]) => id === appId && socket.isOpen)
      .map(([socket]) => socket);
  }

  #hear(text: string): void {
    const { envelope_id: id, payload = {} } = JSON.parse(text);
    const awaited = this.#awaited.get(id);
    if (awaited === undefined) this.late.push(id);
    else awaited.acknowledge({ payload });
  }
}
